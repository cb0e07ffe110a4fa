"""Taking installed kits out: of the lock first, then of the store where no project that is known needs their bytes."""

import contextlib
import os
from collections.abc import Iterable, Sequence

from vespe.errors import InvalidDocument, KitNotFound, Refused, StorageError
from vespe.kits import lock as kit_lock
from vespe.kits import store
from vespe.kits.lock import LockedKit


def remove(kit_ids: Sequence[str], lock: str) -> tuple[LockedKit, ...]:
    """Take kits out of a lock, which alone makes them gone, then out of the store; give what they were.

    Raises KitNotFound for one that is not locked, Refused where something in its place is not what was installed; nothing is
    changed then. StorageError.
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
    """Take digests out of the store that no known lock needs; the caller holds the store's lock.

    Where a lock cannot be read, nobody knows what it needs, and everything stays; so does what the disk refuses to give up. The lock
    says already that it is gone, and `vespe cache clean` tries again.
    """
    with contextlib.suppress(InvalidDocument, StorageError):
        for digest in set(digests) - kit_lock.digests_in_use():
            store.remove(digest)


def refuse_foreign(kit: LockedKit) -> None:
    """Raise Refused where an installed kit's place holds what was not installed: a link, or files of somebody else."""
    place, path = store.place_of(kit.digest), store.kit_path(kit.digest, kit.kit_id)
    for link in (store.store_dir(), place, path):
        if os.path.islink(link):
            raise Refused(f"{link} is a symbolic link, so nothing behind it is removed", hint="take the link away, and try again")
    foreign = [change for change in store.differences(kit.digest, kit.kit_id) if change.startswith("added ")]
    if os.path.isdir(path) and foreign:
        raise Refused(f"{path} holds what was not installed: {'; '.join(foreign[:8])}", hint="move it away, and try again")
