"""The directories that a compiled tool is given: those of its `permissions`, and no other."""

import os
from collections.abc import Iterator

from vespe.calls.sandboxing import make_written_places
from vespe.errors import Refused
from vespe.files import locations, repositories
from vespe.models import Tool
from vespe.processes.sandbox.places import EXECUTED, Places
from vespe.processes.sandbox.protected import find_protected, holds
from vespe.tool_types import Context
from vespe.tools.permissions import permissions_of


def given_directories(tool: Tool, context: Context) -> list[tuple[str, str, bool]]:
    """Return each directory as (path, name in the module, whether it may be written); none where
    none is stated.

    A module holds its whole directory: one that holds a protected place, or is to be written and
    holds what other programs execute, is refused, and so is what is no directory. One that is to be
    written and not there is made where its path ends with a slash.

    Raises Refused, PermissionDenied.
    """
    if not tool.permissions.get("read") and not tool.permissions.get("write"):
        return []
    stated = permissions_of(tool.permissions)
    make_written_places(tool, stated, context.project_root)
    writable = dict.fromkeys(stated.write or ())
    names = [(name, name in writable) for name in dict.fromkeys((*(stated.read or ()), *writable))]
    return [(_place(name, tool, context, write=write), name, write) for name, write in names]


def _place(name: str, tool: Tool, context: Context, *, write: bool) -> str:
    own = locations.hidden_dirs()
    hidden = find_protected(own)
    places = Places(context.project_root, hidden)
    found = places.find(name)
    if found.leads:
        raise Refused(
            f"`permissions` of {tool.name} states {name}, which is a link to {found.leads}. "
            "Links out of the project or to protected places have no effect",
            hint=f"if the module needs it, state its real path: {found.leads}",
        )
    why = (
        "is not a directory"
        if not os.path.isdir(found.path)
        else next(_reasons(found.path, places.root, hidden, write=write), "")
    )
    if why:
        hint = (
            "state directories that contain nothing else of value, because a module can only "
            "get whole directories"
        )
        raise Refused(f"`permissions` of {tool.name} states {name}, which {why}", hint=hint)
    return found.path


def _reasons(place: str, project: str, hidden: tuple[str, ...], *, write: bool) -> Iterator[str]:
    yield from (
        f"contains the protected place {hole}"
        for hole in hidden
        if holds(place, hole) and hole != place
    )
    if not write:
        return
    for name in EXECUTED:
        if os.path.lexists(os.path.join(place, name)) or holds(os.path.join(project, name), place):
            yield f"contains {name}, from which other programs read commands"
    if holds(project, place):
        for path in repositories.find_repositories(project).found:
            if holds(place, path) or holds(path, place):
                name = os.path.relpath(path, project)
                yield f"contains {name}, from which other programs read commands"
    if holds(place, project) and place != project:
        yield "contains the project"
