"""What git says is changed, in real repositories, with no program of theirs run."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.shipped_kits.shipped import git
from vespe.errors import ToolExecutionError
from vespe.files.confined import Directory, PathRefused
from vespe.git.status import diff, status


@pytest.fixture
def repo(home: Path, tmp_path: Path) -> Path:
    """A repository of one commit, with one file changed since."""
    at = tmp_path / "repo"
    (at / "sub").mkdir(parents=True)
    git(at, "init", "-q", "-b", "main")
    for name in ("a.txt", "sub/b.txt"):
        (at / name).write_text("one\n", encoding="utf-8")
    git(at, "add", ".")
    git(at, "commit", "-qm", "first")
    (at / "a.txt").write_text("two\n", encoding="utf-8")
    return at


def changed(at: Path, path: str = ".") -> list[str]:
    with Directory(at) as directory:
        return status(directory, path=path, run=subprocess.run)


def shown(at: Path, *options: str, path: str = ".") -> str:
    with Directory(at) as directory:
        return diff(directory, *options, path=path, run=subprocess.run)


def noisy(tmp_path: Path) -> str:
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/ran\ncat\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def test_what_is_changed_is_told_and_shown(repo: Path) -> None:
    assert changed(repo) == ["## main", " M a.txt"] and changed(repo, "sub") == ["## main"]
    assert "-one\n+two\n" in shown(repo) and shown(repo, "--cached") == "" == shown(
        repo, "HEAD", "HEAD"
    )


def test_only_what_is_beneath_the_directory_is_told(repo: Path) -> None:
    assert changed(repo / "sub") == ["## main"] and shown(repo / "sub") == ""
    (repo / "sub/b.txt").write_text("two\n", encoding="utf-8")
    assert changed(repo / "sub") == ["## main", " M sub/b.txt"] and "b/sub/b.txt" in shown(
        repo / "sub"
    )


@pytest.mark.parametrize("scope", ["--local", "--worktree", "included"])
def test_a_filter_of_the_repositorys_own_configuration_is_refused_and_not_run(
    repo: Path, tmp_path: Path, scope: str
) -> None:
    git(repo, "config", "extensions.worktreeConfig", "true")
    (repo / ".gitattributes").write_text("*.txt filter=a=b\n", encoding="utf-8")
    if scope == "included":
        git(repo, "config", "include.path", "../more")
        git(repo, "config", "--file", "more", "filter.a=b.clean", noisy(tmp_path))
    else:
        git(repo, "config", scope, "filter.a=b.clean", noisy(tmp_path))
    for ask in (changed, shown):
        with pytest.raises(ToolExecutionError, match=r"filter\.a=b\.clean"):
            ask(repo)
    assert not (tmp_path / "ran").exists()


def test_a_filter_of_the_users_own_configuration_is_the_users_to_run(
    repo: Path, home: Path, tmp_path: Path
) -> None:
    (repo / ".gitattributes").write_text("*.txt filter=mine\n", encoding="utf-8")
    git(repo, "config", "--file", str(home / ".gitconfig"), "filter.mine.clean", noisy(tmp_path))
    assert "-one\n+two\n" in shown(repo) and (tmp_path / "ran").exists()


def test_files_that_the_configuration_puts_elsewhere_are_not_read(
    repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.txt").write_text("the secret\n", encoding="utf-8")
    git(repo, "config", "core.worktree", str(tmp_path / "elsewhere"))
    for ask in (changed, shown):
        with pytest.raises(ToolExecutionError, match=r"core\.worktree"):
            ask(repo)
    (tmp_path / "a.txt").write_text("the secret\n", encoding="utf-8")
    git(repo, "config", "core.worktree", str(tmp_path))
    assert "secret" not in shown(repo)


@pytest.mark.parametrize("path", ["..", "/etc/passwd", "a/../../x", "out/x"])
def test_p17_a_path_that_leads_out_is_refused(repo: Path, path: str) -> None:
    (repo / "out").symlink_to("..")
    with pytest.raises(PathRefused):
        changed(repo, path)


def test_what_git_complains_of_is_a_sentence(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolExecutionError, match=r"git diff failed: .*nowhere"):
        shown(repo, "nowhere")
    with pytest.raises(ToolExecutionError, match="not a git repository"):
        changed(tmp_path)
    (repo / ".git/config").write_text("[broken", encoding="utf-8")
    with pytest.raises(ToolExecutionError, match="config"):
        changed(repo)


def test_without_git_it_is_a_sentence(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError(os.strerror(2))

    with (
        Directory(repo) as directory,
        pytest.raises(ToolExecutionError, match="git is not installed"),
    ):
        status(directory, run=nothing)
