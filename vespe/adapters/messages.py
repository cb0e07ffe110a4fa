"""The inner message: OpenAI's chat format and the documented fields that ride beside OpenAI's own
(docs/adapters.md).
"""

import math
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from vespe.adapters.tool_errors import IS_ERROR
from vespe.documents import nesting, strict_json
from vespe.errors import InvalidDocument
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue

BLOCKS: Final = "anthropic_blocks"
"""On a message: the order of Anthropic's blocks, each `PART`, `CALL`, or a block that OpenAI cannot
say, whole.
"""
PART: Final = "part"
CALL: Final = "tool_call"
REST: Final = "anthropic"
"""On a part, a call or a tool message: the other keys of the Anthropic block that it stands for."""
ITEMS: Final = "openai_items"
"""On a message: the items of OpenAI's Responses that it came as, in order, each without what the
message itself says; one that chat cannot say, whole.
"""
STEPS: Final = "gemini_steps"
"""On a message: the steps of Gemini's Interactions that it came as, as `ITEMS`."""
CACHE: Final = "cache_control"
MCP_BLOCKS: Final = "mcp_blocks"
STRUCTURED: Final = "structured_content"
"""On a tool message: MCP's order of content, as `BLOCKS`, and MCP's `structuredContent`."""
REASONING: Final = "reasoning_content"
"""On an assistant message: reasoning as text, as compatible servers send it; Ollama's
`thinking`.
"""

GENERATED: Final = pattern(r"vespe_call_[0-9]+")
"""Ids that Vespe gave to calls that had none; Ollama, which needs none, never sees them."""
_MAX_DEPTH: Final = 200
_USUAL_DEPTH: Final = 16
_LONGEST_QUOTE: Final = 80
_MOST_NAMES: Final = 5
_QUOTING: Final = reprlib.Repr()
_QUOTING.maxlevel, _QUOTING.maxstring, _QUOTING.maxother = 3, _LONGEST_QUOTE, _LONGEST_QUOTE
_PARTS: Final = frozenset(("text", "refusal", "image_url", "file", "document_url", "input_audio"))


def generated_id(ordinal: int) -> str:
    """Return the id of the conversation's `ordinal`th call, which has none of its own."""
    return f"vespe_call_{ordinal}"


def refuse(index: int, reason: str, *, pointer: str = "") -> NoReturn:
    """Raise InvalidDocument for the message at `index`; `pointer` leads on from that message."""
    raise InvalidDocument(
        reason, path=f"messages[{index}]", pointer=pointer and f"/{index}{pointer}"
    )


def quote(value: object) -> str:
    """Return a value for a sentence: at most about 80 characters of its repr, three levels deep;
    never raises.
    """
    try:
        text = _QUOTING.repr(value)
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"


def quoted_names(names: Iterable[str]) -> str:
    """Return names for a sentence, each once and quoted: the first five, and how many more there
    are.
    """
    each = list(dict.fromkeys(names))
    more = [f"{len(each) - _MOST_NAMES} more"] if len(each) > _MOST_NAMES else []
    return ", ".join([*map(quote, each[:_MOST_NAMES]), *more])


def kind(value: object) -> str:
    """Return what a value is called in a sentence that refuses it: its type, of an SDK's object
    with what to give instead.
    """
    name = type(value).__name__
    return f"{name} (give its `model_dump()`)" if hasattr(type(value), "model_dump") else name


def object_or_none(value: JsonValue, what: str) -> JsonObject:
    """Return an object, `{}` for null, which stands in many a stream; raises InvalidDocument for
    anything else.
    """
    if value is None or isinstance(value, dict):
        return value or {}
    raise InvalidDocument(f"must be an object or null, not {type(value).__name__}", path=what)


def check_messages(messages: Iterable[JsonObject]) -> list[JsonObject]:
    """Return the messages as a list; raises InvalidDocument where it is no list, or one of them is
    no object.
    """
    if (
        isinstance(messages, (str, bytes, Mapping))
        or not isinstance(messages, Iterable)
        or hasattr(messages, "model_dump")
    ):
        raise InvalidDocument(f"must be a list of messages, not {kind(messages)}", path="messages")
    listed = list(messages)
    for index, message in enumerate(listed):
        refuse_no_object(message, index)
    return listed


def refuse_no_object(message: object, index: int) -> None:
    """Raise InvalidDocument where a message is not an object."""
    if not isinstance(message, dict):
        refuse(index, f"must be an object with a `role`, not {kind(message)}")


def copied(value: JsonValue, index: int) -> Any:
    """Return `detached` of what the message at `index` holds."""
    return said(value) if isinstance(value, str) else detached(value, f"messages[{index}]")


def detached(value: JsonValue, what: str) -> Any:
    """Return a deep copy, so that nothing that is given back is shared with what was given, with
    texts as `said` gives them.

    Raises InvalidDocument with `what` as its path for a value that is nested deeper than 200
    levels, or that JSON cannot say.
    """
    try:
        return _copy(value, what, _USUAL_DEPTH)
    except _Deeper:
        if nesting.deeper_than(value, _MAX_DEPTH):
            raise InvalidDocument(f"is nested deeper than {_MAX_DEPTH} levels", path=what) from None
        return _copy(value, what, _MAX_DEPTH + 1)


class _Deeper(Exception):
    """A value is nested deeper than most are, so its depth is checked before it is copied."""


def _copy(value: Any, what: str, levels: int) -> Any:
    """Copy a value of less than `levels` levels. ASCII strings, which most are, are taken where
    they are found: a call for each takes half the time of a copy.
    """
    if isinstance(value, str):
        return said(value)
    if not levels:
        raise _Deeper
    levels -= 1
    if isinstance(value, dict):
        made = {}
        for key, item in value.items():
            if type(key) is not str or not key.isascii():
                key = said(key) if isinstance(key, str) else key
            made[key] = item if type(item) is str and item.isascii() else _copy(item, what, levels)
        return made
    if isinstance(value, (list, tuple)):
        return [_copy(item, what, levels) for item in value]
    if (
        value is None
        or isinstance(value, int)
        or (isinstance(value, float) and math.isfinite(value))
    ):
        return value
    raise InvalidDocument(
        f"holds {value if isinstance(value, float) else kind(value)}, which JSON cannot represent",
        path=what,
    )


def rest_of(block: JsonObject, known: Iterable[str], index: int) -> JsonObject:
    """Return what a part, a call or a tool message carries for its block's other keys: the cache
    mark, and `REST` for all else.
    """
    if block.keys() <= set(known):
        return {}
    others = {key: copied(value, index) for key, value in block.items() if key not in known}
    marks: JsonObject = {key: others.pop(key) for key in (CACHE, IS_ERROR) if key in others}
    return {**marks, REST: others} if others else marks


def completed(block: JsonObject, carrier: JsonObject, index: int) -> JsonObject:
    """Return a block with its other keys: what `rest_of` put on its part, call or message, but for
    `is_error` and what the block says.
    """
    if REST not in carrier and CACHE not in carrier:
        return block
    made = {CACHE: copied(carrier[CACHE], index)} if isinstance(carrier.get(CACHE), dict) else {}
    if isinstance(others := carrier.get(REST), dict):
        made |= copied(others, index)
    return {**block, **{key: value for key, value in made.items() if key not in block}}


def said(text: str) -> str:
    """Return a text as UTF-8 can say it: a lone surrogate becomes U+FFFD."""
    return text if text.isascii() else strict_json.repair_surrogates(text)


def parts_of(content: JsonValue, index: int) -> list[JsonObject]:
    """Return a message's content as parts; a text, a single part and texts in a list become what
    they mean.
    """
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
    if not isinstance(content, (list, tuple)):
        refuse(
            index, f"`content` must be a string or a list, not {kind(content)}", pointer="/content"
        )
    return [_part(part, index, place) for place, part in enumerate(content)]


def _part(part: JsonValue, index: int, place: int) -> JsonObject:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, dict):
        refuse(
            index,
            f"a part of `content` must be an object, not {kind(part)}",
            pointer=f"/content/{place}",
        )
    if "type" not in part and isinstance(part.get("text"), str):
        return {"type": "text", **part}
    return part


def told(message: JsonObject, index: int) -> JsonObject:
    """Return a tool message whose content is text or parts: any other value, a tool's JSON, becomes
    its compact JSON text.
    """
    content = message.get("content")
    if (
        content is None
        or (isinstance(content, (list, tuple)) and all(map(_is_part, content)))
        or _is_part(content)
    ):
        return message
    try:
        return {**message, "content": strict_json.compact_json(content)}
    except (TypeError, ValueError, RecursionError) as error:
        refuse(index, f"a result cannot be represented in JSON: {error}", pointer="/content")


def _is_part(value: JsonValue) -> bool:
    return isinstance(value, str) or (
        isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] in _PARTS
    )


def is_empty(part: JsonObject) -> bool:
    """Say whether a part or block is a text without text."""
    return part.get("type") == "text" and part.get("text") in ("", None)


def plain_text(parts: list[JsonObject]) -> str | None:
    """Return the text of a single text part that carries nothing else, else None."""
    if (
        len(parts) == 1
        and parts[0].keys() == {"type", "text"}
        and parts[0]["type"] == "text"
        and isinstance(parts[0]["text"], str)
    ):
        text: str = parts[0]["text"]
        return text
    return None
