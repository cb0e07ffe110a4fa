"""A commit and a folder look the same before their kits are known."""

from pathlib import Path

import pytest

from tests.support import gitrepo, ondisk
from vespe.errors import NotFound, Refused
from vespe.git.session import Session
from vespe.kits.origins import CommitOrigin, FolderOrigin, Origin


@pytest.fixture(params=["commit", "folder"])
def origin(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Origin:
    source = gitrepo.published(tmp_path / "source", "rain", "sun")
    (source / "other").mkdir()
    (source / "other" / "file").touch()
    gitrepo.commit(source)
    if request.param == "folder":
        return FolderOrigin(path=str(source))
    return CommitOrigin(
        session=Session(directory=str(source / ".git"), what="it", kind="path"), commit="main"
    )


def test_directories_and_those_that_are_kits(origin: Origin) -> None:
    assert origin.directories() == ["other", "rain", "sun"]
    assert origin.with_config(["other", "sun", "rain"]) in (["sun", "rain"], ["rain", "sun"])
    assert origin.with_config([""]) == [] and origin.with_config([]) == []


def test_a_config_and_a_tree(origin: Origin) -> None:
    assert b'"kit_id": "rain"' in origin.config("rain")
    tree = origin.tree("rain", "rain")
    assert (tree.kit_id, tree.subdirectory, tree.entries[0].path) == (
        "rain",
        "rain",
        "kit_config.json",
    )


def test_p9_a_config_that_is_a_link_is_refused(tmp_path: Path, home: Path) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    (source / "rain" / "kit_config.json").unlink()
    (source / "rain" / "kit_config.json").symlink_to("/etc/passwd")
    gitrepo.commit(source)
    session = Session(directory=str(source / ".git"), what="it", kind="path")
    for origin in (FolderOrigin(path=str(source)), CommitOrigin(session=session, commit="main")):
        with pytest.raises(Refused, match="not a regular file"):
            origin.config("rain")


def test_a_folder_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        FolderOrigin(path=str(tmp_path), subdirectory="nowhere").directories()


def test_p11_a_subdirectory_behind_a_link_is_refused(tmp_path: Path) -> None:
    ondisk.write_kit(tmp_path / "elsewhere/kits", "rain")
    (tmp_path / "source/real").mkdir(parents=True)
    (tmp_path / "source/real/link").symlink_to(tmp_path / "elsewhere")
    for subdirectory in ("real/link", "real/link/kits", "real/link/kits/rain"):
        with pytest.raises(Refused, match="symbolic link"):
            FolderOrigin(path=str(tmp_path / "source"), subdirectory=subdirectory).directories()
