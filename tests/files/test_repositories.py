"""The repositories of a project: found where they lie, and what is new of what others execute."""

import importlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from vespe.files import locations, repositories
from vespe.files.repositories import Executed
from vespe.files.stamps import are_settled, stamp


def git(place: Path, *argv: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", str(place), *own, *argv], check=True, capture_output=True)


def found(root: Path) -> set[str]:
    return {os.path.relpath(path, root) for path in repositories.find_repositories(str(root)).found}


def made(place: Path) -> Path:
    place.mkdir(parents=True)
    git(place, "init", "-q")
    git(place, "commit", "--allow-empty", "-qm", "one")
    return place


def test_submodules_worktrees_and_what_a_walk_finds_are_there(home: Path, tmp_path: Path) -> None:
    other, root = made(tmp_path / "other"), made(tmp_path / "project")
    git(root, "submodule", "add", "-q", str(other), "libs/deep/sub")
    git(root, "worktree", "add", "-q", str(root / "trees/deep/one"))
    git(root, "worktree", "add", "-q", str(tmp_path / "outside"))
    for name in ("a/b/c/own", "node_modules/x/y"):
        made(root / name)
    (root / "linked").symlink_to(other)
    expected = {".git", "libs/deep/sub/.git", "trees/deep/one/.git", "a/b/c/own/.git"}
    assert found(root) == expected
    made(root / "late")
    made(root / "a/late")  # deeper: found by the next look
    assert found(root) == {*expected, "late/.git", "a/late/.git"}
    (root / "a/b/c/own/.git").rename(root / "a/b/c/own/x")
    assert "a/b/c/own/.git" not in found(root)


def test_projects_in_a_project_are_there_at_once_or_by_the_walk(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    for name in ("own", "deep/a/b", "node_modules/x", ""):
        (root / name / ".vespe").mkdir(parents=True)
    assert found(root) == {".vespe", "own/.vespe", "deep/a/b/.vespe"}
    (root / "late/.vespe").mkdir(parents=True)
    assert "late/.vespe" in found(root)


def test_a_look_finds_what_was_made_moved_and_replaced_since(home: Path, tmp_path: Path) -> None:
    def now() -> set[str]:
        seen = repositories.find_repositories(str(root), anew=True)
        return {os.path.relpath(path, root) for path in (*seen.found, *seen.others)}

    root, other = tmp_path / "project", made(tmp_path / "other/deep")
    (root / "a/b/c").mkdir(parents=True)
    (root / "x/y").mkdir(parents=True)
    assert now() == set()
    made(root / "a/b/c/d")
    assert now() == {"a/b/c/d/.git"}
    (root / "a/b").rename(root / "x/y/b")
    assert now() == {"x/y/b/c/d/.git"}
    (root / "x/y/.envrc").touch()
    for name in ("HEAD", "objects", "refs"):
        (root / "x/bare" / name).mkdir(parents=True)
    assert now() == {"x/y/b/c/d/.git", "x/y/.envrc", "x/bare/HEAD"}
    (root / "x").rename(tmp_path / "gone")
    (root / "x").symlink_to(other.parent)
    assert now() == set()


def test_a_walk_is_kept_for_the_next_process_and_made_anew_when_it_is_old(
    home: Path, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    (root / "a/b/c/.hg").mkdir(parents=True)
    assert found(root) == {"a/b/c/.hg"}
    (root / "a/b/d/.jj").mkdir(parents=True)
    importlib.reload(repositories)  # as another process has it
    assert found(root) == {"a/b/c/.hg", "a/b/d/.jj"}  # a look, by the marks that were kept
    (root / "a/b/e/.jj").mkdir(parents=True)
    directory = Path(locations.user_cache_dir()) / "repositories"
    (kept,) = (path for path in directory.iterdir() if not path.suffix)
    (directory / f"{kept.name}.marks").write_text("{", encoding="utf-8")
    for text in (
        kept.read_text("utf-8").replace('"until": 1', '"until": 0'),
        "[]",
        "{",
        '{"a": 1}',
        "[" * 100_000,
    ):
        kept.write_text(text, encoding="utf-8")
        importlib.reload(repositories)
        assert found(root) == {"a/b/c/.hg", "a/b/d/.jj", "a/b/e/.jj"}


def test_what_is_new_of_what_others_execute_is_told(tmp_path: Path) -> None:
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    before = Executed([str(tmp_path), str(tmp_path / "lib")])
    (tmp_path / "lib/.git").write_text("gitdir: ../x", encoding="utf-8")
    for name in (".envrc", "HEAD", ".git/hooks/pre-commit", ".git/hooks/pre-push.sample"):
        (tmp_path / name).touch()
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    assert {os.path.relpath(path, tmp_path) for path in before.new()} == {
        "lib/.git",
        ".envrc",
        "HEAD",
        ".git/hooks/pre-commit",
    }


def test_what_is_new_in_directories_that_are_old_is_told(tmp_path: Path) -> None:
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    (tmp_path / "bare/refs").mkdir(parents=True)
    (tmp_path / "bare/HEAD").symlink_to("refs/later")
    (tmp_path / "bare/objects").mkdir()
    places = [str(tmp_path), str(tmp_path / "lib"), str(tmp_path / "bare")]
    while not are_settled(map(stamp, places)):
        time.sleep(0.01)
    before = Executed(places)
    assert before.new() == []
    (tmp_path / "lib/.git").write_text("gitdir: ../x", encoding="utf-8")
    (tmp_path / ".git/hooks/pre-commit").touch()
    (tmp_path / "bare/refs/later").touch()
    assert {os.path.relpath(path, tmp_path) for path in before.new()} == {
        "lib/.git",
        "bare/HEAD",
        ".git/hooks/pre-commit",
    }


@pytest.mark.parametrize("count", [3, 5])
def test_a_project_with_too_many_directories_is_known_in_part(
    home: Path, tmp_path: Path, count: int
) -> None:
    for number in range(count):
        (tmp_path / f"project/{number}").mkdir(parents=True)
    made = repositories.find_repositories(str(tmp_path / "project"), most=4)
    assert made.whole is (count < 4)


def test_what_was_listed_in_a_project_is_not_new_and_what_came_since_is(
    home: Path, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    (root / ".vespe").mkdir(parents=True)
    (root / ".envrc").touch()
    while not are_settled([stamp(str(root))]):
        time.sleep(0.01)
    looked = repositories.find_repositories(str(root))
    before = Executed((str(root),), looked.listed)
    assert before.found == {f"{root}/.vespe", f"{root}/.envrc"} and before.new() == []
    (root / ".hg").mkdir()
    assert before.new() == [f"{root}/.hg"]
    for name in ("HEAD", "objects", "refs"):
        (root / name).mkdir()
    bare = Executed((str(root),), repositories.find_repositories(str(root)).listed)
    assert f"{root}/HEAD" in bare.found and before.new() == [f"{root}/.hg", f"{root}/HEAD"]
