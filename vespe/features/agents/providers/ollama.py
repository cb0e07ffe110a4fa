"""Models behind Ollama's chat API."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from vespe.adapters import ollama as adapter_ollama
from vespe.adapters.streams.ollama import OllamaStreamingProcessor
from vespe.errors import UsageError
from vespe.features.agents.providers import requests
from vespe.features.agents.providers.base import ProviderClass, Tools, Traits
from vespe.features.agents.providers.endpoint_account import Account
from vespe.features.agents.providers.endpoint_provider import EndpointProvider
from vespe.http.addresses import Url
from vespe.models import JsonObject


def _chat(base: Url) -> Url:
    path, mark, query = base.target.partition("?")
    path = path.rstrip("/").removesuffix("/chat").removesuffix("/api").removesuffix("/v1")
    return replace(base, target=f"{path}/api/chat{mark}{query}")


_REQUEST_KEYS: Final = (
    "format",
    "keep_alive",
    "think",
    "options",
    "logprobs",
    "top_logprobs",
    "truncate",
    "shift",
)
_RENAMED: Final = {"max_tokens": "num_predict", "max_completion_tokens": "num_predict"}


def payload(
    model: str,
    messages: Iterable[JsonObject],
    tools: Tools | None,
    *,
    options: Mapping[str, object] | None,
    stream: bool,
) -> JsonObject:
    """Return the request. Options can have Ollama's names, of the request or of the model, or
    OpenAI's for options that exist in both.

    Raises UsageError for a `tool_choice` that Ollama does not support.
    """
    given = requests.checked_options(options)
    choice = given.pop("tool_choice", "auto") or "auto"
    if choice not in ("auto", "none"):
        raise UsageError(
            f"Ollama does not support the tool_choice {choice!r}", hint='use "auto" or "none"'
        )
    made: JsonObject = {
        "model": model,
        "messages": adapter_ollama.from_openai_messages(messages)["messages"],
        "stream": stream,
    }
    if choice == "auto" and (defined := requests.definitions(tools, adapter_ollama.OllamaShape())):
        made["tools"] = defined
    given |= _format(given.pop("response_format", None))
    own: JsonObject = {key: given.pop(key) for key in _REQUEST_KEYS if key in given}
    model_options = {
        _RENAMED.get(key, key): value
        for key, value in given.items()
        if key != "parallel_tool_calls"
    }
    inner = requests.with_options(model_options, dict(own.pop("options", None) or {}))
    return requests.with_options(made, own) | ({"options": inner} if inner else {})


def _format(given: Any) -> JsonObject:
    """Return Ollama's `format` of OpenAI's `response_format`."""
    if not isinstance(given, dict) or given.get("type") == "text":
        return {}
    schema = given.get("json_schema")
    return {"format": schema.get("schema", "json") if isinstance(schema, dict) else "json"}


class OllamaProvider(EndpointProvider):
    """A provider for Ollama, on this machine or at `base_url`, which may end with `/api` or not.

    It needs no key. A key in OLLAMA_API_KEY, or in the variable that `api_key_env` names, is sent
    if it is set.

    ```python
    from vespe import OllamaProvider

    model = OllamaProvider("qwen3")
    assert model.api == "ollama"
    ```
    """

    name = api = "ollama"
    account = Account(
        provider="ollama",
        default_url="http://127.0.0.1:11434",
        variable="OLLAMA_API_KEY",
        key_needed=False,
        if_away="is it running? `ollama serve` starts it",
    )
    traits = Traits(always_streams=True)
    processor = OllamaStreamingProcessor
    request = staticmethod(payload)
    request_url = staticmethod(_chat)


OLLAMA: Final[ProviderClass] = OllamaProvider
