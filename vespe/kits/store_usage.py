"""What the store of installed kits holds, which locks need it, and taking out what none needs."""

import os
from collections.abc import Iterable

from vespe import defaults
from vespe.errors import StorageError
from vespe.kits import lock as kit_lock
from vespe.kits import store
from vespe.models import JsonObject
from vespe.records import dataclass, json_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKit:
    """One installed kit: `size` in bytes, and the locks on this machine that need it (paths,
    sorted; `()` for none known).
    """

    digest: str
    kit_id: str
    size: int
    used_by: tuple[str, ...]

    @property
    def users(self) -> tuple[str, ...]:
        """The projects of those locks; the lock itself where it is the user's own."""
        inner = {lock: os.path.dirname(lock) for lock in self.used_by}
        return tuple(
            os.path.dirname(at) if os.path.basename(at) == defaults.PROJECT_DIR else lock
            for lock, at in inner.items()
        )

    def to_json(self) -> JsonObject:
        """Return the kit as `cache list --json` prints it."""
        return json_of(self, "kit_id", "digest", "size", "users", size="bytes", users="used_by")


def stored_kits() -> tuple[StoredKit, ...]:
    """Return every kit of the store, by id. Raises InvalidDocument where a known lock cannot be
    read: then nobody knows what it needs.
    """
    needed: dict[str, list[str]] = {}
    for path in kit_lock.known_locks():
        for kit in kit_lock.read_lock(path).values():
            needed.setdefault(kit.digest, []).append(path)
    found = (_stored(digest, needed.get(digest, ())) for digest in store.stored())
    return tuple(sorted(found, key=lambda kit: (kit.kit_id, kit.digest)))


def clean(kits: Iterable[StoredKit]) -> tuple[StoredKit, ...]:
    """Take those of the kits out of the store that no known lock needs now, and give them; what
    killed processes left goes too.

    Raises InvalidDocument as `stored_kits` does, and StorageError; what was taken out by then stays
    out.
    """
    gone = []
    with store.locked():
        store.sweep()
        needed = kit_lock.digests_in_use()
        for kit in kits:
            if kit.digest not in needed:
                store.remove(kit.digest)
                gone.append(kit)
    return tuple(gone)


def _stored(digest: str, used_by: Iterable[str]) -> StoredKit:
    place = store.place_of(digest)
    try:
        with os.scandir(place) as entries:
            kit_id = next(
                (
                    entry.name
                    for entry in sorted(entries, key=lambda e: e.name)
                    if entry.is_dir(follow_symlinks=False)
                ),
                "",
            )
        size = sum(
            os.lstat(os.path.join(where, name)).st_size
            for where, _, names in os.walk(place, onerror=_raise)
            for name in names
        )
    except OSError as error:
        raise StorageError("read", place, error) from error
    return StoredKit(digest=digest, kit_id=kit_id, size=size, used_by=tuple(sorted(used_by)))


def _raise(error: OSError) -> None:
    raise error
