"""What an update of a kit would change, tool by tool: what callers rely on, what runs, what it may
use, and its files.
"""

import os
from collections.abc import Mapping
from typing import Final, TypeAlias

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError, VespeError
from vespe.files import atomic, digests
from vespe.files.digests import File, Tree
from vespe.kits import compared_versions
from vespe.lazy import difflib
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass, json_of
from vespe.schemas.comparison.contracts import VERDICTS, Change, Verdict

_FIELDS: Final = (
    "description",
    "schema",
    "implementation_details",
    "permissions",
    "secrets",
    "limits",
    "annotations",
    "name",
    "version",
)
_KIT_FIELDS: Final = ("version", "allow_types", "allow_hosts", "secrets", "license", "homepage")
_MAX_SHOWN: Final = 128 * 1024
_Side: TypeAlias = tuple[str, Mapping[str, File]]
"""One version: the kit's directory, and its files by their path in it."""
NOT_HERE: Final[_Side] = (os.devnull, {})
"""A version that this machine does not have: all of the other one is new then, and no verdict is
possible.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """What becomes of one tool directory: `verdict` and `changes` as `tool diff` has them, `fields`
    of config.json old and new.

    `files` says in words which files differ, `diffs` holds a unified diff of each that is text and
    not too long.
    """

    uid: str
    name: str
    verdict: Verdict
    changes: tuple[Change, ...]
    fields: Mapping[str, tuple[JsonValue, JsonValue]]
    files: tuple[str, ...]
    diffs: tuple[str, ...]

    def to_json(self) -> JsonObject:
        """Return the change as `kit update --json` prints it."""
        return json_of(self, name="tool") | {"fields": fields_json(self.fields)}


@dataclass(frozen=True, slots=True, kw_only=True)
class KitChange:
    """What becomes of one kit: its own fields and files, and each tool's change."""

    kit_id: str
    fields: Mapping[str, tuple[JsonValue, JsonValue]]
    files: tuple[str, ...]
    tools: tuple[ToolChange, ...]

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict."""
        return min((tool.verdict for tool in self.tools), key=VERDICTS.index, default="compatible")


def fields_json(fields: Mapping[str, tuple[JsonValue, JsonValue]]) -> JsonObject:
    """Return fields, old and new, as `kit update --json` prints them."""
    return {key: {"old": old, "new": new} for key, (old, new) in fields.items()}


def compare(kit_id: str, *, old: _Side, new: _Side) -> KitChange:
    """Compare two versions of a kit, each its directory and its files; what is the same is not
    listed.
    """
    verdicts = _verdicts(old[0], new[0])
    changed = sorted(
        {path for path in old[1].keys() | new[1].keys() if old[1].get(path) != new[1].get(path)}
    )
    holders = {path.partition("/")[0] for path in changed if "/" in path}
    tools = sorted(
        name
        for name in holders
        if any(f"{name}/{defaults.CONFIG_FILE}" in files for _, files in (old, new))
    )
    rest = [path for path in changed if path.partition("/")[0] not in tools]
    return KitChange(
        kit_id=kit_id,
        fields=_fields(
            _config(old[0], defaults.KIT_CONFIG_FILE),
            _config(new[0], defaults.KIT_CONFIG_FILE),
            _KIT_FIELDS,
        ),
        files=_said(rest, old[1], new[1]),
        tools=tuple(
            _tool(
                uid,
                [p for p in changed if p.startswith(f"{uid}/")],
                sides=(old, new),
                verdicts=verdicts,
            )
            for uid in tools
        ),
    )


def _tool(
    uid: str,
    paths: list[str],
    *,
    sides: tuple[_Side, _Side],
    verdicts: Mapping[str, tuple[Change, ...]] | str,
) -> ToolChange:
    (old, before), (new, after) = sides
    one, other = (_config(os.path.join(side, uid), defaults.CONFIG_FILE) for side in (old, new))
    name = next(
        (name for config in (other, one) if isinstance(name := config.get("name"), str)), uid
    )
    if isinstance(verdicts, str):
        changes: tuple[Change, ...] = (Change(part="tool", verdict="unknown", message=verdicts),)
    else:
        changes = verdicts.get(uid, ())
    return ToolChange(
        uid=uid,
        name=name,
        verdict=min(
            (change.verdict for change in changes), key=VERDICTS.index, default="compatible"
        ),
        changes=changes,
        fields=_fields(one, other, _FIELDS),
        files=_said(paths, before, after),
        diffs=tuple(
            diff
            for path in paths
            if not path.endswith(f"/{defaults.CONFIG_FILE}") and (diff := _diff(old, new, path))
        ),
    )


def _verdicts(old: str, new: str) -> dict[str, tuple[Change, ...]] | str:
    """What `tool diff` says, by uid; a sentence where a tool of either version is broken, so that
    nobody can say.
    """
    if old == NOT_HERE[0]:
        return "cannot be compared: the locked version is not on this machine"
    try:
        return {found.uid: found.changes for found in compared_versions.compare(old, new)}
    except VespeError as error:
        return f"cannot be compared: {error}"


def _config(directory: str, name: str) -> JsonObject:
    try:
        return strict_json.read_object(os.path.join(directory, name))
    except (InvalidDocument, StorageError):
        return {}


def _fields(
    old: JsonObject, new: JsonObject, names: tuple[str, ...]
) -> dict[str, tuple[JsonValue, JsonValue]]:
    every = (*names, *sorted((old.keys() | new.keys()) - set(names)))
    return {
        name: (old.get(name), new.get(name)) for name in every if old.get(name) != new.get(name)
    }


def _said(paths: list[str], old: Mapping[str, File], new: Mapping[str, File]) -> tuple[str, ...]:
    before, after = ({path: side[path] for path in paths if path in side} for side in (old, new))
    return digests.changes(before, Tree(files=after))


def _diff(old: str, new: str, path: str) -> str:
    """Return a unified diff of one text, or say that it is none, or too long to be read here."""
    texts = [_text(os.path.join(side, path)) for side in (old, new)]
    if any(text is None for text in texts):
        return f"{path} is not shown: it is not text, or is longer than {_MAX_SHOWN // 1024} KiB"
    # what else ends a line is shown as the character that it is
    before, after = ((text or "").split("\n") for text in texts)
    return "\n".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm=""))


def _text(path: str) -> str | None:
    """A file's text, "" where there is none; None for what is no text or too long."""
    if not os.path.lexists(path):
        return ""
    try:
        data = atomic.read_bytes(path, limit=_MAX_SHOWN)
        return None if b"\0" in data else data.decode("utf-8")
    except (InvalidDocument, StorageError, UnicodeDecodeError):
        return None
