"""Moving installed kits to another version: their refs are asked again, and what would change is
gathered before it is approved.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from vespe.documents.near import near
from vespe.errors import KitNotFound, Refused
from vespe.git.commit_id import is_commit
from vespe.kits import changes as kit_changes
from vespe.kits import install, removal, signatures, sources, store, sync
from vespe.kits import lock as kit_lock
from vespe.kits.changes import KitChange
from vespe.kits.fetch import FetchRequest, Progress
from vespe.kits.install import Prepared
from vespe.kits.lock import LockedKit
from vespe.records import dataclass
from vespe.trust import approvals


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Kits at their next version, staged and not installed: `before` what the lock had of each,
    `changes` what differs.
    """

    shown: Prepared
    before: Mapping[str, LockedKit]
    changes: tuple[KitChange, ...]

    @property
    def moved(self) -> tuple[LockedKit, ...]:
        """The kits whose entry in the lock would change, as it would be."""
        return tuple(kit for kit in self.shown.locked if self.before[kit.kit_id] != kit)


def choose(
    kits: Mapping[str, LockedKit], kit_ids: Sequence[str], *, ref: str | None
) -> dict[str, LockedKit]:
    """Return the kits to update, with the ref to ask for: those named, else all; raises
    KitNotFound, Refused for what is no ref.

    A kit that is pinned to a whole commit stays, unless `ref` says where to.
    """
    for kit_id in kit_ids:
        if kit_id not in kits:
            raise KitNotFound(kit_id, close=near(kit_id, kits), among="kit in the lock")
    wanted = [kits[kit_id] for kit_id in dict.fromkeys(kit_ids or kits)]
    if ref is not None:
        return {kit.kit_id: replace(kit, ref=sources.check_ref(ref)) for kit in wanted}
    return {kit.kit_id: kit for kit in wanted if not is_commit(kit.ref)}


@contextmanager
def prepare(
    kits: Mapping[str, LockedKit],
    lock: str,
    *,
    progress: Progress | None = None,
    signer_change: bool = False,
    allowed_signers: str | None = None,
) -> Iterator[Update]:
    """Fetch and stage what the refs of kits mean now, and compare it with what is installed;
    nothing is changed before `apply`.

    Raises Refused where a kit that was signed, as the lock or the last approval of it says, comes
    unsigned or signed by another, unless `signer_change`.
    """
    before = {kit_id: kit for kit_id, kit in kit_lock.read_lock(lock).items() if kit_id in kits}
    groups: dict[tuple[str, str | None], dict[str, str]] = {}
    for kit in kits.values():
        groups.setdefault((kit.source, kit.ref), {})[kit.kit_id] = kit.subdirectory
    requests = [
        FetchRequest(
            source=sync.source_of(kits[next(iter(places))]),
            base=install.base_of(lock),
            places=places,
            allowed_signers=allowed_signers,
        )
        for places in groups.values()
    ]
    with install.prepare(requests, progress=progress) as shown:
        signed = {
            kit_id: replace(kit, signer=kit.signer or approvals.last_signer(kit_id, kit.source))
            for kit_id, kit in before.items()
        }
        locked = (
            signatures.kept_signer(signed.get(kit.kit_id), kit, change=signer_change)
            for kit in shown.locked
        )
        shown = replace(shown, locked=tuple(locked))
        yield Update(shown=shown, before=before, changes=tuple(_changes(shown, before)))


def apply(update: Update, lock: str) -> None:
    """Approve exactly what was shown and pin it; raises Refused where the lock changed meanwhile,
    StorageError.
    """

    def pin(kits: dict[str, LockedKit]) -> None:
        for kit in update.shown.locked:
            if kits.get(kit.kit_id) != update.before[kit.kit_id]:
                raise Refused(
                    f"the lock of {kit.kit_id} was changed in the meantime, so nothing was updated",
                    hint="check the lock, then run the update again",
                )
            kits[kit.kit_id] = kit

    with store.locked():
        install.place(update.shown)
        kit_lock.update_lock(lock, pin)
        removal.tidy(kit.digest for kit in update.before.values())


def _changes(shown: Prepared, before: Mapping[str, LockedKit]) -> Iterator[KitChange]:
    for staged in shown.staged:
        old = before[staged.kit_id]
        if old.digest == staged.digest:
            continue
        # and where its commit is gone too, it never will be here
        if store.differences(old.digest, old.kit_id):
            was = kit_changes.NOT_HERE
        else:
            was = (store.kit_path(old.digest, old.kit_id), store.manifest(old.digest))
        yield kit_changes.compare(staged.kit_id, old=was, new=(staged.path, staged.files))
