"""Models behind Anthropic's Messages API."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from vespe.adapters import anthropic as adapter_anthropic
from vespe.adapters.streams.anthropic import ClaudeStreamingProcessor
from vespe.features.agents.providers import requests
from vespe.features.agents.providers.base import ModelAnswer, ProviderClass, Tools, Traits
from vespe.features.agents.providers.endpoint_account import Account
from vespe.features.agents.providers.endpoint_provider import EndpointProvider
from vespe.http.addresses import Url
from vespe.models import JsonObject

VERSION: Final = "2023-06-01"
"""The version of the API, which each request names."""


def _messages(base: Url) -> Url:
    path, mark, query = base.target.partition("?")
    path = path.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return replace(base, target=f"{path}/v1/messages{mark}{query}")


MAX_TOKENS: Final = 8192
"""What Anthropic, which wants a limit, is told where the caller names none."""
_CHOICES: Final = {"auto": "auto", "none": "none", "required": "any"}


def payload(
    model: str,
    messages: Iterable[JsonObject],
    tools: Tools | None,
    *,
    options: Mapping[str, object] | None,
    stream: bool,
) -> JsonObject:
    """Return the request. Options can have Anthropic's names, or OpenAI's for options that exist in
    both APIs.

    Raises InvalidDocument for a conversation that Anthropic does not allow.
    """
    translated = adapter_anthropic.from_openai_messages(messages, settle_system=True)
    made: JsonObject = {
        "model": model,
        "max_tokens": MAX_TOKENS,
        "messages": translated["messages"],
    }
    if translated["system"]:
        made["system"] = translated["system"]
    own = _own_words(requests.checked_options(options))
    return requests.finished(
        made, tools, adapter_anthropic.AnthropicShape(), stream=stream, options=own
    )


def _own_words(options: JsonObject) -> JsonObject:
    """Return the options with Anthropic's names: `stop`, `max_completion_tokens`, `tool_choice`,
    `parallel_tool_calls`, `user`.
    """
    made = dict(options)
    if (most := made.pop("max_completion_tokens", None)) is not None:
        made.setdefault("max_tokens", most)
    if (stop := made.pop("stop", None)) is not None:
        made["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if (user := made.pop("user", None)) is not None:
        made["metadata"] = {"user_id": user}
    choice = _choice(made.get("tool_choice"))
    if made.pop("parallel_tool_calls", None) is False:
        choice = {"type": "auto"} | (choice or {}) | {"disable_parallel_tool_use": True}
    return made | ({"tool_choice": choice} if choice else {})


def _choice(given: Any) -> JsonObject | None:
    if isinstance(given, str):
        return {"type": _CHOICES.get(given, given)}
    if isinstance(given, dict) and isinstance(given.get("function"), dict):
        return {"type": "tool", "name": given["function"].get("name")}
    return given if isinstance(given, dict) else None


class AnthropicProvider(EndpointProvider):
    """A provider for Anthropic's Messages API and compatible endpoints.

    The default key is in ANTHROPIC_API_KEY. `base_url` may end with `/v1` or not.

    ```python
    from vespe import AnthropicProvider

    model = AnthropicProvider("claude-sonnet-4-5", api_key="a key, where the environment has none")
    assert model.api == "anthropic"
    ```
    """

    name = api = "anthropic"
    account = Account(
        provider="anthropic", default_url="https://api.anthropic.com", variable="ANTHROPIC_API_KEY"
    )
    traits = Traits(no_calls={"tool_choice": {"type": "none"}})
    bearer = False
    processor = ClaudeStreamingProcessor
    request = staticmethod(payload)
    request_url = staticmethod(_messages)

    def answer(self, document: JsonObject) -> ModelAnswer:
        """Read a body that was not streamed; raises InvalidDocument for what is not a message."""
        spoken = adapter_anthropic.to_openai_messages(
            [{"role": "assistant", "content": document.get("content") or []}]
        )
        stop = adapter_anthropic.to_finish_reason(document.get("stop_reason"))
        return ModelAnswer(
            message=spoken[0] if spoken else {"role": "assistant", "content": None},
            finish_reason=stop["finish_reason"],
            usage=adapter_anthropic.from_anthropic_usage(document.get("usage")),
        )

    def own_headers(self) -> Mapping[str, str]:
        """Return the header of the API's version."""
        return {"anthropic-version": VERSION}


ANTHROPIC: Final[ProviderClass] = AnthropicProvider
