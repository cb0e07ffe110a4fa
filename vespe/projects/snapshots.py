"""Which tool each name means, as a map to keep beside the project, and what differs between two such maps."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vespe.models import Entry, JsonObject, Row


def snapshot(rows: Iterable[Row], digest: Callable[[Entry], str]) -> JsonObject:
    """Return `{name: {"uid", "scope", "digest"}}` of the available tools, by name; `digest` is asked once for each."""
    entries = sorted((row.entry for row in rows if row.status == "available"), key=lambda entry: entry.name or "")
    return {str(entry.name): {"uid": entry.uid, "scope": entry.scope, "digest": digest(entry)} for entry in entries}


def diff_snapshots(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say what differs, a line a name, by name: `+` new, `-` gone, `~` another tool or other bytes; [] where nothing does."""
    lines = (_difference(name, old.get(name), new.get(name)) for name in sorted({*old, *new}))
    return [line for line in lines if line]


def _difference(name: str, before: JsonObject | None, after: JsonObject | None) -> str:
    if before == after:
        return ""
    if before is None or after is None:
        return f"+ {name}: {_place(after)}" if before is None else f"- {name}: was {_place(before)}"
    if _place(before) != _place(after):
        return f"~ {name}: was {_place(before)}, is now {_place(after)}"
    return f"~ {name}: {_place(after)} has other bytes: {_digest(before)} before, {_digest(after)} now"


def _place(fact: Any) -> str:
    return f"{fact.get('scope')}/{fact.get('uid')}" if isinstance(fact, dict) else "unknown"


def _digest(fact: Any) -> str:
    return str(fact.get("digest") or "none") if isinstance(fact, dict) else "none"
