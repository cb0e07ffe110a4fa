"""A repository held in memory says what git itself says of it."""

import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kits.test_fetch import TREES
from tests.support import gitrepo
from vespe.errors import NotFound, Refused, TimedOut
from vespe.files.entries import EXECUTABLE, FILE, TreeEntry
from vespe.git import batch
from vespe.git import objects as git_objects
from vespe.git import session as git_session
from vespe.git.session import Object, Session


def session_of(source: Path) -> Session:
    """One that asks the repository itself, so that nothing is fetched and no fsck comes before."""
    return Session(directory=str(source / ".git"), what="the kit", kind="path")


def whole(here: Session) -> Session:
    return dataclasses.replace(
        here,
        objects=batch.parsed(
            here, git_session.run(here, *batch.QUESTION, cap_bytes=batch.MAX_BYTES)
        ),
    )


def listed(here: Session, tree: str, *paths: str, recursive: bool = True) -> list[TreeEntry]:
    return list(git_objects.list_tree(here, tree, *paths, recursive=recursive))


@pytest.fixture
def here(tmp_path: Path, home: Path) -> Session:
    source = gitrepo.published(tmp_path / "source", "rain", "sun")
    (source / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (source / "run").chmod(0o755)
    (source / "rain" / "é").mkdir()
    (source / "rain" / "é" / "ü").write_bytes(b"\0\n" * 400)
    gitrepo.commit(source)
    gitrepo.git(source, "repack", "-adq")
    return session_of(source)


def commit_of(here: Session, name: str = "HEAD") -> str:
    return gitrepo.git(Path(here.directory), "rev-parse", name)


@pytest.mark.parametrize("row", TREES, ids=lambda row: str(row["name"]))
def test_p9_a_hostile_tree_is_listed_as_git_lists_it(
    row: dict[str, Any], tmp_path: Path, home: Path
) -> None:
    here = session_of(gitrepo.hostile(tmp_path / "source", row["entries"]))
    commit = commit_of(here, "main")
    try:
        asked: list[TreeEntry] | None = listed(here, commit)
    except Refused:
        asked = None
    try:
        held: list[TreeEntry] | None = listed(whole(here), commit)
    except Refused:
        held = None
    assert asked == held or asked == []


def test_trees_and_files_are_as_git_says(here: Session) -> None:
    held, commit = whole(here), commit_of(here)
    assert listed(held, commit) == listed(here, commit)
    assert listed(held, commit, recursive=False) == listed(here, commit, recursive=False)
    assert listed(held, f"{commit}:rain/é") == listed(here, f"{commit}:rain/é")
    paths = ("rain/kit_config.json", "run", "sun/nothing")
    assert listed(held, commit, *paths, recursive=False) == listed(
        here, commit, *paths, recursive=False
    )
    files = [entry for entry in listed(here, commit) if entry.mode in (FILE, EXECUTABLE)][::-1]
    assert (
        list(git_objects.read_blobs(held, files)) == list(git_objects.read_blobs(here, files))
        and len(files) > 4
    )


@pytest.mark.parametrize("path", ["nowhere", "run", "rain/nowhere", "rain/kit_config.json"])
def test_a_directory_that_is_not_there_is_not_found(path: str, here: Session) -> None:
    with pytest.raises(NotFound):
        listed(whole(here), f"{commit_of(here)}:{path}")


def test_a_tag_of_a_tag_is_peeled_to_its_commit_and_what_leads_to_none_is_none(
    here: Session, tmp_path: Path
) -> None:
    for name, target in (("one", "HEAD"), ("two", "one"), ("leaf", "HEAD:run")):
        gitrepo.git(tmp_path / "source", "tag", "-a", name, target, "-m", "x")
    held = whole(here)
    assert batch.commit_of(held.objects, commit_of(here, "two")) == commit_of(here)
    for name in ("leaf", "HEAD^{tree}"):
        assert batch.commit_of(held.objects, commit_of(here, name)) is None
    assert batch.commit_of({"1" * 40: Object(b"tag", b"object ?")}, "1" * 40) is None


@pytest.mark.parametrize(
    "said",
    [b"?", b"1" * 40 + b" blob 3\nab\n", b"1" * 40 + b" blob 1\nab\n", b"1" * 40 + b" missing\n"],
)
def test_what_is_no_answer_of_git_s_is_refused(said: bytes) -> None:
    with pytest.raises(Refused, match="cannot read whole"):
        batch.parsed(Session(directory="/nowhere", what="the kit", kind="path"), said)


def test_p10_a_small_pack_of_much_is_left_at_the_bound(tmp_path: Path, home: Path) -> None:
    source = gitrepo.published(tmp_path / "source")
    (source / "zeros").write_bytes(bytes(batch.MAX_BYTES + 1))
    commit = gitrepo.commit(source)
    here = Session(directory=str(tmp_path / "ours.git"), what="the kit", kind="path")
    assert git_objects.fetch(here, str(source), commit) == commit and here.objects == {}
    assert "zeros" in [entry.path for entry in git_objects.list_tree(here, commit)]


def test_p10_a_listing_without_end_is_left_at_its_bound(
    here: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_objects, "_MAX_LISTING", 100)
    with pytest.raises(Refused, match="lists more than"):
        listed(whole(here), commit_of(here))


def test_p10_one_tree_in_many_places_is_left_at_the_bound_even_where_nothing_of_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = b"".join(b"160000 %d\0" % number + bytes(20) for number in range(100))
    top = b"".join(b"40000 d%d\0" % number + b"\x33" * 20 for number in range(100))
    objects = {
        "1" * 40: Object(b"commit", b"tree " + b"2" * 40 + b"\n"),
        "2" * 40: Object(b"tree", top),
        "3" * 40: Object(b"tree", many),
    }
    here = Session(directory="/nowhere", what="the kit", kind="path", objects=objects)
    monkeypatch.setattr(batch, "MAX_BYTES", len(top) + 50 * len(many))
    with pytest.raises(Refused, match="lists more than"):
        listed(
            here,
            "1" * 40,
            *(f"d{number}/kit_config.json" for number in range(100)),
            recursive=False,
        )


def test_p10_what_is_held_is_not_read_past_the_deadline(here: Session) -> None:
    held, commit = whole(here), commit_of(here)
    files = [entry for entry in listed(held, commit) if entry.mode == FILE]
    late = dataclasses.replace(held, deadline=0.0)
    with pytest.raises(TimedOut):
        listed(late, commit)
    with pytest.raises(TimedOut):
        list(git_objects.read_blobs(late, files))


@pytest.mark.parametrize(
    "tree",
    [
        b"100644 a",
        b"100644 a\0" + bytes(19),
        b"644a\0" + bytes(20),
        b"10x644 a\0" + bytes(20),
        b"100644 a\0" + bytes(20),
        b"\0",
        b" \0",
    ],
)
def test_a_tree_that_is_none_of_git_s_is_refused(tree: bytes) -> None:
    objects = {
        "1" * 40: Object(b"commit", b"tree " + b"2" * 40 + b"\n"),
        "2" * 40: Object(b"tree", tree),
    }
    with pytest.raises(Refused):
        listed(
            Session(directory="/nowhere", what="the kit", kind="path", objects=objects), "1" * 40
        )


def test_bytes_that_are_not_as_listed_are_refused(here: Session) -> None:
    held = whole(here)
    entry = next(entry for entry in listed(held, commit_of(here)) if entry.path == "run")
    for wrong in (entry._replace(size=1), entry._replace(key="1" * 40)):
        with pytest.raises(Refused):
            list(git_objects.read_blobs(held, [wrong]))


def test_git_is_started_once_for_all_the_reading(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = gitrepo.published(tmp_path / "source", "rain", "sun")
    here = Session(directory=str(tmp_path / "ours.git"), what="the kit", kind="path")
    commit = git_objects.fetch(here, str(source), gitrepo.git(source, "rev-parse", "HEAD"))
    subprocess.run(["rm", "-r", here.directory], check=True)
    files = [entry for entry in listed(here, commit) if entry.mode == FILE]
    assert len(list(git_objects.read_blobs(here, files))) == len(files) > 1
