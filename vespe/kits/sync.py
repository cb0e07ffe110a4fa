"""What a lock asks of this machine: which kits are not here, whether their refs moved, and getting
exactly the locked bytes.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from vespe.errors import InvalidDocument, NotFound, SourceUnavailable, TimedOut
from vespe.git.commit_id import is_commit
from vespe.kits import fetch, install, review, roots, sources, store
from vespe.kits import lock as kit_lock
from vespe.kits.fetch import FetchRequest, Progress
from vespe.kits.install import Prepared
from vespe.kits.lock import LockedKit
from vespe.kits.sources import KitSource
from vespe.kits.staging import Staged
from vespe.records import dataclass
from vespe.trust import approvals


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A ref of a lock that means something else now: `commit` is what, None where it is gone or
    cannot be asked (`why`).

    `newer` is a tag of a later version; a ref that has one is told of although it still means the
    locked commit.
    """

    source: KitSource
    kit_ids: tuple[str, ...]
    locked: str
    commit: str | None = None
    why: str = ""
    newer: str = ""

    @property
    def differs(self) -> bool:
        """Whether it means something else than the locked commit now, or nobody can say."""
        return bool(self.why) or self.commit != self.locked


def source_of(kit: LockedKit) -> KitSource:
    """Return the source of a locked kit, with the ref that was asked for."""
    return replace(sources.parse_source(kit.source), ref=kit.ref)


def missing(kits: Mapping[str, LockedKit]) -> tuple[LockedKit, ...]:
    """Return the kits of a lock that the store does not have, or not as they were installed."""
    return tuple(kit for kit in kits.values() if store.differences(kit.digest, kit.kit_id))


def strange_sources(kits: Iterable[LockedKit]) -> tuple[str, ...]:
    """Return the sources that would be connected to, and that nothing was approved from yet: a lock
    comes with a repository.
    """
    strange = (kit for kit in kits if not approvals.is_known_source(kit.digest, kit.source))
    return tuple(
        dict.fromkeys(kit.source for kit in strange if sources.parse_source(kit.source).remote)
    )


def fixed(kit: LockedKit) -> str:
    """Say why the source of a locked kit has nothing newer to ask for; "" where it is asked."""
    if kit.commit is None:
        return "it was not installed from a git repository"
    return "it is locked to a commit" if is_commit(kit.ref) else ""


def moved_refs(kits: Mapping[str, LockedKit], lock: str) -> tuple[Moved, ...]:
    """Ask what the refs of a lock mean now, each once; a source that cannot be asked is in the
    answer, with why.
    """
    found = []
    groups: dict[tuple[str, str | None, str], list[str]] = {}
    for kit in kits.values():
        if kit.commit is not None and not fixed(kit):
            groups.setdefault((kit.source, kit.ref, kit.commit), []).append(kit.kit_id)
    with store.staging() as directory:
        for (_, _, locked), ids in groups.items():
            source = source_of(kits[ids[0]])
            moved = Moved(source=source, kit_ids=tuple(ids), locked=locked)
            try:
                now = fetch.remote_ref(source, install.base_of(lock), directory=directory)
            except (NotFound, SourceUnavailable, TimedOut) as error:
                found.append(replace(moved, why=str(error)))
                continue
            if now is None or now.commit != locked or now.newer:
                found.append(
                    replace(
                        moved,
                        commit=None if now is None else now.commit,
                        newer=now.newer if now else "",
                    )
                )
    return tuple(found)


@contextmanager
def prepare(
    kits: Mapping[str, LockedKit], lock: str, *, progress: Progress | None = None
) -> Iterator[Prepared]:
    """Get what a lock asks for and the store lacks, and gather what has no approval yet; nothing is
    installed before `apply`.

    Raises InvalidDocument where a locked commit is gone, or a source gives other bytes than the
    locked ones, and as `kit_fetch.fetch` does.
    """
    wanted = missing(kits)
    here = [
        kit for kit in kits.values() if kit not in wanted and approvals.find_kit(kit.digest) is None
    ]
    with store.staging() as directory:
        fetched = [
            _fetched(group, lock, install.subdirectory(directory, index), progress)
            for index, group in enumerate(_groups(wanted))
        ]
        yield install.merged([*fetched, *(_present(kit) for kit in here)])


def apply(shown: Prepared, lock: str) -> None:
    """Put what was shown in the store and approve it; the lock stays as it is. Raises
    StorageError.
    """
    with store.locked():
        kit_lock.note_lock(lock)
        install.place(shown)


def refuse_uncovered(lock: str, active_kits: Iterable[str]) -> None:
    """Raise InvalidDocument for an active kit of a project that is neither in its lock nor in a kit
    root.
    """
    root = kit_lock.project_of(lock)
    have = {
        kit.kit_id
        for kit in roots.find_kits(count_tools=False, project=root)
        if kit.problem is None
    }
    for kit_id in active_kits:
        if kit_id not in have:
            reason = f"does not lock the active kit {kit_id!r}, and no kit root contains it"
            hint = (
                "someone who has the kit must commit the lock, which `vespe kit install` writes, "
                "and `vespe kit activate` for the kit of an MCP server"
            )
            raise InvalidDocument(reason, path=lock, hint=hint)


def _groups(kits: tuple[LockedKit, ...]) -> list[list[LockedKit]]:
    """The kits that one fetch gets: of one source, at one commit."""
    groups: dict[tuple[str, str | None], list[LockedKit]] = {}
    for kit in kits:
        groups.setdefault((kit.source, kit.commit), []).append(kit)
    return list(groups.values())


def _fetched(
    kits: list[LockedKit], lock: str, directory: str, progress: Progress | None
) -> Prepared:
    first = kits[0]
    places = {kit.kit_id: kit.subdirectory for kit in kits}
    source = source_of(first)
    request = FetchRequest(
        source=source, base=install.base_of(lock), commit=first.commit, places=places
    )
    try:
        got = install.stage(fetch.fetch(request, directory, progress=progress), directory)
    except NotFound as error:
        if first.commit is None:
            raise
        reason = f"locks {first.source} at {first.commit}, which is no longer available: {error}"
        raise InvalidDocument(
            reason,
            path=lock,
            pointer=f"/kits/{first.kit_id}/commit",
            hint="`vespe kit update` selects another one",
        ) from None
    for kit, staged in zip(kits, got.staged, strict=True):
        if staged.digest != kit.digest:
            reason = (
                f"locks {kit.digest}, but {kit.source} now has {staged.digest}: the files differ "
                "from the pinned ones"
            )
            raise InvalidDocument(
                reason,
                path=lock,
                pointer=f"/kits/{kit.kit_id}/digest",
                hint="find out who changed it; nothing was installed",
            )
    return replace(got, locked=tuple(kits))


def _present(kit: LockedKit) -> Prepared:
    """A kit that the store has, as if it were staged: to be shown, and approved where it is."""
    place = store.place_of(kit.digest)
    files = store.manifest(kit.digest)
    staged = Staged(
        kit_id=kit.kit_id,
        subdirectory=kit.subdirectory,
        place=place,
        digest=kit.digest,
        files=files,
    )
    return Prepared(staged=(staged,), locked=(kit,), reviews=(review.review_kit(staged),))
