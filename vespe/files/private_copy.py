"""A private copy of a directory, hashed while it is copied, so that what was hashed is what the copy holds."""

# Whoever uses a copy holds the lock of its directory, which the kernel lets go of when its holder dies, however it dies: a
# copy that nobody locks is left over. A pid in its name would say less: pids come again, and mean nothing in a container.

import contextlib
import fcntl
import functools
import hashlib
import itertools
import os
import re
import stat
import time
from collections.abc import Iterator

from vespe.errors import StorageError
from vespe.files import trees, walk
from vespe.files.digests import TextDigest, Tree
from vespe.processes.signals import whole

_NAME = re.compile(r"vespe-[0-9a-f]{24}")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_YOUNG_S = 10.0
_MOST_SEEN = 10_000
_MOST_REMOVED = 16
"""Bounds of one sweep: entries of TMPDIR looked at, and leftover copies removed."""


@contextlib.contextmanager
@whole
def private_copy(root: str, *names: str, raw: bool = False) -> Iterator[tuple[str, Tree]]:
    """Copy the directory at `names` beneath `root` and give the copy's path, whose last part is the same, and its tree.

    The tree's digests are of text whatever its line ends, or with `raw` of the bytes as they are.

    The copy is beneath TMPDIR (or /tmp), private to this user, and removed afterwards; one whose process was killed is removed
    by the next process that makes one there. Nothing in it may be used before the tree was compared with what was approved.
    Raises StorageError.
    """
    parent = os.path.abspath(os.environ.get("TMPDIR") or "/tmp")
    _sweep(parent)
    private, lock = _private_directory(parent)
    try:
        copy = os.path.join(private, names[-1])
        yield copy, walk.scan(root, *names, visit=_Copy(copy, raw=raw).visit)
    finally:
        trees.delete(private)
        os.close(lock)


class _Copy:
    """Copies each file that a scan visits while it is hashed, so that what was hashed is what the copy holds."""

    def __init__(self, directory: str, *, raw: bool) -> None:
        self._directory, self._raw = directory, raw

    def visit(self, path: str, descriptor: int, status: os.stat_result) -> str:
        target = os.path.join(self._directory, *path.split("/"))
        try:
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            mode = 0o700 if status.st_mode & stat.S_IXUSR else 0o600
            written = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        except OSError as error:
            raise StorageError("write", target, error) from error
        digest = hashlib.sha256() if self._raw else TextDigest(executable=mode == 0o700)
        try:
            for chunk in walk.open_chunks(descriptor, status):
                digest.update(chunk)
                _write(written, chunk, target)
        finally:
            os.close(written)
        return digest.hexdigest()


def _write(descriptor: int, data: bytes, path: str) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        raise StorageError("write", path, error) from error


def _private_directory(parent: str) -> tuple[str, int]:
    """Make a directory of our own, and give its path and the descriptor that holds its lock."""
    path = os.path.join(parent, f"vespe-{os.urandom(12).hex()}")
    try:
        os.mkdir(path, 0o700)
        lock = os.open(path, _DIRECTORY)
    except OSError as error:
        raise StorageError("make", path, error) from error
    with contextlib.suppress(OSError):  # where a file system knows no locks, nobody can take it for left over either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return path, lock


@functools.cache
def _sweep(parent: str) -> None:
    """Remove what killed processes of this user left in `parent`, once a process; never what a process that lives uses."""
    with contextlib.suppress(OSError), os.scandir(parent) as listing:
        named = (entry.path for entry in itertools.islice(listing, _MOST_SEEN) if _NAME.fullmatch(entry.name))
        for path in itertools.islice(filter(_is_left_over, named), _MOST_REMOVED):
            trees.delete(path)


def _is_left_over(path: str) -> bool:
    """Whether a directory is this user's alone, older than its maker needs to lock it, and locked by nobody."""
    try:
        descriptor = os.open(path, _DIRECTORY)
    except OSError:
        return False
    try:
        status = os.fstat(descriptor)
        if (status.st_uid, stat.S_IMODE(status.st_mode)) != (os.geteuid(), 0o700) or time.time() - status.st_mtime < _YOUNG_S:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
