"""Anthropic's Messages API on the wire: the request, with OpenAI's options in its words, and an answer that was not streamed."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from vespe.adapters import anthropic
from vespe.agents.providers import requests
from vespe.agents.providers.base import Answer, Tools
from vespe.models import JsonObject

MAX_TOKENS: Final = 8192
"""What Anthropic, which wants a limit, is told where the caller names none."""
_CHOICES: Final = {"auto": "auto", "none": "none", "required": "any"}


def payload(
    model: str, messages: Iterable[JsonObject], tools: Tools | None, *, options: Mapping[str, object] | None, stream: bool
) -> JsonObject:
    """Give the request. Options are Anthropic's, or OpenAI's where Anthropic has another word for the same.

    Raises InvalidDocument for a conversation that Anthropic's rules forbid.
    """
    translated = anthropic.from_openai_messages(messages, settle_system=True)
    made: JsonObject = {"model": model, "max_tokens": MAX_TOKENS, "messages": translated["messages"]}
    if translated["system"]:
        made["system"] = translated["system"]
    if defined := requests.definitions(tools, anthropic.AnthropicShape()):
        made["tools"] = defined
    if stream:
        made["stream"] = True
    return requests.with_options(made, _own_words(requests.checked_options(options)))


def answer(document: JsonObject) -> Answer:
    """Read a whole answer."""
    stop = anthropic.to_finish_reason(document.get("stop_reason"))
    spoken = anthropic.to_openai_messages([{"role": "assistant", "content": document.get("content") or []}])
    message = spoken[0] if spoken else {"role": "assistant", "content": None}
    return Answer(message=message, finish_reason=stop["finish_reason"], usage=anthropic.from_anthropic_usage(document.get("usage")))


def _own_words(options: JsonObject) -> JsonObject:
    """Give the options with Anthropic's names: `stop`, `max_completion_tokens`, `tool_choice`, `parallel_tool_calls`, `user`."""
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
