"""What tells that a project's tools may have changed, for the price of looking at their status."""

import os
from collections.abc import Iterator
from typing import TypeAlias

from vespe import defaults
from vespe.files.stamps import Stamp, stamp
from vespe.models import Entry
from vespe.projects import user_config
from vespe.projects.workspace import Workspace, fingerprint

Marks: TypeAlias = tuple[tuple[object, ...], Stamp, tuple[tuple[tuple[str, Stamp, Stamp], ...], ...]]


def marks(workspace: Workspace) -> Marks:
    """Give a value that is another one when a tool, a kit or a configuration was changed, made or removed.

    Nothing is read: each directory of tools is listed, and each tool's directory and config.json looked at.
    """
    tools = tuple(tuple(_tools(scope.directory)) for scope in workspace.scopes if scope.ordered)
    return (fingerprint(workspace), stamp(user_config.config_path()), tools)


def stamps_in(seen: Marks) -> Iterator[Stamp]:
    """Give the stamps of the tools in what `marks` gave."""
    _, _, scopes = seen
    for tools in scopes:
        for _, directory, config in tools:
            yield directory
            yield config


def by_path(workspace: Workspace, seen: Marks) -> dict[str, tuple[Stamp, Stamp]]:
    """Give the stamps of each tool in what `marks` gave, by the path of its directory."""
    ordered = (scope.directory for scope in workspace.scopes if scope.ordered)
    return {f"{where}/{uid}": (own, config) for where, tools in zip(ordered, seen[2], strict=True) for uid, own, config in tools}


def places(workspace: Workspace) -> tuple[str, ...]:
    """Name what decides which tool a name means, without the tools themselves."""
    config = os.path.join(workspace.root, defaults.PROJECT_DIR, defaults.CONFIG_FILE)
    return (config, *(scope.directory for scope in workspace.scopes if scope.ordered))


def tool_stamps(entry: Entry) -> tuple[Stamp, Stamp]:
    """Give the stamps of a tool's directory, which tells of files that come and go, and of its config.json."""
    return stamp(entry.path), stamp(f"{entry.path}/{defaults.CONFIG_FILE}")


def _tools(directory: str) -> Iterator[tuple[str, Stamp, Stamp]]:
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return
    for name in names:
        path = f"{directory}/{name}"
        yield name, stamp(path), stamp(f"{path}/{defaults.CONFIG_FILE}")
