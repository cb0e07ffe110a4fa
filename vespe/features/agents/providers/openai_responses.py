"""Models behind OpenAI's Responses API: its own, and any endpoint of Open Responses."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from vespe.adapters import openai_responses as adapter_responses
from vespe.adapters.streams.openai_responses import ResponsesStreamingProcessor
from vespe.errors import UsageError
from vespe.features.agents.providers import requests
from vespe.features.agents.providers.base import ProviderClass, Tools
from vespe.features.agents.providers.endpoint_account import Account
from vespe.features.agents.providers.endpoint_provider import EndpointProvider
from vespe.models import JsonObject

INCLUDED: Final = ["reasoning.encrypted_content"]
"""What an answer is to hold besides: without it reasoning could not be given back to a vendor that
keeps nothing.
"""
_MOST: Final = ("max_completion_tokens", "max_tokens")


def payload(
    model: str,
    messages: Iterable[JsonObject],
    tools: Tools | None,
    *,
    options: Mapping[str, object] | None,
    stream: bool,
) -> JsonObject:
    """Return the request. It contains the whole conversation and asks the vendor not to store it
    (`store`). Options can have the API's names, or those of chat completions for options that exist
    in both.

    Raises InvalidDocument for a conversation that the API refuses, and UsageError for `stop`, which
    the API does not support.
    """
    made: JsonObject = {"model": model, **adapter_responses.from_openai_messages(messages)}
    made |= {"store": False, "include": list(INCLUDED)}
    own = _own_words(requests.checked_options(options))
    return requests.finished(
        made, tools, adapter_responses.OpenAIResponsesShape(), stream=stream, options=own
    )


def _own_words(options: JsonObject) -> JsonObject:
    """Return the options with the API's names: the most tokens, the form and the length of the
    answer, the effort, the choice of a tool.
    """
    made = dict(options)
    if made.pop("stop", None) is not None:
        raise UsageError(
            "OpenAI's Responses API does not support `stop`",
            hint="leave out the option, or use a chat completions API",
        )
    for name in _MOST:
        if (most := made.pop(name, None)) is not None:
            made.setdefault("max_output_tokens", most)
    if (effort := made.pop("reasoning_effort", None)) is not None:
        made["reasoning"] = {"effort": effort, **_object(made.get("reasoning"))}
    text = _format(made.pop("response_format", None))
    if (verbosity := made.pop("verbosity", None)) is not None:
        text["verbosity"] = verbosity
    if text:
        made["text"] = {**text, **_object(made.get("text"))}
    choice = made.get("tool_choice")
    if isinstance(choice, dict) and isinstance(choice.get("function"), dict):
        made["tool_choice"] = {"type": "function", "name": choice["function"].get("name")}
    return made


def _format(given: Any) -> JsonObject:
    """Return the `text` of chat's `response_format`."""
    if not isinstance(given, dict):
        return {}
    schema = given.get("json_schema")
    return {"format": {"type": given.get("type"), **(schema if isinstance(schema, dict) else {})}}


def _object(given: Any) -> JsonObject:
    return given if isinstance(given, dict) else {}


class OpenAIResponsesProvider(EndpointProvider):
    """A provider for OpenAI's Responses API and for Open Responses (llama.cpp, vLLM, Ollama,
    OpenRouter, …).

    Each request contains the whole conversation and asks the vendor not to store it. The model's
    reasoning arrives encrypted and is sent back unchanged. The default key is in OPENAI_API_KEY.
    `/v1` is added to a `base_url` without a path.

    ```python
    from vespe import OpenAIResponsesProvider

    # a server of your own
    model = OpenAIResponsesProvider("qwen3", base_url="http://127.0.0.1:8000", api_key="any")
    assert model.api == "openai-responses"
    ```
    """

    name = api = "openai-responses"
    account = Account(
        provider="openai-responses",
        default_url="https://api.openai.com/v1",
        variable="OPENAI_API_KEY",
    )
    processor = ResponsesStreamingProcessor
    request = staticmethod(payload)
    path = "/responses"

    def own_headers(self) -> Mapping[str, str]:
        """Return the header of the organization."""
        return {"openai-organization": self._account.settings.organization}


OPENAI_RESPONSES: Final[ProviderClass] = OpenAIResponsesProvider
