"""What a lock asks of this machine."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import gitrepo
from tests.support.gitrepo import git
from vespe.errors import InvalidDocument
from vespe.kits import install, sources, store, sync
from vespe.kits import lock as kit_lock
from vespe.kits.fetch import FetchRequest
from vespe.kits.lock import LockedKit


@pytest.fixture
def lock(tmp_path: Path, home: Path) -> str:
    gitrepo.published(tmp_path / "source", "rain", "sun")
    (tmp_path / "project/.vespe").mkdir(parents=True)
    made = kit_lock.project_lock(tmp_path / "project")
    with install.prepare(
        [FetchRequest(source=sources.parse_source(f"{tmp_path}/source@v1"), base="/")]
    ) as shown:
        install.install(shown, made)
    return made


def kits(lock: str) -> dict[str, LockedKit]:
    return kit_lock.read_lock(lock)


def test_only_what_is_missing_or_changed_is_fetched(lock: str, tmp_path: Path) -> None:
    assert sync.missing(kits(lock)) == ()
    Path(store.kit_path(kits(lock)["rain"].digest, "rain"), "kit_config.json").write_text(
        "{}", encoding="utf-8"
    )
    assert [kit.kit_id for kit in sync.missing(kits(lock))] == ["rain"]
    with sync.prepare(kits(lock), lock) as shown:
        assert [kit.kit_id for kit in shown.locked] == ["rain"] and shown.unapproved == ()
        sync.apply(shown, lock)
    assert sync.missing(kits(lock)) == ()


def test_each_ref_is_asked_once_and_what_cannot_be_asked_says_why(
    lock: str, tmp_path: Path
) -> None:
    assert sync.moved_refs(kits(lock), lock) == ()
    git(tmp_path / "source", "tag", "-d", "v1")
    (moved,) = sync.moved_refs(kits(lock), lock)
    assert (
        moved.kit_ids == ("rain", "sun")
        and moved.commit is None
        and "neither a tag nor a branch" in moved.why
    )


def test_a_ref_differs_where_it_means_another_commit_or_nobody_can_say() -> None:
    source = sources.parse_source("/kits")
    moved = sync.Moved(source=source, kit_ids=("rain",), locked="a" * 40, commit="a" * 40)
    assert not moved.differs
    assert replace(moved, commit=None).differs and replace(moved, why="gone").differs


def test_an_active_kit_that_is_in_no_root_is_refused(tmp_path: Path, home: Path) -> None:
    (tmp_path / ".vespe").mkdir()
    lock = kit_lock.project_lock(str(tmp_path))
    sync.refuse_uncovered(lock, ())
    with pytest.raises(InvalidDocument, match="does not lock the active kit 'nowhere'"):
        sync.refuse_uncovered(lock, ("nowhere",))
