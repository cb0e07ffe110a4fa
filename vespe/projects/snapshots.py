"""Which tool each name means, as a map to keep beside the project, and what differs between two
such maps.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from vespe.documents import fields, strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.models import Entry, JsonObject, Row
from vespe.projects.view import View

_FACTS: Final = ("uid", "scope", "digest", "view", "status")
"""What a snapshot says of a name."""


def snapshot(
    rows: Iterable[Row], digest: Callable[[Entry], str], *, view: View | None = None
) -> JsonObject:
    """Return `{name: {"uid", "scope", "digest"}}` of the available tools, by the names that models
    know; `digest` is asked once for each.

    What the project's `tools` say of a tool stands under `view`; one that is never shown is left
    out.
    """
    seen = view or View()
    shown = [
        row.entry
        for row in rows
        if row.status == "available" and seen.exposure(row.entry) != "never"
    ]
    named = sorted(
        ((seen.name_of(entry), entry) for entry in shown),
        key=lambda pair: (pair[0], pair[0] != pair[1].name),
    )
    made: JsonObject = {}
    for name, entry in named:
        said = [dict(rule.said) for rule in seen.rules_about(entry.name, entry.scope)]
        made.setdefault(
            name,
            {"uid": entry.uid, "scope": entry.scope, "digest": digest(entry)}
            | ({"view": said} if said else {}),
        )
    return made


def add_broken(names: JsonObject, rows: Iterable[Row]) -> list[Entry]:
    """Add the names that mean no tool to a snapshot, so that a check sees one become a tool, or a
    tool become one; return the broken tools that they are of.
    """
    broken = [
        row.entry
        for row in rows
        if row.status == "broken" and not row.shadowed_by and row.entry.name
    ]
    for entry in broken:
        same = names.setdefault(
            str(entry.name), {"uid": "", "scope": entry.scope, "digest": None, "status": "broken"}
        )
        same["uid"] = f"{same['uid']}, {entry.uid}".lstrip(", ")
    return broken


def renewed(path: str, tools: JsonObject) -> JsonObject:
    """Return the document of a snapshot that takes the place of the one in a file, with the keys
    there that Vespe does not know.
    """
    try:
        former = strict_json.read_object_if_there(path)
    except (InvalidDocument, StorageError):
        former = {}
    known = former.get("tools")
    known = known if isinstance(known, dict) else {}
    return {
        "tools": {
            name: {**fact, **fields.others(known.get(name), _FACTS)} for name, fact in tools.items()
        },
        **fields.others(former, ("tools",)),
    }


def read_snapshot(path: str) -> JsonObject:
    """Return the names of a snapshot that was written; raises InvalidDocument."""
    tools = strict_json.read_object(path).get("tools")
    if not isinstance(tools, dict):
        raise InvalidDocument(
            "is not a snapshot: it has no object `tools`", path=path, pointer="/tools"
        )
    return tools


def diff_snapshots(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say what differs, a line a name, by name: `+` new, `-` gone, `~` another tool or other bytes;
    [] where nothing does.
    """
    lines = (_difference(name, old.get(name), new.get(name)) for name in sorted({*old, *new}))
    return [line for line in lines if line]


def _difference(name: str, before: JsonObject | None, after: JsonObject | None) -> str:
    if before is not None and after is not None and _known(before) == _known(after):
        return ""
    if before is None or after is None:
        return f"+ {name}: {_place(after)}" if before is None else f"- {name}: was {_place(before)}"
    if _place(before) != _place(after):
        return f"~ {name}: was {_place(before)}, is now {_place(after)}"
    if _view(before) != _view(after) and _digest(before) == _digest(after):
        return (
            f"~ {name}: {_place(after)} is shown to models differently: `tools` in config.json "
            "changed"
        )
    return f"~ {name}: {_place(after)} has changed: {_digest(before)} before, {_digest(after)} now"


def _known(fact: Any) -> Any:
    """Return what Vespe knows of a name; other keys make no difference."""
    is_object = isinstance(fact, dict)
    return {key: fact[key] for key in _FACTS if key in fact} if is_object else fact


def _place(fact: Any) -> str:
    return f"{fact.get('scope')}/{fact.get('uid')}" if isinstance(fact, dict) else "unknown"


def _digest(fact: Any) -> str:
    return str(fact.get("digest") or "none") if isinstance(fact, dict) else "none"


def _view(fact: Any) -> Any:
    return fact.get("view") if isinstance(fact, dict) else None
