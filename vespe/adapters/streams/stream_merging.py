"""Fields that Vespe does not read itself, merged over the chunks of a stream: texts grow, lists go by `index`, objects by key."""

from typing import Any, Final

from vespe.adapters.streams.pieces import Growing
from vespe.models import JsonObject, JsonValue

_WHOLE: Final = frozenset(("index", "type", "id", "role", "name", "object", "format", "signature"))
"""Keys whose text comes whole: the first one that says something stays, and nothing is put behind it."""


class _Entries:
    """A list whose entries grow: by `index` and `type`, as OpenAI's SDK does by `index` alone; others are put behind."""

    __slots__ = ("entries", "places")

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.places: dict[tuple[int, JsonValue], dict[str, Any]] = {}

    def add(self, given: list[JsonValue], *, run: bool) -> None:
        """Take the entries of one chunk; with `run`, those of one type without an index continue the last one."""
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
            held = last if isinstance(last, dict) and kind in ("reasoning.text", "reasoning.summary") and last.get("type") == kind else None
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
    """Merge one chunk's object into what is held; both at most as deep as `stream_pieces.shallow` allows. `joined` ends it."""
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
    """Give what was merged as plain JSON values."""
    if isinstance(held, Growing):
        return held.text()
    if isinstance(held, dict):
        return {key: joined(value) for key, value in held.items()}
    if isinstance(held, _Entries):
        return [joined(entry) for entry in held.entries]
    return held
