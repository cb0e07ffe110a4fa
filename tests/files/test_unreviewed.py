"""What is new in a project, kept until it was looked at."""

import os
import shutil
from pathlib import Path

import pytest

from vespe.files import unreviewed
from vespe.files.repositories import find_repositories
from vespe.files.unreviewed import New


def paths(new: tuple[New, ...]) -> list[str]:
    return [one.path for one in new]


@pytest.fixture
def begun(project: Path) -> Path:
    """A project whose first call has been, with a repository of its own."""
    (project / "vendor/x/.git").mkdir(parents=True)
    unreviewed.begin(str(project), find_repositories(str(project)))
    return project


def test_what_a_call_has_left_is_told_while_it_is_there_and_until_it_was_reviewed(
    begun: Path,
) -> None:
    for name in (".envrc", "other"):
        (begun / name).touch()
    unreviewed.note(str(begun), [str(begun / ".envrc"), str(begun / "other")], tool="t")
    (begun / "other").unlink()
    (left,) = unreviewed.left(str(begun))
    assert (left.path, left.tool) == (".envrc", "t") and left.when.endswith("UTC")
    unreviewed.review(str(begun), [left])
    assert unreviewed.left(str(begun)) == ()
    unreviewed.note(str(begun), [str(begun / ".envrc")], tool="t")  # it was left once more
    assert paths(unreviewed.left(str(begun))) == [".envrc"]


def test_what_was_not_there_at_the_first_call_is_told(begun: Path) -> None:
    (begun / "a/b/.git").mkdir(parents=True)
    (begun / "vendor/.envrc").touch()
    for name in ("HEAD", "objects", "refs"):
        (begun / "bare" / name).mkdir(parents=True)
    (begun / ".gitmodules").write_text("path = sub\n", encoding="utf-8")
    (begun / "sub/.git").mkdir(parents=True)
    (begun / ".envrc").touch()  # a call looks there itself
    found = unreviewed.elsewhere(str(begun))
    assert sorted(paths(found)) == ["a/b/.git", "bare/HEAD", "vendor/.envrc"]
    unreviewed.review(str(begun), found)
    assert unreviewed.elsewhere(str(begun)) == ()


def test_a_project_without_a_call_has_nothing_new(project: Path) -> None:
    (project / "a/b/.git").mkdir(parents=True)
    assert unreviewed.elsewhere(str(project)) == unreviewed.left(str(project)) == ()


def test_a_project_that_is_moved_keeps_what_is_said_of_it_and_a_copy_has_none(
    begun: Path, tmp_path: Path
) -> None:
    (begun / ".envrc").touch()
    unreviewed.note(str(begun), [str(begun / ".envrc")], tool="t")
    shutil.copytree(begun, tmp_path / "copy")
    assert unreviewed.left(str(tmp_path / "copy")) == ()
    begun.rename(tmp_path / "moved")
    (tmp_path / "link").symlink_to("moved")
    for place in ("moved", "link"):
        assert paths(unreviewed.left(str(tmp_path / place))) == [".envrc"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"root": "/", "known": 1, "left": 2}', "\0", "[" * 100_000]
)
def test_a_broken_record_is_one_that_says_nothing(begun: Path, text: str) -> None:
    kept = next(Path(os.environ["XDG_STATE_HOME"]).glob("vespe/unreviewed/*.json"))
    kept.write_text(text, encoding="utf-8")
    assert unreviewed.left(str(begun)) == unreviewed.elsewhere(str(begun)) == ()
    (begun / ".envrc").touch()
    unreviewed.note(str(begun), [str(begun / ".envrc")], tool="t")
    assert paths(unreviewed.left(str(begun))) == [".envrc"]


def test_one_sentence_names_what_is_new() -> None:
    said = unreviewed.sentence((New(path=".envrc", tool="t", when="now"),))
    assert said.startswith(".envrc was left by a call of 't', and other programs take commands")
    many = tuple(New(path=f"{number}/.git") for number in range(5))
    assert unreviewed.sentence(many).startswith("0/.git, 1/.git, 2/.git and 2 more are new in")
