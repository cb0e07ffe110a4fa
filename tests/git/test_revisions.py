"""Directories of a git revision, from real repositories."""

import os
import subprocess
from pathlib import Path

import pytest

from vespe.errors import NotFound, UsageError
from vespe.git.revisions import checked_out


def git(directory: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, home: Path) -> Path:
    top = tmp_path / "repository"
    (top / "tools/tool-a/data").mkdir(parents=True)
    (top / "tools/tool-a/config.json").write_text("{}", encoding="utf-8")
    (top / "tools/tool-a/run").write_text("#!/bin/sh\n", encoding="utf-8")
    (top / "tools/tool-a/run").chmod(0o755)
    (top / "tools/tool-a/data/bytes").write_bytes(b"\r\n\0\xff")
    (top / "tools/tool-a/link").symlink_to("/etc/passwd")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "one")
    (top / "tools/tool-a/config.json").write_text('{"changed": true}', encoding="utf-8")
    return top


def test_a_directory_is_as_it_was_committed_under_its_own_name(repository: Path) -> None:
    with checked_out("main:tools/tool-a", cwd=str(repository)) as directory:
        assert os.path.basename(directory) == "tool-a"
        assert Path(directory, "config.json").read_text(encoding="utf-8") == "{}"
        assert Path(directory, "data/bytes").read_bytes() == b"\r\n\0\xff"
        assert os.access(Path(directory, "run"), os.X_OK) and not os.path.lexists(
            Path(directory, "link")
        )
    assert not os.path.exists(directory)


def test_a_path_with_a_dot_is_relative_to_the_directory(repository: Path) -> None:
    with checked_out("HEAD:./tool-a", cwd=str(repository / "tools")) as directory:
        assert os.path.exists(os.path.join(directory, "config.json"))


def test_the_top_of_the_repository_can_be_had(repository: Path) -> None:
    with checked_out("HEAD:", cwd=str(repository)) as directory:
        assert os.listdir(directory) == ["tools"]


@pytest.mark.parametrize(
    "name",
    ["nowhere:tools", "main:none", "main:tools/tool-a/config.json", "--output=x:y", ":tools"],
)
def test_what_git_does_not_have_is_a_usage_error(repository: Path, name: str) -> None:
    with pytest.raises(UsageError), checked_out(name, cwd=str(repository)):
        pass


def test_it_is_said_whether_the_revision_is_missing_or_the_directory(repository: Path) -> None:
    with (
        pytest.raises(UsageError, match="'nowhere' is not a git revision"),
        checked_out("nowhere:tools", cwd=str(repository)),
    ):
        pass
    with (
        pytest.raises(UsageError, match="no directory 'main:none'"),
        checked_out("main:none", cwd=str(repository)),
    ):
        pass


def test_outside_a_repository_nothing_is_found(tmp_path: Path, home: Path) -> None:
    with pytest.raises((NotFound, UsageError)), checked_out("main:tools", cwd=str(tmp_path)):
        pass
