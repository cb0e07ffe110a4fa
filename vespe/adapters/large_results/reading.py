"""`read_result`: what a model reads of a result that it was shown in part.

Every answer fits the bound that results have, and says with which arguments reading goes on, so
that the answers joined are the result, byte for byte. Searching is for a text and not for a
pattern: a pattern of a model's own may take for ever.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Final

from vespe.documents import pointers, strict_json
from vespe.errors import InvalidArguments, InvalidDocument
from vespe.models import JsonObject, JsonValue, Tool

READ: Final = "read_result"
_BESIDE: Final = 256
"""What `next` and the names of the keys may take of an answer, in characters."""
_MATCH: Final = 400
"""What is shown around a match."""
_MATCHES: Final = 50

TOOL: Final = Tool(
    uid="",
    name=READ,
    description="Read more of a result that was too large to show completely. The part that you "
    "were shown names its handle, such as r7. Choose what to read with one of "
    "`pointer`, `lines`, `match` and `offset`. If there is more, `next` in the "
    "answer has the arguments that continue.",
    input_schema={
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "The handle of the result, such as r7."},
            "pointer": {
                "type": "string",
                "description": "JSON Pointer to a value in a JSON result, such as /rows/0/name.",
            },
            "lines": {
                "type": "array",
                "items": {"type": "integer", "minimum": 1},
                "minItems": 2,
                "maxItems": 2,
                "description": "The first and the last line to read, counted from 1.",
            },
            "match": {
                "type": "string",
                "minLength": 1,
                "description": "A string to look for, in lines or in the values of a JSON result; "
                "case does not matter.",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "Where to begin: the number of a character; with `pointer` to a "
                "list, of an item; with `match`, how many matches to skip.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": "How many characters, items, lines or matches to read at most.",
            },
        },
        "required": ["handle"],
        "additionalProperties": False,
    },
    annotations={"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True},
)


def read(text: str, *, is_json: bool, asked: JsonObject, most: int) -> JsonObject:
    """Return `{"text" or "value", "next"}`: a part of a result whose text is `text`, in at most
    `most` characters as compact JSON.

    `asked` are checked arguments of `read_result`; `next` are the ones that go on, or None. Raises
    InvalidArguments where the result has nothing there.
    """
    chosen = [key for key in ("pointer", "lines", "match") if asked.get(key) is not None]
    if len(chosen) > 1:
        raise InvalidArguments(f"use one of {' and '.join(chosen)}: each selects what to read")
    room = max(most - _BESIDE - len(strict_json.compact_json(asked)), 1)
    if not chosen:
        return _page(text, asked, room)
    return _READERS[chosen[0]](text, is_json, asked, room)


def _page(text: str, asked: JsonObject, room: int) -> JsonObject:
    """Return the characters from an offset on."""
    offset = asked.get("offset") or 0
    if offset > len(text):
        raise InvalidArguments(f"there is no character {offset:,}: the text has {len(text):,}")
    piece = _fitting(text[offset : offset + min(asked.get("limit") or room, room)], room)
    end = offset + len(piece)
    return {"text": piece, "next": _going_on(asked, offset=end) if end < len(text) else None}


def _at_pointer(text: str, is_json: bool, asked: JsonObject, room: int) -> JsonObject:
    pointer = asked["pointer"]
    try:
        value = pointers.resolve_pointer(value_of(text, is_json), pointer)
    except ValueError as error:
        raise InvalidArguments(str(error)) from None
    except LookupError:
        raise InvalidArguments(f"the result has nothing at {pointer!r}") from None
    if isinstance(value, str):
        return _page(value, asked, room)
    if isinstance(value, list) and all(len(_said(item)) <= room for item in value):
        return _items(value, asked, room)
    whole = _said(value)
    if not asked.get("offset") and len(whole) <= min(room, asked.get("limit") or room):
        return {"value": value, "next": None}
    return _page(whole, asked, room)


def _items(items: list[Any], asked: JsonObject, room: int) -> JsonObject:
    first = asked.get("offset") or 0
    if first and first >= len(items):
        raise InvalidArguments(f"there is no item {first:,}: the list has {len(items):,}")
    end, wanted = first, first + (asked.get("limit") or len(items))
    for item in items[first:wanted]:
        room -= len(_said(item)) + 1
        if room < 0:
            break
        end += 1
    return {
        "value": items[first:end],
        "next": _going_on(asked, offset=end) if end < len(items) else None,
    }


def _of_lines(text: str, is_json: bool, asked: JsonObject, room: int) -> JsonObject:
    first, last = asked["lines"]
    every = _lines(text)
    if first > last:
        raise InvalidArguments(f"the first line, {first}, comes after the last, {last}")
    if first > len(every):
        raise InvalidArguments(f"there is no line {first:,}: the result has {len(every):,}")
    last = min(last, len(every))
    end = min(last, first - 1 + (asked.get("limit") or last))
    offset = asked.get("offset") or 0
    taken: list[str] = []
    for number in range(first, end + 1):
        line = every[number - 1][offset if number == first else 0 :]
        size = len(_said(line)) - 2
        if size > room:
            if not taken:
                piece = _fitting(line, room)
                going_on = {"lines": [number, last], "offset": offset + len(piece)}
                return {"text": piece, "next": _going_on(asked, **going_on)}
            end = number - 1
            break
        taken.append(line)
        room -= size
    going_on = {"lines": [end + 1, last], "offset": None}
    return {"text": "".join(taken), "next": _going_on(asked, **going_on) if end < last else None}


def _matches(text: str, is_json: bool, asked: JsonObject, room: int) -> JsonObject:
    needle = asked["match"].casefold()
    found = _values_with(needle, value_of(text, True)) if is_json else _lines_with(needle, text)
    first = asked.get("offset") or 0
    told: list[JsonObject] = []
    for one in itertools.islice(found, first, None):
        room -= len(_said(one)) + 1
        if room < 0 or len(told) >= (asked.get("limit") or _MATCHES):
            return {"value": told, "next": _going_on(asked, offset=first + len(told))}
        told.append(one)
    return {"value": told, "next": None}


_READERS: Final[dict[str, Callable[[str, bool, JsonObject, int], JsonObject]]] = {
    "pointer": _at_pointer,
    "lines": _of_lines,
    "match": _matches,
}


def value_of(text: str, is_json: bool) -> JsonValue:
    """Return what the text of a result says as JSON; raises InvalidArguments where it is none."""
    try:
        return strict_json.parse_json(text, limit=4 * len(text) + 1)
    except InvalidDocument:
        if is_json:
            raise
        raise InvalidArguments(
            "the result is not JSON, so `pointer` cannot be used: use `lines`, `match` or `offset`"
        ) from None


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; only a line feed ends one, so that they are what
    editors count.
    """
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


def _lines_with(needle: str, text: str) -> Iterator[JsonObject]:
    for number, line in enumerate(_lines(text), start=1):
        if (at := line.casefold().find(needle)) >= 0:
            yield {"line": number, "text": _around(line.removesuffix("\n"), at)}


def _values_with(needle: str, root: JsonValue) -> Iterator[JsonObject]:
    """Yield the scalars whose text holds the needle, and the members whose key does, in order."""
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        pointer, value = waiting.pop()
        key = pointer.rpartition("/")[2]
        if isinstance(value, (dict, list)):
            if needle in key.casefold() and isinstance(value, dict):
                yield {"pointer": pointer, "keys": len(value)}
            elif needle in key.casefold() and not key.isdecimal():
                yield {"pointer": pointer, "items": len(value)}
            steps = value.items() if isinstance(value, dict) else enumerate(value)
            inner = [
                (f"{pointer}/{pointers.escape_pointer(str(step))}", one) for step, one in steps
            ]
            waiting += reversed(inner)
            continue
        said = value if isinstance(value, str) else _said(value)
        if (at := said.casefold().find(needle)) >= 0:
            yield {
                "pointer": pointer,
                "value": _around(value, at) if isinstance(value, str) else value,
            }
        elif needle in key.casefold() and not key.isdecimal():
            yield {
                "pointer": pointer,
                "value": _around(value, 0) if isinstance(value, str) else value,
            }


def _around(text: str, at: int) -> str:
    """Return a text, or what stands around a place of a long one."""
    if len(text) <= _MATCH:
        return text
    first = max(0, min(at - _MATCH // 4, len(text) - _MATCH))
    end = first + _MATCH
    return f"{'… ' if first else ''}{text[first:end]}{' …' if end < len(text) else ''}"


def _fitting(piece: str, room: int) -> str:
    """Return what of a piece fits in so many characters of JSON, and at least one character."""
    while len(piece) > 1 and (size := len(_said(piece)) - 2) > room:
        piece = piece[: max(1, min(len(piece) * room // size, len(piece) - 1))]
    return piece


def _said(value: JsonValue) -> str:
    return strict_json.compact_json(value)


def _going_on(asked: JsonObject, **changed: JsonValue) -> JsonObject:
    """Return the arguments that go on, with the limit of these."""
    return {key: value for key, value in (asked | changed).items() if value is not None}
