"""A kit in a plain folder, held to the same rules as one in git: no link is followed, and nothing is opened that could block."""

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from vespe.errors import Refused, StorageError
from vespe.kits import trees
from vespe.kits.trees import KitTree, TreeEntry

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LEFT_OUT: Final = ("__pycache__",)
"""What running a tool there may have made."""


def folder_tree(directory: str, kit_id: str, *, subdirectory: str = "", left_out: Collection[str] = ()) -> KitTree:
    """List a folder as a kit, but for what is called as `left_out` says; contents are read when they are asked for.

    Raises Refused, which names the entry, and StorageError.
    """
    checker = trees.Checker(directory)
    with _opened(directory) as descriptor:
        for entry in _entries(descriptor, "", frozenset(left_out)):
            checker.take(entry)
    files = tuple(sorted(checker.files, key=lambda entry: entry.path))
    return KitTree(kit_id=kit_id, subdirectory=subdirectory, entries=files, read=lambda wanted: _read(directory, wanted))


@contextlib.contextmanager
def _opened(directory: str) -> Iterator[int]:
    try:
        descriptor = os.open(directory, _DIRECTORY)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Refused(f"{directory} is a symbolic link or no directory, so no kit is installed from it") from None
        raise StorageError("read", directory, error) from error
    try:
        yield descriptor
    except OSError as error:
        raise error if isinstance(error, (Refused, StorageError)) else StorageError("read", directory, error) from error
    finally:
        os.close(descriptor)


def _entries(descriptor: int, prefix: str, left_out: frozenset[str]) -> Iterator[TreeEntry]:
    with os.scandir(descriptor) as listing:
        names = (entry.name for entry in listing if entry.name not in _LEFT_OUT and entry.name not in left_out)
        found = list(itertools.islice(names, trees.MAX_ENTRIES + 1))
    for name in sorted(found):
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        mode = _mode(status.st_mode)
        yield TreeEntry(path=prefix + name, mode=mode, size=status.st_size if stat.S_ISREG(status.st_mode) else 0)
        if mode == trees.DIRECTORY:
            deeper = os.open(name, _DIRECTORY, dir_fd=descriptor)
            try:
                yield from _entries(deeper, f"{prefix}{name}/", left_out)
            finally:
                os.close(deeper)


def _mode(mode: int) -> int:
    """The mode as git writes it; what git has none for stays what it is, and is refused as such."""
    if stat.S_ISREG(mode):
        return trees.EXECUTABLE if mode & stat.S_IXUSR else trees.FILE
    return trees.DIRECTORY if stat.S_ISDIR(mode) else stat.S_IFMT(mode)


def _read(directory: str, wanted: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
    with _opened(directory) as root:
        for entry in wanted:
            yield entry, _contents(root, entry, directory)


def _contents(root: int, entry: TreeEntry, directory: str) -> bytes:
    """Read one file, opening one directory after the other, so that no link that came since is followed."""
    *above, name = entry.path.split("/")
    place = os.dup(root)
    try:
        for part in above:
            deeper = os.open(part, _DIRECTORY, dir_fd=place)
            os.close(place)
            place = deeper
        descriptor = os.open(name, _FILE, dir_fd=place)
    except OSError as error:
        raise StorageError("read", os.path.join(directory, entry.path), error) from error
    finally:
        os.close(place)
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused(f"{os.path.join(directory, entry.path)} is no regular file any more")
        return stream.read(entry.size + 1)
