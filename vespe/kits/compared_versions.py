"""Versions of tools to compare: one tool directory, a kit or a directory of tools, on disk or in a
git revision.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from vespe import defaults
from vespe.errors import (
    InvalidDocument,
    InvalidTool,
    KitNotFound,
    NotFound,
    ProjectNotFound,
    StorageError,
)
from vespe.files import atomic, locations
from vespe.git import revisions
from vespe.kits import roots
from vespe.models import JsonObject, Tool
from vespe.records import dataclass, json_of
from vespe.schemas.comparison import contracts
from vespe.schemas.comparison.contracts import Change, Contract, Verdict
from vespe.tools import directory as tool_directory
from vespe.tools.names import NAME_PATTERN

FindTool: TypeAlias = Callable[[str], str | None]
"""Returns the directory of the tool that a name means here, or None."""
ChangesOf: TypeAlias = Callable[[Tool, Tool], Sequence[Change]]
"""Returns what changed from one version of a tool to the next."""
_TOLD_ELSEWHERE: Final = (defaults.CONFIG_FILE, defaults.DESCRIPTION_FILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What became of one tool; `tool` is its name in the new version, or the old where it is
    gone.
    """

    tool: str
    uid: str
    changes: tuple[Change, ...]

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict."""
        return contracts.verdict_of(self.changes)

    def to_json(self) -> JsonObject:
        """Return the comparison as `tool diff --json` prints it."""
        return json_of(self, "tool", "uid", "verdict", "changes")


def compare(
    old: str, new: str, *, cwd: str | None = None, find_tool: FindTool | None = None
) -> list[Comparison]:
    """Compare two versions, tool by tool; what did not change is not listed.

    Each is a path, `REV:path`, a kit's id, a tool's name that `find_tool` knows, or `REV:NAME` of a
    tool of the project. Two single tools are compared whatever they are called; in a set, tools are
    matched by name, then by uid. Raises NotFound where there is no such thing, InvalidTool where a
    tool of either cannot be read, and as `revisions.checked_out` does.
    """
    with (
        _opened(old, cwd, find_tool) as (before, one),
        _opened(new, cwd, find_tool) as (after, other),
    ):
        if one and other:
            return _compared([(before[0], after[0])], _changes)
        return compare_sets(before, after)


def compare_sets(
    before: Sequence[Tool], after: Sequence[Tool], *, changes: ChangesOf | None = None
) -> list[Comparison]:
    """Compare two sets of tools, matched by name, then by uid; `changes` says what changed of a
    pair, by default what callers rely on.
    """
    return [*_gone_and_new(before, after), *_compared(_matched(before, after), changes or _changes)]


def _matched(before: Sequence[Tool], after: Sequence[Tool]) -> list[tuple[Tool, Tool]]:
    named, by_uid = {tool.name: tool for tool in after}, {tool.uid: tool for tool in after}
    known = {tool.name for tool in before}
    pairs = []
    for tool in before:
        renamed = by_uid.get(tool.uid)
        other = named.get(tool.name) or (
            renamed if renamed is not None and renamed.name not in known else None
        )
        if other is not None:
            pairs.append((tool, other))
    return pairs


def _gone_and_new(before: Sequence[Tool], after: Sequence[Tool]) -> Iterator[Comparison]:
    matched = _matched(before, after)
    old, new = {id(pair[0]) for pair in matched}, {id(pair[1]) for pair in matched}
    for tool in before:
        if id(tool) not in old:
            gone = Change(
                part="tool",
                verdict="breaking",
                message="was removed: calls of it fail",
                side="old",
            )
            yield Comparison(tool=tool.name, uid=tool.uid, changes=(gone,))
    for tool in after:
        if id(tool) not in new:
            added = Change(part="tool", verdict="compatible", message="is new")
            yield Comparison(tool=tool.name, uid=tool.uid, changes=(added,))


def _compared(pairs: Sequence[tuple[Tool, Tool]], changes: ChangesOf) -> list[Comparison]:
    return [
        Comparison(tool=new.name, uid=new.uid, changes=found)
        for old, new in pairs
        if (found := tuple(changes(old, new)))
    ]


def _changes(old: Tool, new: Tool) -> list[Change]:
    return contracts.changes(_contract(old), _contract(new))


def _contract(tool: Tool) -> Contract:
    details = tool.document.get("implementation_details")
    return contracts.contract_of(
        tool, command={"details": details, "files": dict(_digests(tool.directory or ""))}
    )


def _digests(directory: str) -> Iterator[tuple[str, str]]:
    for path, _, files in os.walk(directory):
        for name in sorted(files):
            file = os.path.join(path, name)
            relative = os.path.relpath(file, directory)
            if relative not in _TOLD_ELSEWHERE and "__pycache__" not in relative:
                try:
                    yield relative, hashlib.sha256(atomic.read_bytes(file)).hexdigest()
                except (InvalidDocument, StorageError) as error:
                    yield relative, str(error)


@contextmanager
def _opened(
    name: str, cwd: str | None, find_tool: FindTool | None
) -> Iterator[tuple[list[Tool], bool]]:
    """Return the tools of one version, and whether it is a single tool."""
    path = os.path.join(cwd or os.curdir, name)
    if os.path.isdir(path):
        yield _tools(os.path.realpath(path), name)
    elif ":" in name:
        with _checked_out(name, cwd) as found:
            yield found
    elif (directory := _kit(name, cwd) or (find_tool(name) if find_tool else None)) is not None:
        yield _tools(directory, name)
    else:
        hint = (
            "write a tool's name or directory, a kit's id, "
            "or REV:NAME or REV:path for a git revision"
        )
        raise NotFound(f"{name} is not a tool, a kit or a directory here", hint=hint)


def _kit(name: str, cwd: str | None) -> str | None:
    try:
        return (
            roots.find_kit(name, project=_project_at(cwd)).path
            if roots.KIT_ID.fullmatch(name)
            else None
        )
    except KitNotFound:
        return None


@contextmanager
def _checked_out(name: str, cwd: str | None) -> Iterator[tuple[list[Tool], bool]]:
    """Read `REV:path`, or `REV:NAME`: the tool of that name among the project's own of the
    revision.
    """
    revision, _, wanted = name.partition(":")
    root = _project_at(cwd)
    if (
        root is None
        or not NAME_PATTERN.fullmatch(wanted)
        or os.path.isdir(os.path.join(cwd or os.curdir, wanted))
    ):
        with revisions.checked_out(name, cwd=cwd) as directory:
            yield _tools(directory, name)
        return
    with revisions.checked_out(
        f"{revision}:./{defaults.PROJECT_DIR}/{defaults.TOOLS_DIR}", cwd=root
    ) as directory:
        found = [tool for tool in _tools(directory, name)[0] if wanted in (tool.name, tool.uid)]
        if not found:
            raise NotFound(
                f"the project has no tool {wanted} in the revision {revision}",
                hint="write REV:path for a directory",
            )
        yield found[:1], True


def _project_at(cwd: str | None) -> str | None:
    try:
        return locations.find_project(cwd)
    except ProjectNotFound:
        return None


def _tools(directory: str, name: str) -> tuple[list[Tool], bool]:
    if (
        os.path.lexists(os.path.join(directory, defaults.CONFIG_FILE))
        and os.path.basename(directory) != defaults.PROJECT_DIR
    ):
        return [tool_directory.load(directory)], True
    inner = next(
        (
            path
            for path in (
                os.path.join(directory, defaults.PROJECT_DIR, defaults.TOOLS_DIR),
                os.path.join(directory, defaults.TOOLS_DIR),
            )
            if os.path.isdir(path)
        ),
        "",
    )
    holder = inner or directory
    try:
        uids = sorted(
            uid
            for uid in os.listdir(holder)
            if os.path.lexists(os.path.join(holder, uid, defaults.CONFIG_FILE))
        )
    except OSError as error:
        raise StorageError("read", holder, error) from error
    if not uids and not os.path.lexists(os.path.join(directory, defaults.KIT_CONFIG_FILE)):
        raise InvalidTool(
            name, ["contains no tools: none of its directories has a config.json"], path=name
        )
    return [tool_directory.load(os.path.join(holder, uid)) for uid in uids], False
