"""Moving installed kits to another version: their refs are asked again, and what would change is gathered before it is approved."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from vespe import kit_changes, kit_install, kit_lock, kit_removal, kit_signatures, kit_sources, kit_store, kit_sync
from vespe.errors import KitNotFound, Refused
from vespe.kit_changes import KitChange
from vespe.kit_fetch import Progress, Request
from vespe.kit_install import Prepared
from vespe.kit_lock import LockedKit


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Kits at their next version, staged and not installed: `before` what the lock had of each, `changes` what differs."""

    shown: Prepared
    before: Mapping[str, LockedKit]
    changes: tuple[KitChange, ...]

    @property
    def moved(self) -> tuple[LockedKit, ...]:
        """The kits whose entry in the lock would change, as it would be."""
        return tuple(kit for kit in self.shown.locked if self.before[kit.kit_id] != kit)


def chosen(kits: Mapping[str, LockedKit], kit_ids: Sequence[str], *, ref: str | None) -> dict[str, LockedKit]:
    """Give the kits to update, with the ref to ask for: those named, else all; raises KitNotFound, Refused for what is no ref.

    A kit that is pinned to a whole commit stays, unless `ref` says where to.
    """
    for kit_id in kit_ids:
        if kit_id not in kits:
            raise KitNotFound(kit_id, close=sorted(kits)[:3])
    wanted = [kits[kit_id] for kit_id in dict.fromkeys(kit_ids or kits)]
    if ref is not None:
        return {kit.kit_id: replace(kit, ref=kit_sources.check_ref(ref)) for kit in wanted}
    return {kit.kit_id: kit for kit in wanted if not kit_sources.is_commit(kit.ref)}


@contextmanager
def prepared(
    kits: Mapping[str, LockedKit], lock: str, *, progress: Progress | None = None, signer_change: bool = False
) -> Iterator[Update]:
    """Fetch and stage what the refs of kits mean now, and compare it with what is installed; nothing is changed before `apply`.

    Raises Refused where a kit that was signed comes unsigned or signed by another, unless `signer_change`.
    """
    before = {kit_id: kit for kit_id, kit in kit_lock.read_lock(lock).items() if kit_id in kits}
    groups: dict[tuple[str, str | None], dict[str, str]] = {}
    for kit in kits.values():
        groups.setdefault((kit.source, kit.ref), {})[kit.kit_id] = kit.subdirectory
    requests = [
        Request(source=kit_sync.source_of(kits[next(iter(places))]), base=kit_install.base_of(lock), places=places)
        for places in groups.values()
    ]
    with kit_install.prepared(requests, progress=progress) as shown:
        locked = (kit_signatures.kept_signer(before.get(kit.kit_id), kit, change=signer_change) for kit in shown.locked)
        shown = replace(shown, locked=tuple(locked))
        yield Update(shown=shown, before=before, changes=tuple(_changes(shown, before)))


def apply(update: Update, lock: str) -> None:
    """Approve exactly what was shown and pin it; raises Refused where the lock changed meanwhile, StorageError."""

    def pin(kits: dict[str, LockedKit]) -> None:
        for kit in update.shown.locked:
            if kits.get(kit.kit_id) != update.before[kit.kit_id]:
                raise Refused(f"the lock of {kit.kit_id} changed meanwhile, so nothing was updated", hint="look at it, and update again")
            kits[kit.kit_id] = kit

    with kit_store.locked():
        kit_install.place(update.shown)
        kit_lock.update_lock(lock, pin)
        kit_removal.tidy(kit.digest for kit in update.before.values())


def _changes(shown: Prepared, before: Mapping[str, LockedKit]) -> Iterator[KitChange]:
    for staged in shown.staged:
        old = before[staged.kit_id]
        if old.digest == staged.digest:
            continue
        if kit_store.differences(old.digest, old.kit_id):  # and where its commit is gone too, it never will be here
            was = kit_changes.NOT_HERE
        else:
            was = (kit_store.kit_path(old.digest, old.kit_id), kit_store.manifest(old.digest))
        yield kit_changes.compare(staged.kit_id, old=was, new=(staged.path, staged.files))
