"""What was asked of the file system, and whether it would be answered the same."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vespe.files.looked import Looked, mounts_told

CALL = ".vespe-" + "0" * 24 + ".tmp"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A place with a link to where a link leads, and a busy directory."""
    for name in ("a/b/c", "way", "end/real", "busy/sub"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a/b/file").write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to("way/on")
    (tmp_path / "way/on").symlink_to("../end/real")
    (tmp_path / "a/dangling").symlink_to("../end/later")
    (tmp_path / "busy/one").touch()
    _grow_old(tmp_path)
    return tmp_path


def _grow_old(root: Path) -> None:
    """Let what was made be older than two changes can be that one cannot tell apart."""
    time.sleep(0.15)
    assert root.exists()


def _noted(tree: Path) -> Looked:
    # in the directories above a test others are at work
    busy = (tree / "busy", *tree.parents)
    noted = Looked(map(str, busy), (str(tree / CALL),))
    noted.place(str(tree / "a/b/c/none"))
    noted.through(str(tree / "link/x"))
    noted.content(str(tree / "a/b/file"))
    noted.place(str(tree / "a/no/such/place"))
    noted.content(str(tree / "a/b/absent"))
    noted.content(str(tree / "a/dangling"))
    noted.place(str(tree / "busy/one"))
    noted.place(str(tree / "busy/later"))
    noted.place(str(tree / "busy/sub"))
    return noted


def _replace(path: Path) -> None:
    """Put another one in its place, under the same name."""
    aside = path.with_name("aside")
    aside.mkdir() if path.is_dir() else aside.write_bytes(path.read_bytes())
    path.rename(path.with_name("gone"))
    aside.rename(path)


def _move(path: Path, name: str) -> None:
    path.rename(path.with_name(name))
    path.symlink_to(name)


def _link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


CHANGES: dict[str, Callable[[Path], object]] = {
    "what was not there is made": lambda tree: (tree / "a/b/c/none").touch(),
    "its directory was not there either": lambda tree: (tree / "a/no/such").mkdir(parents=True),
    "a file that was to be read is made": lambda tree: (tree / "a/b/absent").touch(),
    "a link leads to something now": lambda tree: (tree / "end/later").touch(),
    "a directory above is replaced": lambda tree: _replace(tree / "a"),
    "one above is moved, and a link put there": lambda tree: _move(tree / "a", "moved"),
    "a link on the way leads elsewhere": lambda tree: _link(tree / "way/on", "../end"),
    "the first link does": lambda tree: _link(tree / "link", "end/real"),
    "what it leads to is replaced": lambda tree: _replace(tree / "end/real"),
    "it has what was asked for": lambda tree: (tree / "end/real/x").touch(),
    "a file that was read has another content": lambda tree: (tree / "a/b/file").write_bytes(b"y"),
    "it has another mode": lambda tree: (tree / "a/b/file").chmod(0o711),
    "what was asked for in a busy directory is replaced": lambda tree: _replace(tree / "busy/one"),
    "it is made there": lambda tree: (tree / "busy/later").touch(),
    "a directory there changes": lambda tree: (tree / "busy/sub/new").touch(),
    "the busy directory is replaced": lambda tree: _replace(tree / "busy"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_what_was_asked_is_noticed(
    tree: Path, change: Callable[[Path], object]
) -> None:
    noted = _noted(tree)
    assert noted.settle() and noted.holds() and noted.holds_where_busy()
    change(tree)
    assert not (noted.holds() and noted.holds_where_busy())


def test_what_was_not_asked_may_change(tree: Path) -> None:
    noted = _noted(tree)
    (tree / "busy/other").touch()
    (tree / "busy/one").exists()
    (tree / "a/b/c").chmod(0o700)
    assert noted.holds_where_busy()
    noted = _noted(tree)
    noted.place(str(tree / CALL / "x"))
    noted.place("/proc/1/none")
    (tree / "busy" / CALL).mkdir()
    assert noted.holds_where_busy()


def test_what_changed_just_now_is_not_settled(tree: Path) -> None:
    (tree / "a/b/c/new").touch()
    assert not _noted(tree).settle()


def test_a_list_of_a_busy_directory_says_what_is_there_but_for_what_calls_make(tree: Path) -> None:
    noted = _noted(tree)
    noted.listing(str(tree / "busy"))
    (tree / "busy" / CALL).mkdir()
    assert noted.holds_where_busy()
    (tree / "busy/link").symlink_to("one")
    assert not noted.holds_where_busy()
    noted = _noted(tree)
    noted.listing(str(tree / "a"))
    assert noted.holds()
    (tree / "a/new").touch()
    assert not noted.holds()


def test_a_mount_is_told_and_nothing_else(tmp_path: Path) -> None:
    number = mounts_told()
    (tmp_path / "a").touch()
    assert mounts_told() == number
    child = os.fork()
    if child == 0:
        os._exit(0 if mounts_told() != number else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert mounts_told() == number
