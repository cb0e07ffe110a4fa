"""Inner messages as they go over the wire of OpenAI's chat completions."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import Calls, calls_of, custom_text_of, function_of, is_custom, text_id
from vespe.adapters.content_parts import readable_parts
from vespe.adapters.messages import (
    BLOCKS,
    copied,
    is_empty,
    kind,
    parts_of,
    quote,
    refuse,
    said,
    told,
)
from vespe.adapters.translated import translated
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

_MESSAGE_KEYS: Final = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "refusal", "audio", "function_call"),
    "tool": ("role", "content", "tool_call_id"),
    "function": ("role", "content", "name"),
}
_PART_KEYS: Final = (
    "type",
    "text",
    "refusal",
    "image_url",
    "input_audio",
    "file",
    "prompt_cache_breakpoint",
)
_RESULTS: Final = ("tool", "function")
_TEXTS: Final = ("name", "refusal")
"""Fields of a message that are texts where they are there."""


def to_wire(messages: Iterable[JsonObject], *, keep: Collection[str] = ()) -> list[JsonObject]:
    """Return inner messages as OpenAI takes them: without the fields that only Vespe, or another
    API, knows.

    Fields in `keep` stay, for a compatible server that wants them back (`reasoning_content`,
    `cache_control`). What is no text in a tool message, which OpenAI does not take there, follows
    in a user message of its own, behind the last of the results, under a text that names the call.
    The text of a result with `is_error` begins with the line `[tool error]`. What an assistant says
    right behind its calls joins their message. Of blocks that only Anthropic knows the text goes,
    where they hold some; a message that says nothing else is left out. Ids that are missing or
    repeat are mended as for Anthropic, arguments that are not a string become their JSON text.
    Raises InvalidDocument, naming the message's index, for what OpenAI's format cannot say.
    """
    kept = frozenset(keep)
    return translated(messages, ("openai", kept), lambda: _Wire(kept)).messages()


class _Wire:
    """A conversation on its way out; see `to_wire`."""

    def __init__(self, keep: frozenset[str]) -> None:
        self._keep = keep
        self._made: list[JsonObject] = []
        self._moved: list[JsonObject] = []
        self._calls: Calls[None] = Calls()

    def add(self, message: JsonObject, index: int) -> None:
        role, made = message.get("role"), self._made
        if self._moved and role != "tool":
            made.append({"role": "user", "content": self._moved})
            self._moved = []
        if role == "assistant" and (not made or made[-1]["role"] != "assistant"):
            self._calls.begin_turn()
        sent = _sent(message, self._calls, index=index, keep=self._keep)
        if _says_nothing(sent):
            return
        if role == "tool" and isinstance(sent["content"], list):
            self._moved += _moved(sent)
        if role == "assistant" and made and made[-1].get("tool_calls"):
            sent = _joined(made.pop(), sent, index)
        made.append(sent)

    def messages(self) -> list[JsonObject]:
        return (
            [*self._made, {"role": "user", "content": list(self._moved)}]
            if self._moved
            else list(self._made)
        )


def _sent(
    message: JsonObject, calls: Calls[None], *, index: int, keep: Collection[str]
) -> JsonObject:
    role = message.get("role")
    if not isinstance(role, str) or role not in _MESSAGE_KEYS:
        refuse(
            index,
            f"has the role {quote(role)}; there are {', '.join(_MESSAGE_KEYS)}",
            pointer="/role",
        )
    keys = {*_MESSAGE_KEYS[role], *keep} - {"content"}
    sent = {key: copied(value, index) for key, value in message.items() if key in keys}
    for key in _TEXTS:
        if not isinstance(sent.get(key), str | None):
            refuse(index, f"`{key}` must be a string, not {kind(sent[key])}", pointer=f"/{key}")
    if "content" in message or role in _RESULTS or isinstance(message.get(BLOCKS), list):
        sent["content"] = _content(
            told(message, index) if role in _RESULTS else message, index, keep=keep
        )
    if role == "tool":
        if message.get(tool_errors.IS_ERROR) is True and tool_errors.IS_ERROR not in keep:
            sent["content"] = tool_errors.mark_content(sent["content"])
        sent["tool_call_id"] = _answered(message, calls, index)
    if role == "function" and not sent.get("name"):
        refuse(index, "a function's result needs the function's `name`", pointer="/name")
    if role == "assistant":
        _call(sent, message, calls, index=index, keep=keep)
    return _answerable(sent)


def _content(message: JsonObject, index: int, *, keep: Collection[str]) -> JsonValue:
    """Return the parts with the keys that OpenAI knows; a text stays one where nothing else came to
    it, and no part is no content.
    """
    given = message.get("content")
    parts = [part for part in readable_parts(message, index) if not is_empty(part)]
    if isinstance(given, str) and len(parts) <= 1 and (not parts or parts[0].get("text") == given):
        return said(given)
    for part in parts:
        if not isinstance(part.get("type"), str):
            refuse(
                index,
                f"a part of `content` needs a `type`, a string, not {kind(part.get('type'))}",
                pointer="/content",
            )
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            refuse(
                index,
                f"a text part must hold a string, not {kind(part.get('text'))}",
                pointer="/content",
            )
    known = {*_PART_KEYS, *keep}
    copies: list[JsonObject] = [copied(part, index) for part in parts]
    shown: JsonValue = [
        {k: v for k, v in part.items() if k in known or str(part.get("type")) not in known}
        for part in copies
    ]
    return shown or ("" if message.get("role") in _RESULTS else None)


def _answered(message: JsonObject, calls: Calls[None], index: int) -> str:
    given = message.get("tool_call_id")
    waiting = calls.answer(given, message.get("name"))
    identifier = text_id(given) if waiting is None else waiting.id
    if not identifier:
        refuse(
            index,
            "a result has no `tool_call_id`, and no call before it is open",
            pointer="/tool_call_id",
        )
    return identifier


def _call(
    sent: JsonObject, message: JsonObject, calls: Calls[None], *, index: int, keep: Collection[str]
) -> None:
    """Put the calls of an assistant's message into what is sent of it."""
    given = calls_of(message, index)
    if isinstance(old := sent.get("function_call"), dict) and old.get("name"):
        sent["function_call"] = _sent_function(old, index)
    if not message.get("tool_calls"):
        return
    sent["tool_calls"] = []
    for call in given:
        function = function_of(call, index)
        made: JsonObject = {key: copied(call[key], index) for key in keep if key in call}
        made["id"] = calls.add(call.get("id"), function["name"], None).id
        if is_custom(call):
            custom = {"name": said(function["name"]), "input": custom_text_of(function, index)}
            sent["tool_calls"].append({**made, "type": "custom", "custom": custom})
        else:
            sent["tool_calls"].append(
                {**made, "type": "function", "function": _sent_function(function, index)}
            )


def _sent_function(function: JsonObject, index: int) -> JsonObject:
    """Return the name and the arguments, as they came where they are a text, else as their JSON
    text; null is `{}`.
    """
    given = function.get("arguments")
    try:
        text = (
            said(given)
            if isinstance(given, str)
            else arguments.to_text({} if given is None else given)
        )
    except InvalidDocument as error:
        refuse(index, f"a call's arguments {error.reason}", pointer="/tool_calls")
    return {"name": copied(function.get("name"), index), "arguments": text}


def _answerable(sent: JsonObject) -> JsonObject:
    """Take off what an answer of OpenAI's holds and a request may not: a null name, a call of
    nothing, all of an audio but its id.
    """
    if sent.get("name", "") is None:
        del sent["name"]
    if isinstance(call := sent.get("function_call"), dict) and not call.get("name"):
        del sent["function_call"]
    if (
        isinstance(audio := sent.pop("audio", None), dict)
        and isinstance(audio.get("id"), str)
        and audio["id"]
    ):
        sent["audio"] = {"id": audio["id"]}
    return sent


def _says_nothing(sent: JsonObject) -> bool:
    """Whether a message holds neither content nor anything else to say, so that OpenAI would refuse
    it.
    """
    return sent.get("content") is None and not any(
        value for key, value in sent.items() if key not in ("role", "name")
    )


def _joined(first: JsonObject, second: JsonObject, index: int) -> JsonObject:
    """Return two assistant messages as one: OpenAI wants the results of calls directly behind
    them.
    """
    calls = [*first["tool_calls"], *second.get("tool_calls", ())]
    contents = [message.get("content") for message in (first, second) if message.get("content")]
    parts = [part for content in contents for part in parts_of(content, index)]
    return {
        **second,
        **first,
        "content": contents[0] if len(contents) == 1 else parts or None,
        "tool_calls": calls,
    }


def _moved(sent: JsonObject) -> Iterator[JsonObject]:
    """Take what is no text out of a tool message, and give it behind a text that says whose it
    is.
    """
    others = [part for part in sent["content"] if part.get("type") != "text"]
    if others:
        sent["content"] = [part for part in sent["content"] if part.get("type") == "text"] or ""
        yield {"type": "text", "text": f"[from the result of {sent.get('tool_call_id')}]"}
        yield from others
