"""A private copy holds what was hashed, belongs to its user alone, and goes away."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vespe.errors import StorageError
from vespe.files import walk
from vespe.files.private_copy import private_copy


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for temporary files, which must be empty again at the end."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    yield directory
    assert list(directory.iterdir()) == []


@pytest.fixture
def original(tmp_path: Path) -> Path:
    directory = tmp_path / "original" / "tool-a"
    (directory / "deep" / "er").mkdir(parents=True)
    (directory / "deep" / "er" / "data.bin").write_bytes(b"\0\r\n" * 1_000_000)
    (directory / "run.sh").write_bytes(b"#!/bin/sh\r\n")
    (directory / "run.sh").chmod(0o755)
    return directory


def test_the_copy_holds_every_byte_and_the_tree_says_the_same_as_a_scan(
    original: Path, scratch: Path
) -> None:
    with private_copy(str(original.parent), "tool-a") as (copy, tree):
        assert tree == walk.scan(str(original)) == walk.scan(copy)
        for name in ("run.sh", "deep/er/data.bin"):
            assert Path(copy, name).read_bytes() == (original / name).read_bytes()


def test_the_copy_is_private_and_keeps_its_name_and_what_may_be_executed(
    original: Path, scratch: Path
) -> None:
    (original / "run.sh").chmod(0o4777)
    with private_copy(str(original.parent), "tool-a") as (copy, _):
        assert os.path.basename(copy) == "tool-a"
        assert stat.S_IMODE(os.stat(os.path.dirname(copy)).st_mode) == 0o700
        assert stat.S_IMODE(os.stat(f"{copy}/run.sh").st_mode) == 0o700
        assert stat.S_IMODE(os.stat(f"{copy}/deep/er/data.bin").st_mode) == 0o600


def test_what_is_odd_is_not_copied(original: Path, scratch: Path) -> None:
    (original / "link").symlink_to("/etc/passwd")
    with private_copy(str(original.parent), "tool-a") as (copy, tree):
        assert dict(tree.odd) == {"link": "a symbolic link"}
        assert sorted(os.listdir(copy)) == ["deep", "run.sh"]


def test_the_copy_goes_away_when_its_use_fails_and_whatever_was_left_in_it(
    original: Path, scratch: Path
) -> None:
    outside = scratch.parent / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    with pytest.raises(RuntimeError), private_copy(str(original.parent), "tool-a") as (copy, _):
        Path(copy, "deep", "link").symlink_to(outside)
        Path(copy, "deep").chmod(0)
        raise RuntimeError
    assert (outside / "kept").exists()


def test_a_directory_that_is_not_there_gives_an_empty_tree(tmp_path: Path, scratch: Path) -> None:
    with private_copy(str(tmp_path), "gone") as (copy, tree):
        assert (tree.files, tree.odd, os.path.exists(copy)) == ({}, {}, False)


def test_a_copy_that_cannot_be_written_is_a_storage_error(
    original: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.makedirs

    def in_the_way(name: str, mode: int = 0o777, exist_ok: bool = False) -> None:
        plain(os.path.dirname(name), mode, exist_ok=True)
        Path(name).touch()

    monkeypatch.setattr(os, "makedirs", in_the_way)
    with (
        pytest.raises(StorageError, match="cannot write"),
        private_copy(str(original.parent), "tool-a"),
    ):
        pytest.fail("there is no copy to use")


def test_without_a_tmpdir_the_copy_is_in_the_systems(
    original: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    with private_copy(str(original.parent), "tool-a") as (copy, _):
        assert copy.startswith("/tmp/.vespe-")
    assert not os.path.exists(os.path.dirname(copy))


KILLED = """
import os, sys
from vespe.files.private_copy import private_copy
with private_copy(sys.argv[1], "tool-a") as (copy, _):
    os.kill(os.getpid(), 9)
"""


def kill_in_use(original: Path, scratch: Path) -> Path:
    """Leave the copy of a process that was killed while it used it, and give its directory, as old
    as a minute.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(original.parent)], env=environment, check=False
    )
    assert done.returncode == -signal.SIGKILL
    (left,) = scratch.iterdir()
    return aged(left)


def aged(directory: Path) -> Path:
    os.utime(directory, (directory.stat().st_atime, directory.stat().st_mtime - 60))
    return directory


def test_p28_the_next_copy_removes_that_of_a_process_that_was_killed(
    original: Path, scratch: Path
) -> None:
    left = kill_in_use(original, scratch)
    assert (left / "tool-a" / "run.sh").exists()
    with private_copy(str(original.parent), "tool-a") as (copy, _):
        assert list(scratch.iterdir()) == [Path(copy).parent]


def test_p28_a_copy_that_a_living_process_uses_is_never_removed(
    original: Path, scratch: Path
) -> None:
    with private_copy(str(original.parent), "tool-a") as (copy, _):
        aged(Path(copy).parent)
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                KILLED.replace("os.kill(os.getpid(), 9)", "pass"),
                str(original.parent),
            ],
            check=False,
        )
        assert (done.returncode, os.path.exists(f"{copy}/run.sh")) == (0, True)


def shared_with_others(left: Path) -> None:
    left.chmod(0o755)


def new(left: Path) -> None:
    os.utime(left)


def renamed(left: Path) -> None:
    left.rename(left.with_name(".vespe-mine.tmp"))


def behind_a_link(left: Path) -> None:
    left.rename(left.parent.parent / "elsewhere")
    left.symlink_to("../elsewhere")


@pytest.mark.parametrize("change", [shared_with_others, new, renamed, behind_a_link])
def test_what_is_not_surely_a_copy_left_over_is_not_removed(
    change: Callable[[Path], None], original: Path, scratch: Path
) -> None:
    left = kill_in_use(original, scratch)
    change(left)
    with private_copy(str(original.parent), "tool-a"):
        assert len(list(scratch.iterdir())) == 2
    (kept,) = scratch.iterdir()
    assert (kept / "tool-a" / "run.sh").exists()
    kept.unlink() if kept.is_symlink() else shutil.rmtree(kept)


def test_one_process_removes_no_more_than_its_bound(original: Path, scratch: Path) -> None:
    for number in range(20):
        directory = scratch / f".vespe-{number:024x}.tmp"
        directory.mkdir(0o700)
        aged(directory)
    with private_copy(str(original.parent), "tool-a"):
        left = list(scratch.iterdir())
    assert len(left) == 20 - 16 + 1
    for directory in scratch.iterdir():
        directory.rmdir()
