"""Editable kits: directories of their authors that every project of theirs finds as they are,
through one symbolic link each.
"""

import os
from collections.abc import Callable

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, NotFound, StorageError, UsageError
from vespe.files import atomic
from vespe.kits import roots


def link_kit(directory: str | os.PathLike[str]) -> tuple[str, str]:
    """Make the kit in `directory` found by every project of this user, before any other of its id;
    give its id and its real path.

    Linking it again changes nothing. Raises NotFound where there is no kit, InvalidDocument for a
    broken one, UsageError where the id is linked to another directory, StorageError.
    """
    target = os.path.realpath(directory)
    kit_id = _kit_id(target)
    link = os.path.join(roots.links_dir(), kit_id)
    try:
        atomic.private_directory(roots.links_dir())
        os.symlink(target, link)
        _confirmed(lambda: os.unlink(link))
    except FileExistsError:
        if os.path.realpath(link) != target:
            held = f"the kit {kit_id} is linked to {os.path.realpath(link)} already"
            raise UsageError(held, hint=f"`vespe kit unlink {kit_id}` first") from None
    except OSError as error:
        raise StorageError("make", link, error) from error
    return kit_id, target


def unlink_kit(kit_id: str) -> str:
    """Take a link back, and give the directory that it led to, which stays as it is. Raises
    NotFound where there is none, StorageError.
    """
    link = os.path.join(roots.links_dir(), kit_id)
    if not roots.KIT_ID.fullmatch(kit_id) or not os.path.islink(link):
        raise NotFound(
            f"no kit is linked as {kit_id!r}",
            hint="`vespe kit list` shows them with the root `link`",
        )
    target = os.path.realpath(link)
    try:
        os.unlink(link)
        _confirmed(lambda: os.symlink(target, link))
    except OSError as error:
        raise StorageError("remove", link, error) from error
    return target


def _confirmed(undo: Callable[[], None]) -> None:
    """Have the disk confirm what was done to the links, or take it back."""
    try:
        atomic.sync_directory(roots.links_dir())
    except OSError:
        undo()
        raise


def _kit_id(directory: str) -> str:
    config = os.path.join(directory, defaults.KIT_CONFIG_FILE)
    if not os.path.lexists(directory):
        raise NotFound(
            f"there is no directory {directory}",
            hint="name the directory of a kit; `vespe kit create KIT` makes one",
        )
    if not os.path.isdir(directory) or not os.path.lexists(config):
        raise NotFound(
            f"{directory} is not a kit: it has no {defaults.KIT_CONFIG_FILE}",
            hint="`vespe kit create KIT` makes one",
        )
    document = strict_json.read_object(config)
    kit_id = document.get("kit_id")
    problem = roots.config_problem(
        document, kit_id if isinstance(kit_id, str) else os.path.basename(directory)
    )
    if problem is not None:
        raise InvalidDocument(problem.reason, path=config, pointer=problem.pointer)
    return str(kit_id)
