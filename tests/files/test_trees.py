"""Trees of files: whole or not at all, and never through a link."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, Refused, StorageError, UsageError
from vespe.files import trees
from vespe.files.trees import TreeFile, place_tree, read_tree, remove_tree

FILES = {
    "config.json": TreeFile(data=b"{}"),
    "bin/run": TreeFile(data=b"#!/bin/sh\n", executable=True),
}


def accept(_: str) -> None:
    """Find nothing wrong."""


def test_a_tree_is_placed_with_its_bytes_and_its_executable_bits(tmp_path: Path) -> None:
    place = place_tree(str(tmp_path), "tool-a", FILES, check=accept)
    assert place == str(tmp_path / "tool-a") and read_tree(place) == FILES
    assert os.listdir(tmp_path) == ["tool-a"]


def test_what_the_check_refuses_leaves_nothing(tmp_path: Path) -> None:
    def refuse(staged: str) -> None:
        assert sorted(os.listdir(staged)) == ["bin", "config.json"]
        raise UsageError("no")

    def fail(_: str) -> None:
        raise StorageError("read", "elsewhere", OSError(errno.EIO, "broken"))

    with pytest.raises(UsageError):
        place_tree(str(tmp_path), "tool-a", FILES, check=refuse)
    with pytest.raises(StorageError, match="cannot read elsewhere"):
        place_tree(str(tmp_path), "tool-a", FILES, check=fail)
    assert os.listdir(tmp_path) == []


def test_a_place_that_is_taken_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "tool-a").mkdir()
    with pytest.raises(StorageError) as caught:
        place_tree(str(tmp_path), "tool-a", FILES, check=accept)
    assert caught.value.details["errno"] == errno.EEXIST
    assert list(tmp_path.rglob("*")) == [tmp_path / "tool-a"]


def test_p47_a_disk_that_takes_no_more_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import resource, sys\nfrom vespe.files.trees import *\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try: place_tree(sys.argv[1], 'tool-a', {'a': TreeFile(data=b'x'), 'b': "
        "TreeFile(data=b'x' * 1000)}, check=print)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.startswith(f"StorageError cannot make {tmp_path}/tool-a: ")
    assert os.listdir(tmp_path) == []


def with_failing_flush(number: int, code: str, directory: Path, *more: str) -> str:
    """Run code in a process whose `number`-th fsync fails as that of a broken disk does, and give
    what it prints.
    """
    if not shutil.which("strace"):
        pytest.skip("no strace here: it makes a real fsync fail")
    injected = [
        word
        for what in (f"fsync:error=EIO:when={number}", *more)
        for word in ("-e", f"inject={what}")
    ]
    traced = [
        "strace",
        "-qq",
        "-o",
        os.devnull,
        "-e",
        "trace=fsync,/^rename",
        *injected,
        sys.executable,
        "-B",
        "-c",
        code,
        str(directory),
    ]
    done = subprocess.run(traced, capture_output=True, text=True, encoding="utf-8", check=False)
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here: it makes a real fsync fail")
    return done.stdout + done.stderr


REPORTED = (
    "import sys\nfrom vespe.files.trees import *\ntry: {}\nexcept Exception as error: "
    "print(type(error).__name__, error)\n"
)


def test_p47_a_tree_whose_place_the_disk_does_not_confirm_is_taken_back(tmp_path: Path) -> None:
    code = REPORTED.format(
        "place_tree(sys.argv[1], 'tool-a', {'a': TreeFile(data=b'x')}, check=lambda staged: None)"
    )
    said = with_failing_flush(3, code, tmp_path)  # after those of the file and of its directory
    assert said == f"StorageError cannot make {tmp_path}/tool-a: Input/output error\n"
    assert os.listdir(tmp_path) == []


def test_p47_a_tree_whose_removal_the_disk_does_not_confirm_stays(tmp_path: Path) -> None:
    place_tree(str(tmp_path), "tool-a", FILES, check=accept)
    said = with_failing_flush(1, REPORTED.format("remove_tree(sys.argv[1], 'tool-a')"), tmp_path)
    assert said == f"StorageError cannot remove {tmp_path}/tool-a: Input/output error\n"
    assert os.listdir(tmp_path) == ["tool-a"] and read_tree(str(tmp_path / "tool-a")) == FILES


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def broken_link(path: Path) -> None:
    path.symlink_to("nowhere")


def directory_link(path: Path) -> None:
    path.symlink_to("/etc")


def fifo(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("odd", [link, broken_link, directory_link, fifo])
def test_p11_what_is_no_regular_file_is_not_copied(
    odd: Callable[[Path], None], tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    odd(tmp_path / "inner/odd")
    with pytest.raises(InvalidDocument, match="inner/odd: is not a regular file"):
        read_tree(str(tmp_path))


def test_byte_code_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/a.pyc").write_bytes(b"x")
    (tmp_path / "a.py").write_bytes(b"x")
    assert read_tree(str(tmp_path)).keys() == {"a.py"}


def test_a_tree_is_read_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        (tmp_path / str(number)).write_bytes(b"12345")
    monkeypatch.setattr(trees, "MAX_BYTES", 14)
    with pytest.raises(InvalidDocument, match="is larger than 4 bytes"):
        read_tree(str(tmp_path))
    monkeypatch.setattr(trees, "MAX_FILES", 2)
    with pytest.raises(InvalidDocument, match="more than 2 files"):
        read_tree(str(tmp_path))
    (tmp_path / "/".join("d" * 20)).mkdir(parents=True)
    with pytest.raises(InvalidDocument, match="nested deeper than 16"):
        read_tree(str(tmp_path / "d"))


def test_a_directory_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot read"):
        read_tree(str(tmp_path / "gone"))
    with pytest.raises(StorageError, match="cannot make"):
        place_tree(str(tmp_path / "gone"), "tool-a", FILES, check=accept)
    with pytest.raises(StorageError, match="cannot remove"):
        remove_tree(str(tmp_path), "gone")


def test_removing_deletes_the_links_in_a_tree_and_nothing_behind_them(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_bytes(b"x")
    place = Path(place_tree(str(tmp_path), "tool-a", FILES, check=accept))
    (place / "directory").symlink_to(tmp_path / "kept")
    (place / "file").symlink_to(tmp_path / "kept/file")
    remove_tree(str(tmp_path), "tool-a")
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == [
        "kept",
        "kept/file",
    ]


@pytest.mark.parametrize("name", ["", ".", "..", "../kept", "/etc", "a/b", "a\0b"])
def test_p12_only_a_direct_child_is_removed(name: str, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "tools").mkdir()
    with pytest.raises(Refused):
        remove_tree(str(tmp_path / "tools"), name)
    assert sorted(os.listdir(tmp_path)) == ["kept", "tools"]


def test_p12_a_link_is_not_removed_and_neither_is_anything_behind_it(tmp_path: Path) -> None:
    (tmp_path / "kept/tool-a").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    with pytest.raises(Refused, match="symbolic link"):
        remove_tree(str(tmp_path), "link")
    with pytest.raises(Refused, match="symbolic link"):
        remove_tree(str(tmp_path / "link"), "tool-a")
    assert (tmp_path / "kept/tool-a").is_dir() and (tmp_path / "link").is_symlink()


def test_a_file_is_no_tree(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(StorageError):
        remove_tree(str(tmp_path), "file")
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_directory_of_any_name_can_be_removed(tmp_path: Path) -> None:
    for name in ("UPPER CASE", "ünï", ".hidden", "-rf"):
        (tmp_path / name).mkdir()
        remove_tree(str(tmp_path), name)
    assert os.listdir(tmp_path) == []
