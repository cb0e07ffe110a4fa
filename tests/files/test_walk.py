"""The walk over a tree: every kind of odd path, bounds, and files that change meanwhile."""

import base64
import hashlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes.test_process import ROOT
from tests.support.ondisk import interruptible
from vespe.errors import StorageError
from vespe.files import walk
from vespe.files.digests import Tree

VECTORS = sorted((Path(__file__).parents[1] / "cases" / "digests").glob("*.json"))


def plant(root: Path, files: dict[str, Any]) -> Path:
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        spec = content if isinstance(content, dict) else {"text": content}
        target.write_bytes(
            base64.b64decode(spec["base64"]) if "base64" in spec else spec["text"].encode()
        )
        target.chmod(0o755 if spec.get("executable") else 0o644)
    return root


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
def test_p2_the_digest_of_each_frozen_vector_never_changes(tmp_path: Path, vector: Path) -> None:
    case = json.loads(vector.read_text(encoding="utf-8"))
    assert walk.scan(str(plant(tmp_path, case["files"]))).digest == case["digest"]


def test_the_digest_is_what_its_one_line_definition_says(tmp_path: Path) -> None:
    plant(tmp_path, {"b/run": {"text": "x", "executable": True}, "a.txt": "y"})
    lines = (
        f"a.txt\0-\0{hashlib.sha256(b'y').hexdigest()}\n"
        f"b/run\0x\0{hashlib.sha256(b'x').hexdigest()}\n"
    )
    assert walk.scan(str(tmp_path)).digest == "v1:" + hashlib.sha256(lines.encode()).hexdigest()


def test_a_tree_that_is_not_there_is_the_empty_tree(tmp_path: Path) -> None:
    assert walk.scan(str(tmp_path), ".vespe", "tools") == Tree() == walk.scan(str(tmp_path))


def test_an_empty_directory_is_no_difference_since_git_keeps_none(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "1"})
    before = walk.scan(str(tmp_path)).digest
    (tmp_path / "empty").mkdir()
    assert walk.scan(str(tmp_path)).digest == before


def test_a_large_text_is_normalised_and_a_large_binary_is_not(tmp_path: Path) -> None:
    text = b"0123456789abcd\r\n" * 150_000
    (tmp_path / "text.md").write_bytes(text)
    (tmp_path / "binary").write_bytes(text + b"\0")
    files = walk.scan(str(tmp_path)).files
    assert files["text.md"].sha256 == hashlib.sha256(text.replace(b"\r\n", b"\n")).hexdigest()
    assert files["binary"].sha256 == hashlib.sha256(text + b"\0").hexdigest()


def test_a_symbolic_link_is_odd_wherever_it_leads(tmp_path: Path) -> None:
    plant(tmp_path, {"tool/main.py": "1"})
    (tmp_path / "tool" / "file").symlink_to("main.py")
    (tmp_path / "tool" / "gone").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(".", target_is_directory=True)
    assert walk.scan(str(tmp_path)).odd == dict.fromkeys(
        ("tool/file", "tool/gone", "loop"), "a symbolic link"
    )


def test_p48_a_fifo_a_socket_and_a_strange_name_are_named_and_block_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        tree = walk.scan(".")
    assert tree.odd == {"fifo": "a FIFO", "socket": "a socket"}
    assert tree.digest is None


def test_a_name_that_is_not_utf8_is_odd(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).touch()
    except OSError as error:
        pytest.skip(f"this file system holds no such name: {error}")
    assert walk.scan(str(tmp_path)).odd == {"\\udcff": "a name that is not UTF-8"}


@pytest.mark.skipif(
    not os.path.exists("/dev/null"),
    reason="needs a device, and every system that Vespe runs on has this one",
)
def test_a_device_is_odd() -> None:
    assert walk.scan("/dev").odd["null"] == "a device"


def as_anybody(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    """Stand in the directory without root's right to read everything."""
    directory.chmod(0o755)
    monkeypatch.chdir(directory)
    if os.geteuid() == 0:
        os.seteuid(65534)


def test_what_cannot_be_read_is_odd_and_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, {"shut/inner": "1", "file": "2", "open": "3"})
    (tmp_path / "file").chmod(0)
    (tmp_path / "shut").chmod(0)
    user = os.geteuid()
    as_anybody(monkeypatch, tmp_path)
    try:
        tree = walk.scan(".")
    finally:
        os.seteuid(user)
        (tmp_path / "shut").chmod(0o755)
    assert tree.odd == {
        "file": "unreadable (Permission denied)",
        "shut": "unreadable (Permission denied)",
    }
    assert list(tree.files) == ["open"]


def test_a_root_that_is_a_link_a_file_or_shut_is_odd_as_a_whole(tmp_path: Path) -> None:
    plant(tmp_path, {"real/tools/a": "1", "file": "2"})
    (tmp_path / "link").symlink_to("real")
    assert list(walk.scan(str(tmp_path), "link", "tools").odd) == [""]
    assert list(walk.scan(str(tmp_path), "file").odd) == [""]
    assert walk.scan(str(tmp_path), "real", "tools").digest


def test_the_walk_is_bounded_in_entries_depth_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, {"/".join("d" * 70) + "/f": "1"})
    assert "levels" in next(iter(walk.scan(str(tmp_path)).odd.values()))
    monkeypatch.setattr(walk, "MAX_ENTRIES", 2)
    assert "over 2 files" in next(iter(walk.scan(str(tmp_path)).odd.values()))
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2 * 1024**3)
    monkeypatch.setattr(walk, "MAX_ENTRIES", 1000)
    assert "bytes" in walk.scan(str(tmp_path)).odd["sparse"]


@pytest.mark.parametrize("length", [0, 5])
def test_a_file_that_changes_its_length_while_it_is_read_is_odd(
    tmp_path: Path, length: int
) -> None:
    plant(tmp_path, {"a": "123"})

    def visit(path: str, descriptor: int, status: os.stat_result) -> str:
        os.truncate(tmp_path / "a", length)
        return walk.hash_file(path, descriptor, status)

    assert walk.scan(str(tmp_path), visit=visit).odd == {"a": "changed while it was read"}


def test_a_file_that_vanishes_between_listing_and_reading_is_odd(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "1", "b": "2"})

    def visit(path: str, descriptor: int, status: os.stat_result) -> str:
        (tmp_path / "b").unlink()
        return walk.hash_file(path, descriptor, status)

    assert walk.scan(str(tmp_path), visit=visit).odd == {"b": "removed while it was read"}


LARGE = """
import os, signal
from vespe.files import walk as file_walk, private_copy; from vespe.processes import signals
def read(descriptor, count):
    reads.append(count)
    os.kill(os.getpid(), signal.SIGINT)
    return b"x"
reads, os.read = [], read
before = len(os.listdir("/dev/fd"))
try:
    with signals.raise_on_signals(), private_copy.private_copy(os.environ["OF"], "tool"):
        print("copied")
except KeyboardInterrupt:
    print(len(reads), len(os.listdir("/dev/fd")) - before, os.listdir(os.environ["TMPDIR"]))
"""


def test_p31_ctrl_c_ends_the_reading_of_a_large_tree_and_what_was_copied_is_gone(
    tmp_path: Path,
) -> None:
    plant(tmp_path / "tool", {f"{number}.txt": "x" for number in range(9)})
    (tmp_path / "scratch").mkdir()
    environment = interruptible(TMPDIR=str(tmp_path / "scratch"), OF=str(tmp_path))
    said = subprocess.run(
        [sys.executable, "-c", LARGE],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (said.stdout, said.stderr) == ("1 0 []\n", "")


def test_an_error_while_reading_is_odd_and_a_storage_error_of_the_visitor_ends_the_scan(
    tmp_path: Path,
) -> None:
    plant(tmp_path, {"a": "1"})

    def failing(path: str, descriptor: int, status: os.stat_result) -> str:
        raise OSError(5, "Input/output error")

    def full(path: str, descriptor: int, status: os.stat_result) -> str:
        raise StorageError("write", "/copy", OSError(28, "No space left on device"))

    assert walk.scan(str(tmp_path), visit=failing).odd == {"a": "unreadable (Input/output error)"}
    with pytest.raises(StorageError, match="No space left"):
        walk.scan(str(tmp_path), visit=full)
