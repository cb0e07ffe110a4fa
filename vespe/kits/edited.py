"""Kits that their author edits where they are: linked ones, the user's own, those of
VESPE_KITS_PATH, and any directory that is named. Never an installed kit, whose bytes are pinned.
"""

import os
from typing import Final

from vespe import defaults
from vespe.errors import AmbiguousTool, Refused, ToolNotFound, UsageError
from vespe.kits import roots, store
from vespe.models import Entry
from vespe.tools import catalog

_KINDS: Final = ("env", "user", roots.LINK)


def directory_of(kit: str | os.PathLike[str]) -> str:
    """Return the directory of a kit that its author edits, given by it or by the kit's id.

    Raises UsageError where there is no kit, Refused for an installed one.
    """
    directory = _place(os.fspath(kit))
    if not os.path.isfile(os.path.join(directory, defaults.KIT_CONFIG_FILE)):
        raise UsageError(
            f"{directory} is not a kit: it has no {defaults.KIT_CONFIG_FILE}",
            hint="`vespe kit create NAME` makes a kit",
        )
    if store.owner_of(directory) is not None:
        raise Refused(
            f"{directory} is an installed kit, which is pinned and cannot be changed",
            hint=f"`vespe tool copy {os.path.basename(directory)}/TOOL` copies a tool of it into "
            "the project",
        )
    return directory


def list_tools(directory: str) -> list[Entry]:
    """Return the tools of such a kit, broken ones too."""
    kit_id = os.path.basename(directory)
    return list(catalog.scan(directory, scope=kit_id, kit_id=kit_id).values())


def find_tool(directory: str, name: str) -> Entry:
    """Return the tool of that name or uid in such a kit; raises ToolNotFound and AmbiguousTool."""
    kit_id = os.path.basename(directory)
    wanted = name.removeprefix(f"{kit_id}/")
    entries = catalog.find_to_change(directory, wanted, scope=kit_id, kit_id=kit_id)
    if not entries:
        raise ToolNotFound(name, searched=(kit_id,))
    if len(entries) > 1:
        uids, paths = [entry.uid for entry in entries], [entry.path for entry in entries]
        raise AmbiguousTool(name, scope=kit_id, uids=uids, paths=paths)
    return entries[0]


def has_tool(directory: str, name: str) -> bool:
    """Say whether a tool of that name stands in such a kit now."""
    kit_id = os.path.basename(directory)
    found = catalog.find(directory, name, scope=kit_id, kit_id=kit_id)
    return any(one.name == name for one in found)


def is_edited(kit_id: str) -> bool:
    """Say whether a kit of that id is its user's to edit, so that `--kit` takes it."""
    kinds = {one.kit_id: one.root_kind for one in roots.find_kits(count_tools=False)}
    return kinds.get(kit_id) in _KINDS


def found_directory(kit_id: str) -> str | None:
    """Return the directory of the kit of that id that projects find and that its user edits; None
    where there is none.
    """
    for one in roots.find_kits(count_tools=False):
        if one.kit_id == kit_id:  # the first is the one that is used
            return os.path.realpath(one.path) if one.root_kind in _KINDS else None
    return None


def _place(kit: str) -> str:
    """Return the directory of a kit that is given by it or by its id."""
    place = os.path.realpath(kit)
    if (
        os.path.isfile(os.path.join(place, defaults.KIT_CONFIG_FILE))
        or os.path.basename(kit) != kit
    ):
        return place
    own = (
        one
        for one in roots.find_kits(count_tools=False)
        if one.kit_id == kit and one.root_kind in _KINDS
    )
    return next((os.path.realpath(one.path) for one in own), place)
