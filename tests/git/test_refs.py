"""What refs mean now, asked of real repositories."""

import shlex
from pathlib import Path

import pytest

from tests.support import gitrepo
from tests.support.gitrepo import git
from vespe.errors import NotFound
from vespe.git import refs
from vespe.git.refs import RemoteRef
from vespe.git.session import Session


def meaning(tmp_path: Path, source: Path, ref: str | None) -> RemoteRef:
    return refs.resolve(
        Session(directory=str(tmp_path / "none.git"), what="the kit", kind="path"), str(source), ref
    )


def test_an_annotated_tag_has_an_object_and_a_commit(tmp_path: Path, home: Path) -> None:
    source = gitrepo.published(tmp_path / "source")
    git(source, "tag", "-a", "v2", "-m", "annotated")
    found = meaning(tmp_path, source, "v2")
    assert (found.name, found.object, found.commit) == (
        "refs/tags/v2",
        git(source, "rev-parse", "v2"),
        git(source, "rev-parse", "HEAD"),
    )
    assert found.object != found.commit


def test_a_whole_commit_is_asked_of_nobody(tmp_path: Path) -> None:
    assert meaning(tmp_path, tmp_path / "nowhere", "a" * 40) == RemoteRef(
        name=None, object="a" * 40, commit="a" * 40
    )


def test_a_ref_that_is_not_there_tells_the_tags_that_are(tmp_path: Path, home: Path) -> None:
    with pytest.raises(NotFound) as missing:
        meaning(tmp_path, gitrepo.published(tmp_path / "source"), "v9")
    assert missing.value.hint == "its tags: v1"


def test_many_tags_are_told_the_newest_first_with_a_command_that_shows_all(
    tmp_path: Path, home: Path
) -> None:
    source = gitrepo.published(tmp_path / "source")
    for number in range(2, 13):
        git(source, "tag", f"v{number}")
    with pytest.raises(NotFound) as missing:
        meaning(tmp_path, source, "v99")
    shown, _, rest = missing.value.hint.partition(" and ")
    assert shown == "its tags: v12, v11, v10, v9, v8" and rest.startswith(
        "7 more (`git ls-remote --tags "
    )
    assert git(source, *shlex.split(rest.split("`")[1])[1:]).count("refs/tags/") == 12


def test_only_the_whole_name_of_a_ref_counts(tmp_path: Path, home: Path) -> None:
    source = gitrepo.published(tmp_path / "source")
    git(source, "branch", "deep/v3")
    with pytest.raises(NotFound):
        meaning(tmp_path, source, "v3")
    assert meaning(tmp_path, source, "deep/v3").name == "refs/heads/deep/v3"
