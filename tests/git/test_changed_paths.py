"""What changed since a revision, asked of a real git."""

import os
import subprocess
from pathlib import Path

import pytest

from vespe.errors import NotFound, UsageError
from vespe.git.changed_paths import changed_paths

IDENTITY = (
    "-c",
    "user.name=Test",
    "-c",
    "user.email=test@example.com",
    "-c",
    "commit.gpgsign=false",
)


def git(cwd: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "répo"
    (root / "a dir").mkdir(parents=True)
    for name in ("a dir/kept", "a dir/changed", "renamed", ".gitignore"):
        (root / name).write_text(
            "ignored\n" if name == ".gitignore" else name * 20, encoding="utf-8"
        )
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def names(root: Path, revision: str = "HEAD") -> set[str]:
    real = os.path.realpath(root)
    return {
        os.path.relpath(path, real)
        for path in changed_paths(revision, cwd=str(root))
        if path.startswith(f"{real}/")
    }


def test_changed_new_and_renamed_files_and_their_directories_are_named(repository: Path) -> None:
    assert names(repository) == set()
    (repository / "a dir" / "changed").write_text("other", encoding="utf-8")
    (repository / "ignored").write_text("", encoding="utf-8")
    (repository / "new\nline").write_text("", encoding="utf-8")
    git(repository, "mv", "renamed", "moved")
    assert names(repository) == {"a dir", "a dir/changed", "new\nline", "renamed", "moved"}


def test_it_is_the_same_from_a_directory_within(repository: Path) -> None:
    (repository / "renamed").write_text("other", encoding="utf-8")
    assert changed_paths("HEAD", cwd=str(repository / "a dir")) == changed_paths(
        "HEAD", cwd=str(repository)
    )


@pytest.mark.parametrize(
    "revision", ["", "-x", "--output=x", "no-such", "HEAD:renamed", "HEAD..HEAD"]
)
def test_what_is_no_commit_is_refused(repository: Path, revision: str) -> None:
    with pytest.raises(UsageError):
        changed_paths(revision, cwd=str(repository))


def test_outside_a_work_tree_and_without_git_nothing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFound):
        changed_paths("HEAD", cwd=str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFound):
        changed_paths("HEAD", cwd=str(tmp_path))


def test_a_work_trees_own_configuration_runs_nothing(repository: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {proof}\n", encoding="utf-8")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager"):
        git(repository, "config", key, str(script))
    (repository / "renamed").write_text("other", encoding="utf-8")
    proof.unlink(missing_ok=True)
    assert "renamed" in names(repository)
    assert not proof.exists()
