"""From a JSON Pointer to the line and column where its value begins, in the text of a JSON, JSONL
or YAML file.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, TypeAlias

from vespe.documents import safe_yaml, strict_json
from vespe.documents.pointers import escape_pointer, pointer_to
from vespe.errors import InvalidDocument
from vespe.lazy import pattern

Position: TypeAlias = tuple[int, int]
"""Line and column, both from 1, the column in characters."""
START: Final = (1, 1)
_TOKEN: Final = pattern(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^\s\][{},:"]+')


def locate(text: str, pointers: Collection[str], *, kind: str = "json") -> dict[str, Position]:
    """Return the position of each pointer: of the nearest value above it that is there, where it is
    not; never raises.

    `kind` is `json`, `jsonl` (an array of its lines' values) or `yaml`. Linear in the text.
    """
    wanted = {prefix for pointer in pointers for prefix in _prefixes(pointer)}
    found = _SEARCHES[kind](text, wanted) if wanted - {""} else {}
    return {pointer: _nearest(pointer, found) for pointer in pointers}


def _prefixes(pointer: str) -> Iterator[str]:
    yield pointer
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


def _nearest(pointer: str, found: Mapping[str, Position]) -> Position:
    return next((found[prefix] for prefix in _prefixes(pointer) if prefix in found), START)


def _in_json(text: str, wanted: Collection[str]) -> dict[str, Position]:
    lines = _Lines(text)
    return {
        pointer: lines.position(offset)
        for pointer, offset in _offsets(text, 0, len(text))
        if pointer in wanted
    }


def _in_jsonl(text: str, wanted: Collection[str]) -> dict[str, Position]:
    found: dict[str, Position] = {}
    offset = index = 0
    lines = _Lines(text)
    needed = {pointer.split("/")[1] for pointer in wanted if pointer}
    for line in text.split("\n"):
        if line.strip():
            if str(index) in needed:
                places = (
                    (f"/{index}{pointer}", at)
                    for pointer, at in _offsets(text, offset, offset + len(line))
                )
                found.update(
                    (pointer, lines.position(at)) for pointer, at in places if pointer in wanted
                )
            index += 1
        offset += len(line) + 1
    return found


def _in_yaml(text: str, wanted: Collection[str]) -> dict[str, Position]:
    try:
        return {
            p: at
            for steps, at in safe_yaml.yaml_positions(text)
            if (p := pointer_to(steps)) in wanted
        }
    except InvalidDocument:
        return {}


_SEARCHES: Final[dict[str, Callable[[str, Collection[str]], dict[str, Position]]]] = {
    "json": _in_json,
    "jsonl": _in_jsonl,
    "yaml": _in_yaml,
}


class _Lines:
    """Offsets that only grow, as lines and columns."""

    def __init__(self, text: str) -> None:
        self._text, self._line, self._offset = text, 1, 0

    def position(self, offset: int) -> Position:
        self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return self._line, offset - self._text.rfind("\n", 0, offset)


def _offsets(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Return each value's pointer and offset; tolerant: what follows from brackets alone, in text
    that need not be JSON.
    """
    # the pointer of each open container, and the next index, or -1 in an object
    stack: list[tuple[str, int]] = []
    key: str | None = None
    text_of_key = ""
    expects_key = False
    for token in _TOKEN.finditer(text, start, end):
        word = token[0]
        if word in "]}":
            if stack:
                stack.pop()
            expects_key = False
        elif word == ",":
            expects_key = bool(stack) and stack[-1][1] < 0
        elif word == ":":
            key = text_of_key
        elif expects_key and word[0] == '"':
            text_of_key, expects_key = _unquoted(word), False
        else:
            pointer = _pointer(stack, key)
            yield pointer, token.start()
            key = None
            if word in "[{":
                stack.append((pointer, 0 if word == "[" else -1))
            expects_key = word == "{"


def _pointer(stack: list[tuple[str, int]], key: str | None) -> str:
    if not stack:
        return ""
    above, index = stack[-1]
    if index < 0:
        return f"{above}/{escape_pointer(key or '')}"
    stack[-1] = (above, index + 1)
    return f"{above}/{index}"


def _unquoted(word: str) -> str:
    if "\\" not in word:
        return word[1:-1]
    try:
        return str(strict_json.parse_json(word))
    except InvalidDocument:
        return word[1:-1]
