"""Installing kits: fetch, stage, show, approve, put in place, pin; whoever approves is asked
between the two halves.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from vespe.errors import Refused, StorageError
from vespe.kits import fetch, signatures, staging, store
from vespe.kits import lock as kit_lock
from vespe.kits.fetch import Fetched, FetchRequest, Progress
from vespe.kits.lock import LockedKit
from vespe.kits.sources import KitSource
from vespe.kits.staging import Staged
from vespe.records import dataclass
from vespe.trust import approvals

if TYPE_CHECKING:
    from vespe.kits.review import KitReview


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Kits that are written out and not installed: what would be locked, and what to show before
    that is approved.
    """

    staged: tuple[Staged, ...]
    locked: tuple[LockedKit, ...]
    reviews: "tuple[KitReview, ...]" = ()
    fetched: Fetched | None = None
    approved: frozenset[str] = field(default_factory=frozenset)
    newer: Mapping[str, str] = field(default_factory=dict)
    """By kit: the newest tag of its source, where that is of a later version than the one asked
    for.
    """

    @property
    def unapproved(self) -> "tuple[KitReview, ...]":
        """Those that the user has not approved yet, byte for byte."""
        return tuple(review for review in self.reviews if review.digest not in self.approved)


def base_of(lock: str) -> str:
    """Return the directory that relative paths in a lock begin at: a project's root, or where the
    user's own lock is.
    """
    directory = os.path.dirname(lock)
    return directory if lock == kit_lock.user_lock() else os.path.dirname(directory)


def kept_source(source: KitSource, lock: str, cwd: str) -> KitSource:
    """Return a source as the lock keeps it: a relative path begins at the lock's base, so that
    clones of both find each other.
    """
    if source.remote or os.path.isabs(source.text):
        return source
    path = source.path(cwd)
    if lock == kit_lock.user_lock():
        return KitSource(kind=source.kind, text=path, ref=source.ref)
    relative = os.path.relpath(path, base_of(lock))
    return KitSource(
        kind=source.kind,
        text=relative if relative.startswith(".") else f"./{relative}",
        ref=source.ref,
    )


@contextmanager
def prepare(
    requests: Sequence[FetchRequest], *, progress: Progress | None = None
) -> Iterator[Prepared]:
    """Fetch and stage kits, to be shown; nothing is installed when this ends without `install`.
    Raises as `kit_fetch.fetch` does.
    """
    from vespe.kits import review as kit_review

    # it is loaded there
    threading.Thread(target=lambda: kit_review.get_ready(), daemon=True).start()
    with store.staging() as directory:
        yield merged(
            [
                _prepared(request, subdirectory(directory, index), progress)
                for index, request in enumerate(requests)
            ]
        )


def install(shown: Prepared, lock: str, *, replacing: bool = False) -> dict[str, LockedKit]:
    """Approve exactly what was shown, put it in the store, and pin it in the lock, which alone
    makes it installed.

    Gives the lock's kits as they are then. Raises Refused where the lock holds other kits of these
    ids, or another commit of the same source, unless `replacing`; StorageError. Either way the lock
    is wholly old or wholly new.
    """

    def pin(kits: dict[str, LockedKit]) -> None:
        for kit in shown.locked:
            if not replacing:
                refuse_conflict(kits, kit)
            kits[kit.kit_id] = signatures.kept_signer(kits.get(kit.kit_id), kit)

    with store.locked():
        place(shown)
        return kit_lock.update_lock(lock, pin)


def place(shown: Prepared) -> None:
    """Put what was shown in the store and keep its approval; the caller holds the store's lock.
    Raises StorageError.
    """
    staging.confirm(shown.staged)
    for staged, kit in zip(shown.staged, shown.locked, strict=True):
        staging.commit(staged)
        if staged.digest not in shown.approved:
            approvals.store_kit(staged.digest, kit.source, kit_id=kit.kit_id, signer=kit.signer)


def refuse_conflict(kits: dict[str, LockedKit], kit: LockedKit) -> None:
    """Raise Refused where a lock holds the kit from elsewhere, or another commit of its source."""
    known = kits.get(kit.kit_id)
    if known and (known.source, known.subdirectory) != (kit.source, kit.subdirectory):
        hint = f"`vespe kit remove {kit.kit_id}` first, if you want this one instead"
        raise Refused(f"the kit {kit.kit_id} is installed from {known.source}", hint=hint)
    for other in kits.values():
        moved = other.commit != kit.commit or (
            other.kit_id == kit.kit_id and other.digest != kit.digest
        )
        if other.source == kit.source and moved:
            target = f" --to {kit.ref}" if kit.ref else ""
            ids = " ".join(sorted(k.kit_id for k in kits.values() if k.source == kit.source))
            at = other.commit[:12] if other.commit else other.digest[:15]
            raise Refused(
                f"{kit.source} is locked at another version, {at}",
                hint=f"`vespe kit update {ids}{target}`",
            )


def subdirectory(directory: str, index: int) -> str:
    """Make the place in a staging directory where one source is fetched and staged."""
    path = os.path.join(directory, str(index))
    try:
        os.mkdir(path, 0o700)
    except OSError as error:
        raise StorageError("make", path, error) from error
    return path


def _prepared(request: FetchRequest, directory: str, progress: Progress | None) -> Prepared:
    return stage(fetch.fetch(request, directory, progress=progress), directory)


def stage(fetched: Fetched, directory: str) -> Prepared:
    """Write out what was fetched, and gather what it would run."""
    from vespe.kits import review as kit_review

    staged = tuple(staging.stage(tree, directory) for tree in fetched.kits)
    return Prepared(
        staged=staged,
        locked=tuple(_locked(kit, fetched) for kit in staged),
        reviews=tuple(kit_review.review_kit(kit) for kit in staged),
        fetched=fetched,
        approved=frozenset(kit.digest for kit in staged if approvals.find_kit(kit.digest)),
        newer={kit.kit_id: fetched.ref.newer for kit in staged}
        if fetched.ref is not None and fetched.ref.newer
        else {},
    )


def _locked(kit: Staged, fetched: Fetched) -> LockedKit:
    return LockedKit(
        kit_id=kit.kit_id,
        source=fetched.source.text,
        ref=fetched.source.ref,
        commit=fetched.commit,
        subdirectory=kit.subdirectory,
        digest=kit.digest,
        signer=fetched.signer,
        files=tuple(sorted(kit.files)),
    )


def merged(every: Sequence[Prepared]) -> Prepared:
    """Return what several sources have as one."""
    return Prepared(
        staged=tuple(kit for one in every for kit in one.staged),
        locked=tuple(kit for one in every for kit in one.locked),
        reviews=tuple(review for one in every for review in one.reviews),
        fetched=every[0].fetched if len(every) == 1 else None,
        approved=frozenset().union(*(one.approved for one in every)),
        newer={kit_id: tag for one in every for kit_id, tag in one.newer.items()},
    )
