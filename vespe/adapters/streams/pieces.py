"""The pieces of a streamed answer: one chunk read, and texts grown piece by piece."""

import hashlib
import json
import math
from typing import Any, Final, NoReturn

from vespe import defaults
from vespe.adapters import arguments
from vespe.adapters.messages import generated_id
from vespe.documents import strict_json
from vespe.documents.nesting import deeper_than
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which JSON cannot represent")


def _float(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text[:40])


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse, parse_float=_float)


def read_chunk(data: bytes) -> JsonValue:
    """Read one chunk's JSON, with bytes that are no UTF-8 as U+FFFD; raises ValueError for what is
    not JSON, or too deep.
    """
    text = data.decode("utf-8", "replace")
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        value, end = _read_slowly(text), len(text)
    if end != len(text) and text[end:].strip():
        raise ValueError("there is more behind the JSON")
    return value


def _read_slowly(text: str) -> JsonValue:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_documents(body: bytes) -> list[JsonObject]:
    """Return the objects of a body that is one JSON document, a list of them, or one in each line;
    [] where it is none of these.

    A last line that was cut is left out.
    """
    try:
        values = [read_chunk(body)]
    except ValueError:
        lines = [line for line in body.splitlines() if line.strip()]
        try:
            values = [
                read_chunk(line) for line in (lines[:-1] if lines and is_cut(lines[-1]) else lines)
            ]
        except ValueError:
            return []
    listed = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    return [value for value in listed if isinstance(value, dict)]


def is_cut(data: bytes) -> bool:
    """Whether a body's last event, or line, is the beginning of one only: it then says nothing, and
    is no error.
    """
    data = data.strip()
    if any(whole.startswith(data) for whole in (b"data:", b"event:", b"retry:", b"id:", b"[DONE]")):
        return True
    if not data.startswith((b"{", b"[")):
        return False
    try:
        read_chunk(data)
    except ValueError:
        return True
    return False


def shallow(value: JsonValue) -> bool:
    """Whether a value is nested as little as Vespe reads, so that it can be kept."""
    return not isinstance(value, (dict, list)) or not deeper_than(value, defaults.MAX_JSON_DEPTH)


def call_id(*said: JsonValue) -> str:
    """Return an id for a call that has none, by what was said: of another answer another one, of
    the same again the same.
    """
    digest = hashlib.blake2b(json.dumps(said).encode(), digest_size=6).digest()
    return generated_id(int.from_bytes(digest, "big"))


def sayable(value: JsonValue) -> JsonValue:
    """Return a call's input, or what the adapters make of a text that is no object, where JSON
    cannot say it (NaN).
    """
    try:
        arguments.to_text(value)
    except InvalidDocument as error:
        return {arguments.KEY: f"<{error}>"}
    return value


def is_whole_object(text: str) -> bool:
    """Whether a text is one whole JSON object by the strict reader's rules: no longer text that is
    JSON begins with it.
    """
    if not text.lstrip().startswith("{") or not text.rstrip().endswith("}"):
        return False
    try:
        return isinstance(
            strict_json.parse_json(strict_json.repair_surrogates(text), limit=len(text)), dict
        )
    except InvalidDocument:
        return False


class Growing:
    """A text that grows by pieces. A surrogate whose other half is still to come is held back."""

    __slots__ = ("_held", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._held = ""

    def add(self, piece: str) -> str:
        """Take a piece, and give what it adds to the text, as UTF-8 can say it."""
        if self._held or not piece.isascii():
            piece = self._mended(piece)
        self.pieces.append(piece)
        return piece

    def end(self) -> str:
        """Return what is still held back, as U+FFFD, now that its other half will not come."""
        if not self._held:
            return ""
        self._held = ""
        self.pieces.append("\ufffd")
        return "\ufffd"

    def text(self) -> str:
        """Return all of the text."""
        return "".join(self.pieces) + ("\ufffd" if self._held else "")

    def _mended(self, piece: str) -> str:
        piece = self._held + piece
        self._held = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        return strict_json.repair_surrogates(piece[:-1] if self._held else piece)


_WHOLE: Final = frozenset(("index", "type", "id", "role", "name", "object", "format", "signature"))
"""Keys whose text comes whole: the first one that says something stays, and nothing is put behind
it.
"""


class _Entries:
    """A list whose entries grow: by `index` and `type`, as OpenAI's SDK does by `index` alone;
    others are put behind.
    """

    __slots__ = ("entries", "places")

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.places: dict[tuple[int, JsonValue], dict[str, Any]] = {}

    def add(self, given: list[JsonValue], *, run: bool) -> None:
        """Take the entries of one chunk; with `run`, those of one type without an index continue
        the last one.
        """
        for entry in given:
            if not isinstance(entry, dict):
                self.entries.append(entry)
            elif (held := self._continued(entry, run)) is not None:
                merge(held, entry)
            else:
                self._begin(entry)

    def _continued(self, entry: JsonObject, run: bool) -> dict[str, Any] | None:
        index, kind = entry.get("index"), entry.get("type")
        if isinstance(index, int) and isinstance(kind, str | None):
            held = self.places.get((index, kind))
        else:
            last = self.entries[-1] if run and self.entries else None
            held = (
                last
                if isinstance(last, dict)
                and kind in ("reasoning.text", "reasoning.summary")
                and last.get("type") == kind
                else None
            )
        if held is None or (held.get("id") and entry.get("id") and held["id"] != entry["id"]):
            return None
        return held

    def _begin(self, entry: JsonObject) -> None:
        made: dict[str, Any] = {}
        merge(made, entry)
        self.entries.append(made)
        index, kind = entry.get("index"), entry.get("type")
        if isinstance(index, int) and isinstance(kind, str | None):
            self.places[index, kind] = self.places[index, None] = made


def merge(held: dict[str, Any], delta: JsonObject) -> None:
    """Merge one chunk's object into what is held; both at most as deep as `stream_pieces.shallow`
    allows. `joined` ends it.
    """
    for key, value in delta.items():
        before = held.get(key)
        if value is None:
            held.setdefault(key, None)
        elif isinstance(value, str):
            held[key] = _text(key, before, value)
        elif isinstance(value, dict):
            if not isinstance(before, dict):
                before = held[key] = {}
            merge(before, value)
        elif isinstance(value, list):
            if not isinstance(before, _Entries):
                before = held[key] = _Entries()
            before.add(value, run=key == "reasoning_details")
        else:
            held[key] = value


def _text(key: str, before: Any, value: str) -> Any:
    if key in _WHOLE:
        return before or value
    if not isinstance(before, Growing):
        before = Growing()
    before.add(value)
    return before


def joined(held: Any) -> Any:
    """Return what was merged as plain JSON values."""
    if isinstance(held, Growing):
        return held.text()
    if isinstance(held, dict):
        return {key: joined(value) for key, value in held.items()}
    if isinstance(held, _Entries):
        return [joined(entry) for entry in held.entries]
    return held
