"""What tells that a project's tools may have changed, for the price of looking at their status."""

import os
import time
from collections.abc import Iterator
from typing import Final, Protocol, TypeAlias

from vespe import defaults
from vespe.calls import policy_answers
from vespe.files.stamps import Stamp, stamp, stamp_of
from vespe.models import Entry
from vespe.projects import user_config
from vespe.projects.workspace import Workspace, fingerprint

Marks: TypeAlias = tuple[
    tuple[object, ...], tuple[Stamp, Stamp], tuple[tuple[tuple[str, Stamp, Stamp], ...], ...]
]


def marks(workspace: Workspace) -> Marks:
    """Return a value that is another one when a tool, a kit or a configuration was changed, made or
    removed.

    Nothing is read: each directory of tools is listed, and each tool's directory and config.json
    looked at.
    """
    tools = tuple(tuple(_tools(scope.directory)) for scope in workspace.scopes if scope.ordered)
    return (
        fingerprint(workspace),
        (stamp(user_config.config_path()), stamp(policy_answers.directory())),
        tools,
    )


def still_hold(workspace: Workspace, seen: Marks) -> bool:
    """Say whether `marks` would give the same now; nothing is kept of what is looked at, since with
    100,000 tools that costs a third.
    """
    project, rules, scopes = seen
    if (
        fingerprint(workspace) != project
        or (stamp(user_config.config_path()), stamp(policy_answers.directory())) != rules
    ):
        return False
    ordered = [scope.directory for scope in workspace.scopes if scope.ordered]
    return all(_hold(directory, tools) for directory, tools in zip(ordered, scopes, strict=True))


def stamps_in(seen: Marks) -> Iterator[Stamp]:
    """Return the stamps of the tools in what `marks` gave."""
    _, _, scopes = seen
    for tools in scopes:
        for _, directory, config in tools:
            yield directory
            yield config


def by_path(workspace: Workspace, seen: Marks) -> dict[str, tuple[Stamp, Stamp]]:
    """Return the stamps of each tool in what `marks` gave, by the path of its directory."""
    ordered = (scope.directory for scope in workspace.scopes if scope.ordered)
    return {
        f"{where}/{uid}": (own, config)
        for where, tools in zip(ordered, seen[2], strict=True)
        for uid, own, config in tools
    }


def places(workspace: Workspace) -> tuple[str, ...]:
    """Name what decides which tool a name means and whether it may be called, without the tools
    themselves.
    """
    config = os.path.join(workspace.root, defaults.PROJECT_DIR, defaults.CONFIG_FILE)
    rules = (config, user_config.config_path(), policy_answers.directory())
    return (*rules, *(scope.directory for scope in workspace.scopes if scope.ordered))


def tool_stamps(entry: Entry) -> tuple[Stamp, Stamp]:
    """Return the stamps of a tool's directory, which tells of files that come and go, and of its
    config.json.
    """
    return stamp(entry.path), stamp(f"{entry.path}/{defaults.CONFIG_FILE}")


def _tools(directory: str) -> Iterator[tuple[str, Stamp, Stamp]]:
    try:
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        for name in sorted(os.listdir(opened)):
            yield name, _stamp_in(opened, name), _stamp_in(opened, f"{name}/{defaults.CONFIG_FILE}")
    finally:
        os.close(opened)


def _hold(directory: str, tools: tuple[tuple[str, Stamp, Stamp], ...]) -> bool:
    now = _tools(directory)
    return all(next(now, None) == tool for tool in tools) and next(now, None) is None


def _stamp_in(directory: int, path: str) -> Stamp:
    """Return the stamp of what is at a path below an open directory, which is found sooner than by
    its whole path.
    """
    try:
        return stamp_of(os.stat(path, dir_fd=directory))
    except OSError:
        return None


_SHARE: Final = 50
"""Looking takes at most one part in so many of the time,"""
_PATIENCE_S: Final = 1.0
_LARGE_SHARE: Final = 10
"""but where that would keep clients waiting for longer, one in so many."""


class Watched(Protocol):
    """What is watched: `vespe.features.mcp.server.tools.ServedTools`."""

    @property
    def version(self) -> int:
        """Another number each time when what is shown became another list."""
        ...

    def refresh(self) -> bool:
        """Look whether it did."""
        ...


class Changes:
    """Watches the tools of one server for as many clients as it has."""

    def __init__(self, tools: Watched) -> None:
        self._tools = tools
        self._told = self._seen = tools.version
        self._due = 0.0

    def look(self) -> bool:
        """Look once; True where clients are to be told now: since the last time nothing changed any
        more, and before it something did.
        """
        started = time.monotonic()
        if started < self._due:
            return False
        self._tools.refresh()
        spent = time.monotonic() - started
        self._due = started + min(spent * _SHARE, max(_PATIENCE_S, spent * _LARGE_SHARE))
        settled, self._seen = self._seen == self._tools.version, self._tools.version
        if not settled or self._told == self._seen:
            return False
        self._told = self._seen
        return True
