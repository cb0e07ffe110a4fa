"""The directories that a compiled tool is given: those of its `permissions`, and no other."""

import os
from collections.abc import Iterator
from typing import Final

from vespe import defaults
from vespe.errors import Refused
from vespe.files import locations
from vespe.models import Tool
from vespe.processes.sandbox.protected import find_protected, holds, homes
from vespe.tool_types import Context
from vespe.tools.permissions import permissions_of

_EXECUTED: Final = (defaults.PROJECT_DIR, ".git")
"""What of a directory other programs take commands from."""


def given_directories(tool: Tool, context: Context) -> list[tuple[str, str, bool]]:
    """Return each directory as (path, name in the module, whether it may be written); none where
    none is stated.

    A module holds its whole directory: one that holds a protected place, or is to be written and
    holds what other programs execute, is refused, and so is what is no directory. Raises Refused.
    """
    if not tool.permissions.get("read") and not tool.permissions.get("write"):
        return []
    stated = permissions_of(tool.permissions)
    writable = dict.fromkeys(stated.write or ())
    names = [(name, name in writable) for name in dict.fromkeys((*(stated.read or ()), *writable))]
    return [(_place(name, tool, context, write=write), name, write) for name, write in names]


def _place(name: str, tool: Tool, context: Context, *, write: bool) -> str:
    home = next(iter(homes()), "/")
    path = os.path.join(
        context.project_root, home + name[1:] if name == "~" or name.startswith("~/") else name
    )
    real = os.path.realpath(path)
    why = (
        "is not a directory"
        if not os.path.isdir(real)
        else next(_reasons(real, context.project_root, write=write), "")
    )
    if why:
        hint = (
            "state directories that hold nothing else that is of value: "
            "a module can be given whole directories alone"
        )
        raise Refused(f"`permissions` of {tool.name} states {name}, which {why}", hint=hint)
    return real


def _reasons(place: str, project: str, *, write: bool) -> Iterator[str]:
    own = (locations.user_config_dir(), locations.user_state_dir(), locations.user_cache_dir())
    yield from (
        f"holds the protected place {hole}"
        for hole in find_protected(own)
        if holds(place, hole) and hole != place
    )
    if not write:
        return
    for name in _EXECUTED:
        if os.path.lexists(os.path.join(place, name)) or holds(
            os.path.join(os.path.realpath(project), name), place
        ):
            yield f"holds {name}, from which other programs take commands"
    if holds(place, os.path.realpath(project)) and place != os.path.realpath(project):
        yield "holds the project"
