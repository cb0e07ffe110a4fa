"""Trees and files of a fetched commit, read without a checkout."""

from pathlib import Path

import pytest

from tests.support import gitrepo
from tests.support.gitrepo import git
from vespe.errors import NotFound, Refused
from vespe.files.entries import DIRECTORY, EXECUTABLE, FILE
from vespe.git import objects
from vespe.git.session import Session


@pytest.fixture
def here(tmp_path: Path, home: Path) -> Session:
    source = gitrepo.published(tmp_path / "source")
    (source / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (source / "run").chmod(0o755)
    gitrepo.commit(source)
    return Session(directory=str(source / ".git"), what="the kit", kind="path")


def test_a_tree_is_listed_with_directories_before_what_is_in_them(here: Session) -> None:
    rows = [(entry.path, entry.mode) for entry in objects.list_tree(here, "main")]
    assert rows[:3] == [
        ("run", EXECUTABLE),
        ("weather", DIRECTORY),
        ("weather/kit_config.json", FILE),
    ]
    assert [entry.path for entry in objects.list_tree(here, "main", recursive=False)] == [
        "run",
        "weather",
    ]


def test_files_come_in_the_order_asked_for_whatever_the_batches(
    here: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [entry for entry in objects.list_tree(here, "main") if entry.mode != DIRECTORY][::-1]
    whole = list(objects.read_blobs(here, files))
    monkeypatch.setattr(objects, "_BATCH_BYTES", 1)
    assert list(objects.read_blobs(here, files)) == whole and [entry for entry, _ in whole] == files
    assert {entry.path: data for entry, data in whole}["run"] == b"#!/bin/sh\n"


def test_bytes_that_are_not_as_listed_are_refused(here: Session) -> None:
    entry = next(objects.list_tree(here, "main"))
    with pytest.raises(Refused, match="other bytes"):
        list(objects.read_blobs(here, [entry._replace(size=entry.size - 1)]))


def test_a_tree_that_is_not_there_is_not_found(here: Session) -> None:
    with pytest.raises(NotFound):
        list(objects.list_tree(here, "main:nowhere"))


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_commit_of_either_hash_is_fetched_into_a_repository_of_ours(
    home: Path, tmp_path: Path, form: str
) -> None:
    source = tmp_path / "source"
    git(tmp_path, "init", "-q", "-b", "main", f"--object-format={form}", str(source))
    (source / "a").write_text("a", encoding="utf-8")
    git(source, "add", ".")
    git(source, "commit", "-qm", "first")
    here = Session(directory=str(tmp_path / "ours.git"), what="the kit", kind="path")
    commit = git(source, "rev-parse", "HEAD")
    assert objects.fetch(here, str(source), commit) == commit
    assert [entry.path for entry in objects.list_tree(here, commit)] == ["a"]
    assert git(
        tmp_path / "ours.git", "rev-parse", "--show-object-format", "--is-bare-repository"
    ).split() == [form, "true"]
    assert (
        not (tmp_path / "ours.git/hooks").exists()
        and (tmp_path / "ours.git/config").stat().st_mode & 0o22 == 0
    )


def test_the_default_branch_of_a_local_repository_is_fetched_without_being_asked_for(
    tmp_path: Path, home: Path
) -> None:
    source = gitrepo.published(tmp_path / "source")
    here = Session(directory=str(tmp_path / "ours.git"), what="the kit", kind="path")
    for detached in (False, True):
        if detached:
            git(source, "checkout", "--quiet", "--detach")
            gitrepo.commit(source)
        assert objects.fetch_default(here, str(source)) == git(source, "rev-parse", "HEAD")
        assert here.objects


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_where_that_does_not_come_about_it_is_for_who_asks_first(
    tmp_path: Path, home: Path, form: str
) -> None:
    git(tmp_path, "init", "-q", f"--object-format={form}", str(tmp_path / "source"))
    if form == "sha256":
        gitrepo.commit(tmp_path / "source")
    here = Session(directory=str(tmp_path / "ours.git"), what="the kit", kind="path")
    assert objects.fetch_default(here, str(tmp_path / "source")) is None and not here.objects
    assert objects.fetch_default(here, str(tmp_path / "nowhere")) is None
