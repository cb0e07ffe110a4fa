"""The part of a large result that a model is shown: of a text its beginning and its end, of JSON
its shape.

A part that was chosen badly costs more than it saves: a model that sees no field of a row asks for
everything. So the keys of objects and the scalars at the top stay, lists keep their first and last
items and say how many there are, and a text is cut at the ends of lines.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from vespe.documents import strict_json
from vespe.models import JsonValue

_MARK: Final = 56
"""What a sentence about what was left out may take, in characters."""
_LEAST: Final = 24
"""A value that has less room than this is only counted."""
_DEEP: Final = 8
"""Below so many levels values are only counted."""


def preview_text(text: str, most: int) -> str:
    """Return the beginning and the end of a text in at most `most` characters, cut at the ends of
    lines where they are near; a text that fits stays as it is.
    """
    if len(text) <= most:
        return text
    room = max(most - 2 * _MARK, 0)
    head, tail = text[: room * 3 // 5], text[len(text) - room * 2 // 5 :]
    if (end := head.rfind("\n")) >= len(head) // 2:
        head = head[: end + 1]
    if 0 <= (start := tail.find("\n")) < len(tail) // 2:
        tail = tail[start + 1 :]
    left = len(text) - len(head) - len(tail)
    said = f"[… {left:,} of {len(text):,} characters left out{_lines(text, head, tail)} …]"
    before = "" if not head or head.endswith("\n") else "\n"
    return f"{head}{before}{said}\n{tail}"


def _lines(text: str, head: str, tail: str) -> str:
    """Say which lines were left out, where whole lines were."""
    first, last = head.count("\n") + 1, text.count("\n") - tail.count("\n")
    return f", lines {first:,} to {last:,}" if head.endswith("\n") and last > first else ""


def preview_json(value: JsonValue, most: int) -> str:
    """Return a value as compact JSON of at most `most` characters: objects and lists with what was
    left out of them counted in its place. A value that fits is whole.
    """
    room = most
    for _ in range(6):
        text = strict_json.compact_json(_shown(value, room, _DEEP))
        if len(text) <= most:
            return text
        # quotes and control characters take more room as JSON than as text
        room = max(room * most // len(text) - _MARK, _LEAST)
    return preview_text(strict_json.compact_json(value), most)


def _shown(value: JsonValue, most: int, deep: int) -> JsonValue:
    if _size(value, most) <= most:
        return value
    if isinstance(value, str):
        return _part(value, most)
    if isinstance(value, list):
        return _counted(value) if deep <= 0 or most < 2 * _MARK else _items(value, most, deep)
    if isinstance(value, dict):
        return _counted(value) if deep <= 0 or most < 2 * _LEAST else _members(value, most, deep)
    return value


def _counted(value: Sequence[Any] | dict[str, Any]) -> str:
    return (
        f"{{… {len(value):,} keys …}}" if isinstance(value, dict) else f"[… {len(value):,} items …]"
    )


def _part(text: str, most: int) -> str:
    said = f" … {len(text):,} characters in all … "
    room = max(most - len(said) - 2, _LEAST)
    return (
        f"{text[: room * 3 // 4]}{said}{text[len(text) - room // 4 :]}"
        if room < len(text)
        else text
    )


def _items(items: list[Any], most: int, deep: int) -> JsonValue:
    """Return the first items of a list, its last ones, and between them how many were left out."""
    room = most - _MARK
    head = _first(items, room * 3 // 5, deep)
    tail = _first(
        items[: len(head) - 1 or None : -1] if len(head) < len(items) else [], room * 2 // 5, deep
    )
    left = len(items) - len(head) - len(tail)
    said = [f"… {left:,} of {len(items):,} items left out …"] if left else []
    return [*head, *said, *reversed(tail)]


def _first(items: Iterable[Any], room: int, deep: int) -> list[Any]:
    """Return as many items as there is room for; the first one is shown in part where it is too
    large.
    """
    shown: list[Any] = []
    for item in items:
        size = _size(item, room)
        if size > room:
            return shown or [_shown(item, room, deep - 1)]
        shown.append(item)
        room -= size + 1
    return shown


def _members(value: dict[str, Any], most: int, deep: int) -> JsonValue:
    """Return an object with all its keys, as far as there is room: small values as they are, and
    the room that is left in even shares for the others.
    """
    keys, room = list[str](), most - _MARK
    for key in value:
        room -= len(key) + 4 + _LEAST
        if room < 0 and keys:
            break
        keys.append(key)
    room = most - _MARK - sum(len(key) + 4 for key in keys)
    shown, left = dict[str, Any](), len(keys)
    for key in sorted(keys, key=lambda key: _size(value[key], most)):
        share = max(room // left, _LEAST)
        shown[key] = _shown(value[key], share, deep - 1)
        room, left = room - _size(shown[key], share), left - 1
    made = {key: shown[key] for key in keys}
    if len(keys) < len(value):
        made["…"] = f"{len(value) - len(keys):,} of {len(value):,} keys left out"
    return made


def _size(value: JsonValue, most: int) -> int:
    """Return about how many characters a value takes as compact JSON; past `most` it is not counted
    on.
    """
    total, waiting = 0, [value]
    while waiting and total <= most:
        one: Any = waiting.pop()
        if isinstance(one, str):
            total += len(one) + 2
        elif isinstance(one, dict):
            total += 2 + sum(len(key) + 4 for key in one) if len(one) <= most else most + 1
            waiting += one.values()
        elif isinstance(one, list):
            total += 1 + max(len(one), 1)
            waiting += one
        else:
            total += len(repr(one))
    return total
