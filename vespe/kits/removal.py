"""Kits in the user's own kits directory, taken away whole: what Vespe made of them and nothing
else.
"""

import contextlib
import os
import stat
from collections.abc import Iterable, Sequence
from typing import Final

from vespe import defaults
from vespe.documents.near import join_words
from vespe.errors import InvalidDocument, KitNotFound, Refused, StorageError
from vespe.files import atomic, locations, staging
from vespe.kits import create as kit_create
from vespe.kits import lock as kit_lock
from vespe.kits import mcp_snapshots, origins, roots, store
from vespe.kits.lock import LockedKit
from vespe.trust import approvals

_MADE: Final = (
    defaults.KIT_CONFIG_FILE,
    mcp_snapshots.SNAPSHOT,
    mcp_snapshots.SKILLS_FILE,
    *kit_create.KIT_FILES,
)
"""What the verbs that make kits write beside the tools."""
_HINT: Final = "nothing was removed; look at it, and delete the directory yourself"


def find_own(kit_id: str) -> str | None:
    """Return the directory of the user's own kit of that id; None where none stands there. No id
    leads anywhere else.
    """
    path = os.path.join(_root(), kit_id)
    return path if roots.KIT_ID.fullmatch(kit_id) and os.path.lexists(path) else None


def refuse_others(path: str) -> None:
    """Raise Refused where the directory of an own kit holds what no verb of Vespe made.

    That is a link in its place or in it, a repository, or a file that belongs to no tool.
    KitNotFound where none stands there, StorageError where it cannot be read.
    """
    kit_id = os.path.basename(path)
    for link in (os.path.dirname(path), path):
        if os.path.islink(link):
            raise Refused(
                f"{link} is a symbolic link, so what it links to is not removed",
                hint="remove the link, then try again",
            )
    if not os.path.lexists(path):
        raise KitNotFound(kit_id)
    if not _is_file(os.path.join(path, defaults.KIT_CONFIG_FILE)):
        raise Refused(f"{path} is not a kit: it has no {defaults.KIT_CONFIG_FILE}", hint=_HINT)
    if os.path.lexists(os.path.join(path, ".git")):
        raise Refused(f"{path} is a git repository, whose history would be lost", hint=_HINT)
    try:
        files = [entry.path for entry in origins.folder_tree(path, kit_id).entries]
    except Refused as error:
        raise Refused(str(error), hint=_HINT) from None
    tools = {
        file.partition("/")[0]
        for file in files
        if file.endswith(f"/{defaults.CONFIG_FILE}") and file.count("/") == 1
    }
    if foreign := [
        file for file in files if file not in _MADE and file.partition("/")[0] not in tools
    ]:
        raise Refused(
            f"{path} contains files that Vespe did not create: {join_words(foreign, most=8)}",
            hint=_HINT,
        )


def remove_own(kit_id: str) -> str:
    """Take the user's own kit away in one rename, then delete it, and give the directory where it
    stood.

    Raises as `refuse_others` does; nothing is changed then.
    """
    path = os.path.join(_root(), kit_id)
    remove_at(path)
    return path


def remove_at(path: str) -> None:
    """Take the kit at that directory of the user's own away, as `remove_own` does; one that is kept
    by its digest goes with that.
    """
    root = mcp_snapshots.root_of(path)
    with atomic.locked(root):
        staging.sweep(root)
        refuse_others(path)
        by_name = root == os.path.dirname(path)
        staging.remove(path if by_name else os.path.dirname(path))


def recover() -> None:
    """Delete what killed processes left beside the user's own kits, where there is any; raises
    StorageError.
    """
    for root in (_root(), mcp_snapshots.directory()):
        if staging.has_leftovers(root):
            with atomic.locked(root):
                staging.sweep(root)


def _root() -> str:
    return os.path.join(locations.user_data_dir(), roots.KITS_DIR)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def remove(kit_ids: Sequence[str], lock: str) -> tuple[LockedKit, ...]:
    """Take kits out of a lock, which alone makes them gone, then out of the store; give what they
    were.

    Raises KitNotFound for one that is not locked, Refused where something in its place is not what
    was installed; nothing is changed then. StorageError.
    """

    def unpin(kits: dict[str, LockedKit]) -> None:
        for kit_id in kit_ids:
            if kit_id not in kits:
                raise KitNotFound(kit_id, close=sorted(kits)[:3])
            refuse_foreign(kits[kit_id])
        gone.extend(kits.pop(kit_id) for kit_id in dict.fromkeys(kit_ids))

    gone: list[LockedKit] = []
    with store.locked():
        store.sweep()
        kit_lock.update_lock(lock, unpin)
        tidy(kit.digest for kit in gone)
    return tuple(gone)


def tidy(digests: Iterable[str]) -> None:
    """Take digests that no known lock needs out of the store, and their approvals back; the caller
    holds the store's lock.

    Where a lock cannot be read, nobody knows what it needs, and everything stays; so does what the
    disk refuses to give up. The lock says already that it is gone, and `vespe cache clean` tries
    again.
    """
    with contextlib.suppress(InvalidDocument, StorageError):
        for digest in set(digests) - kit_lock.digests_in_use():
            store.remove(digest)
            approvals.forget_kit(digest)


def refuse_foreign(kit: LockedKit) -> None:
    """Raise Refused where an installed kit's place contains files that were not installed: a link,
    or files of somebody else.
    """
    place, path = store.place_of(kit.digest), store.kit_path(kit.digest, kit.kit_id)
    for link in (store.store_dir(), place, path):
        if os.path.islink(link):
            raise Refused(
                f"{link} is a symbolic link, so what it links to is not removed",
                hint="remove the link, then try again",
            )
    foreign = [
        change
        for change in store.differences(kit.digest, kit.kit_id)
        if change.startswith("added ")
    ]
    if os.path.isdir(path) and foreign:
        raise Refused(
            f"{path} contains files that were not installed: {join_words(foreign, most=8)}",
            hint="move them away, then try again",
        )
