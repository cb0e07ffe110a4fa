"""Models behind Gemini's Interactions."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from vespe.adapters import gemini_interactions as adapter_interactions
from vespe.adapters.streams.gemini_interactions import InteractionsStreamingProcessor
from vespe.features.agents.providers import requests
from vespe.features.agents.providers.base import ProviderClass, Tools
from vespe.features.agents.providers.endpoint_account import Account
from vespe.features.agents.providers.endpoint_provider import EndpointProvider
from vespe.models import JsonObject

_GENERATION: Final = {
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop_sequences",
    "stop_sequences": "stop_sequences",
    "tool_choice": "tool_choice",
    "reasoning_effort": "thinking_level",
    "thinking_level": "thinking_level",
    "thinking_summaries": "thinking_summaries",
}
"""By an option's name, what it is called within the request's `generation_config`."""
_CHOICES: Final = {"required": "any"}


def payload(
    model: str,
    messages: Iterable[JsonObject],
    tools: Tools | None,
    *,
    options: Mapping[str, object] | None,
    stream: bool,
) -> JsonObject:
    """Return the request. It contains the whole conversation and asks the vendor not to store it
    (`store`). Options can have Gemini's names, of the request or of its `generation_config`, or
    OpenAI's for options that exist in both.

    Raises InvalidDocument for a conversation that the API refuses.
    """
    translated = adapter_interactions.from_openai_messages(messages)
    made: JsonObject = {"model": model, "input": translated["input"], "store": False}
    if translated["system_instruction"]:
        made["system_instruction"] = translated["system_instruction"]
    own = _own_words(requests.checked_options(options))
    return requests.finished(
        made, tools, adapter_interactions.InteractionsShape(), stream=stream, options=own
    )


def _own_words(options: JsonObject) -> JsonObject:
    """Return the options with Gemini's names, those of the generation in their own object. That
    calls may not be made beside one another is nothing that it could be told.
    """
    made = {key: value for key, value in options.items() if key != "parallel_tool_calls"}
    own: JsonObject = {
        name: made.pop(key)
        for key, name in _GENERATION.items()
        if key in options and made.get(key) is not None
    }
    if isinstance(own.get("stop_sequences"), str):
        own["stop_sequences"] = [own["stop_sequences"]]
    if "tool_choice" in own:
        own["tool_choice"] = _choice(own["tool_choice"])
    given = made.pop("generation_config", None)
    config = requests.with_options(own, given if isinstance(given, dict) else {})
    wanted = made.pop("response_format", None)
    return (
        made
        | ({"generation_config": config} if config else {})
        | ({} if wanted is None else {"response_format": _format(wanted)})
    )


def _choice(given: Any) -> Any:
    if isinstance(given, str):
        return _CHOICES.get(given, given)
    function = given.get("function") if isinstance(given, dict) else None
    if isinstance(function, dict):
        return {"allowed_tools": {"mode": "any", "tools": [function.get("name")]}}
    return given


def _format(given: Any) -> Any:
    """Return Gemini's `response_format` of OpenAI's; its own as it is."""
    kind = given.get("type") if isinstance(given, dict) else None
    if kind not in ("json_schema", "json_object"):
        return given
    schema = given.get("json_schema")
    held = schema.get("schema") if isinstance(schema, dict) else None
    made: JsonObject = {"type": "text", "mime_type": "application/json"}
    return made | ({"schema": held} if isinstance(held, dict) else {})


class GeminiProvider(EndpointProvider):
    """A provider for Gemini's Interactions API.

    Each request contains the whole conversation and asks the vendor not to store it. The model's
    thoughts are sent back unchanged, with their signatures. The default key is in GEMINI_API_KEY.
    `/v1beta` is added to a `base_url` without a path.

    ```python
    from vespe import GeminiProvider

    model = GeminiProvider("gemini-3-flash", api_key="a key, where the environment has none")
    assert model.api == "gemini"
    ```
    """

    name = api = "gemini"
    account = Account(
        provider="gemini",
        default_url="https://generativelanguage.googleapis.com/v1beta",
        variable="GEMINI_API_KEY",
    )
    bearer = False
    key_header = "x-goog-api-key"
    processor = InteractionsStreamingProcessor
    request = staticmethod(payload)
    path = "/interactions"
    version = "/v1beta"


GEMINI: Final[ProviderClass] = GeminiProvider
