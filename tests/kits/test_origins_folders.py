"""Kits in plain folders: the same rules, nothing followed, nothing that blocks."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from vespe.errors import Refused, StorageError
from vespe.kits import origins


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket may only be 108 bytes long
        try:
            listener.bind(path.name)
        finally:
            os.chdir(here)


ODD: dict[str, Callable[[Path], None]] = {
    "leak": lambda path: path.symlink_to("/etc/passwd"),
    "loop": lambda path: path.symlink_to(path),
    "directory": lambda path: path.symlink_to("/etc"),
    "fifo": os.mkfifo,
    "socket": _socket,
    ".git": Path.mkdir,
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("inside", ["", "tool-a"])
def test_p11_an_odd_entry_refuses_the_folder_by_name(
    name: str, inside: str, tmp_path: Path
) -> None:
    (tmp_path / inside).mkdir(exist_ok=True)
    ODD[name](tmp_path / inside / name)
    with pytest.raises(Refused, match=name):
        origins.folder_tree(str(tmp_path), "weather")


def test_p11_a_device_refuses_the_folder() -> None:
    with pytest.raises(Refused):
        origins.folder_tree("/dev", "weather")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads whatever the mode says")
def test_p11_what_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "x").touch(0o000)
    tree = origins.folder_tree(str(tmp_path), "weather")
    with pytest.raises(StorageError):
        list(tree.read(tree.entries))


def test_p11_a_file_that_becomes_a_link_after_the_listing_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x", encoding="utf-8")
    tree = origins.folder_tree(str(tmp_path), "weather")
    (tmp_path / "x").unlink()
    (tmp_path / "x").symlink_to("/etc/passwd")
    with pytest.raises(StorageError):
        list(tree.read(tree.entries))


def test_a_folder_is_its_files_without_byte_code(tmp_path: Path) -> None:
    (tmp_path / "tool-a" / "__pycache__").mkdir(parents=True)
    (tmp_path / "tool-a" / "__pycache__" / "x.pyc").write_bytes(b"x")
    (tmp_path / "tool-a" / "run").write_text("é", encoding="utf-8")
    (tmp_path / "tool-a" / "run").chmod(0o755)
    tree = origins.folder_tree(str(tmp_path), "weather")
    assert [(e.path, e.executable, data) for e, data in tree.read(tree.entries)] == [
        ("tool-a/run", True, "é".encode())
    ]


def test_a_link_to_a_folder_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    with pytest.raises(Refused, match="symbolic link"):
        origins.folder_tree(str(tmp_path / "link"), "weather")
