"""A private copy of a directory, hashed while it is copied, so that what was hashed is what the
copy holds.
"""

import contextlib
import functools
import os
import re
import stat
import time
from collections.abc import Iterator

from vespe.files import atomic, staging, walk
from vespe.files.digests import TextDigest, Tree, keeps_line_ends
from vespe.lazy import hashlib

_YOUNG_S = 10.0
_MOST_SEEN = 10_000
_MOST_REMOVED = 16
"""Bounds of one sweep: entries of TMPDIR looked at, and leftover copies removed."""


def is_private_copy(path: str) -> bool:
    """Whether a path leads into such a copy, which is gone when the call is over."""
    return "/.vespe-" in path and bool(re.search(r"/\.vespe-[0-9a-f]{24}\.tmp(/|$)", path))


@contextlib.contextmanager
def private_copy(root: str, *names: str, raw: bool = False) -> Iterator[tuple[str, Tree]]:
    """Copy the directory at `names` beneath `root` and give the copy's path, whose last part is the
    same, and its tree.

    The tree's digests are of text whatever its line ends, or with `raw` of the bytes as they are.

    The copy is beneath TMPDIR (or /tmp), private to this user, and removed afterwards; one whose
    process was killed is removed by the next process that makes one there. Nothing in it may be
    used before the tree was compared with what was approved. Raises StorageError.
    """
    with private_directory() as private:
        copy = os.path.join(private, names[-1])
        yield copy, walk.scan(root, *names, visit=_Copy(copy, raw=raw).visit)


@contextlib.contextmanager
def private_directory(parent: str = "") -> Iterator[str]:
    """Make a directory beneath `parent`, else TMPDIR (or /tmp), that is this user's alone, and
    remove it afterwards, as `private_copy` does.
    """
    parent = os.path.abspath(parent or _temporary())
    _sweep(parent)
    with staging.staging(parent) as private:
        yield private


def _temporary() -> str:
    """Return TMPDIR, or /tmp; where that is shared memory, /tmp, since a process in a sandbox has
    an empty one of its own.
    """
    named = os.environ.get("TMPDIR") or "/tmp"
    return "/tmp" if f"{os.path.realpath(named)}/".startswith("/dev/shm/") else named


class _Copy:
    """Copies each file that a scan visits while it is hashed, so that what was hashed is what the
    copy holds.
    """

    def __init__(self, directory: str, *, raw: bool) -> None:
        self._directory, self._raw = directory, raw

    def visit(self, path: str, descriptor: int, status: os.stat_result) -> str:
        target = os.path.join(self._directory, *path.split("/"))
        with atomic.translated("write", target):
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            mode = 0o700 if status.st_mode & stat.S_IXUSR else 0o600
            written = os.open(
                target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode
            )
        digest = (
            hashlib.sha256()
            if self._raw
            else TextDigest(exact=keeps_line_ends(path, executable=mode == 0o700))
        )
        try:
            for chunk in walk.chunks(descriptor, status):
                digest.update(chunk)
                with atomic.translated("write", target):
                    atomic.write_all(written, chunk)
        finally:
            os.close(written)
        return digest.hexdigest()


@functools.cache
def _sweep(parent: str) -> None:
    """Remove what killed processes of this user left in `parent`, once a process; never what a
    process that lives uses.
    """
    staging.sweep_shared(parent, most_seen=_MOST_SEEN, most_removed=_MOST_REMOVED, is_ours=_is_ours)


def _is_ours(status: os.stat_result) -> bool:
    """Whether a directory is this user's alone, and older than its maker needs to lock it."""
    private = (status.st_uid, stat.S_IMODE(status.st_mode)) == (os.geteuid(), 0o700)
    return private and time.time() - status.st_mtime >= _YOUNG_S
