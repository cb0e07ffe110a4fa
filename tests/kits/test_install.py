"""Installing as a use case: what is staged, pinned and refused; the command's own tests show the
rest.
"""

from pathlib import Path

import pytest

from tests.support import gitrepo
from vespe.errors import Refused
from vespe.kits import install, sources, store
from vespe.kits import lock as kit_lock
from vespe.kits.fetch import FetchRequest
from vespe.kits.lock import LockedKit


def locked(
    kit_id: str,
    *,
    source: str = "/s",
    commit: str | None = "a" * 40,
    digest: str = "0",
    subdirectory: str = "",
) -> LockedKit:
    return LockedKit(
        kit_id=kit_id,
        source=source,
        commit=commit,
        digest=f"v1:{digest * 64}",
        subdirectory=subdirectory,
    )


@pytest.mark.parametrize(
    ("known", "new", "said"),
    [
        (locked("a"), locked("a", source="/t"), "is installed from /s"),
        (locked("a"), locked("a", subdirectory="b"), "is installed from /s"),
        (locked("a"), locked("a", commit="b" * 40, digest="1"), "another version"),
        (locked("a"), locked("b", commit="b" * 40), "another version"),
        (locked("a", commit=None), locked("a", commit=None, digest="1"), "another version"),
    ],
)
def test_what_would_hide_another_version_is_refused(
    known: LockedKit, new: LockedKit, said: str
) -> None:
    with pytest.raises(Refused, match=said):
        install.refuse_conflict({known.kit_id: known}, new)


@pytest.mark.parametrize(
    "new", [locked("a"), locked("b"), locked("b", source="/t", commit="b" * 40)]
)
def test_the_same_again_and_its_neighbours_are_fine(new: LockedKit) -> None:
    install.refuse_conflict({"a": locked("a")}, new)


def test_nothing_is_left_of_what_was_only_prepared(tmp_path: Path, home: Path) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    with install.prepare(
        [FetchRequest(source=sources.parse_source(str(source)), base="/")]
    ) as shown:
        assert [review.kit_id for review in shown.unapproved] == ["rain"] and Path(
            shown.staged[0].path
        ).is_dir()
    assert list(Path(store.store_dir()).iterdir()) == []


def test_a_relative_source_is_kept_from_the_lock_s_base(tmp_path: Path, home: Path) -> None:
    lock, source = kit_lock.project_lock(tmp_path / "p"), sources.parse_source("./kit@v1")
    assert install.kept_source(source, lock, str(tmp_path / "p")).text == "./kit"
    assert install.kept_source(source, lock, str(tmp_path)).text == "../kit"
    assert install.kept_source(source, kit_lock.user_lock(), "/srv").text == "/srv/kit"
    assert install.kept_source(sources.parse_source("/kit"), lock, "/srv").text == "/kit"
