"""Kits in the user's own kits directory, taken away whole: what Vespe made of them and nothing else."""

import contextlib
import os
import stat
from typing import Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import KitNotFound, Refused, StorageError
from vespe.files import locations
from vespe.kits import create, kit_folders, kit_templates, roots

_MADE: Final = (defaults.KIT_CONFIG_FILE, "mcp_tools.json", *kit_templates.kit_files("", title="", summary=""))
"""What the verbs that make kits write beside the tools."""
_HINT: Final = "nothing was removed; look at it, and delete the directory yourself"


def find_own(kit_id: str) -> str | None:
    """Give the directory of the user's own kit of that id; None where none stands there. No id leads anywhere else."""
    path = os.path.join(_root(), kit_id)
    return path if roots.KIT_ID.fullmatch(kit_id) and os.path.lexists(path) else None


def refuse_others(kit_id: str) -> None:
    """Raise Refused where the directory of an own kit holds what no verb of Vespe made.

    That is a link in its place or in it, a repository, or a file that belongs to no tool. KitNotFound where none stands there,
    StorageError where it cannot be read.
    """
    path = os.path.join(_root(), kit_id)
    for link in (_root(), path):
        if os.path.islink(link):
            raise Refused(f"{link} is a symbolic link, so nothing behind it is removed", hint="take the link away, and try again")
    if not os.path.lexists(path):
        raise KitNotFound(kit_id)
    if not _is_file(os.path.join(path, defaults.KIT_CONFIG_FILE)):
        raise Refused(f"{path} is no kit of Vespe's: it has no {defaults.KIT_CONFIG_FILE}", hint=_HINT)
    if os.path.lexists(os.path.join(path, ".git")):
        raise Refused(f"{path} is a git repository, and its history would be lost", hint=_HINT)
    try:
        files = [entry.path for entry in kit_folders.folder_tree(path, kit_id).entries]
    except Refused as error:
        raise Refused(str(error), hint=_HINT) from None
    tools = {file.partition("/")[0] for file in files if file.endswith(f"/{defaults.CONFIG_FILE}") and file.count("/") == 1}
    if foreign := [file for file in files if file not in _MADE and file.partition("/")[0] not in tools]:
        raise Refused(f"{path} holds what Vespe did not make: {'; '.join(foreign[:8])}", hint=_HINT)


def remove_own(kit_id: str) -> str:
    """Take the user's own kit away in one rename, then delete it, and give the directory where it stood.

    Raises as `refuse_others` does; nothing is changed then.
    """
    path, aside = os.path.join(_root(), kit_id), create.aside_of(_root(), kit_id)
    with strict_json.locked(_root()):
        create.sweep(_root())
        refuse_others(kit_id)
        try:
            strict_json.rename_durably(path, aside)
        except OSError as error:
            raise error if isinstance(error, StorageError) else StorageError("remove", path, error) from error
        create.discard(aside)
    return path


def recover() -> None:
    """Delete what killed processes left beside the user's own kits, where there is any; raises StorageError."""
    with contextlib.suppress(OSError):
        if any(create.LEFTOVER.fullmatch(name) for name in os.listdir(_root())):
            with strict_json.locked(_root()):
                create.sweep(_root())


def _root() -> str:
    return os.path.join(locations.user_data_dir(), roots.KITS_DIR)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
