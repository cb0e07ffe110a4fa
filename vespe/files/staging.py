"""One way to make a directory whole on disk: made aside, brought to its place in one rename, taken
out in one; leftovers swept.
"""

# Whoever makes a directory holds its lock, which the kernel lets go of when its holder dies,
# however it dies: one that nobody locks is left over. A pid in its name would say less: pids come
# again, and mean nothing in a container.

import contextlib
import errno
import fcntl
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from typing import Final

from vespe.errors import Refused
from vespe.files import atomic
from vespe.lazy import pattern
from vespe.processes.signals import left_behind, uninterruptible

_NAME: Final = pattern(r"\.vespe-[0-9a-f]{24}\.tmp")
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextlib.contextmanager
def staging(parent: str, *, target: str = "") -> Iterator[str]:
    """Make a private directory in `parent`, and delete it afterwards with all that is in it.

    What is made in it comes to its place by `place`. One whose process was killed goes with the
    next `sweep`; so the caller holds the lock of `parent` until this has begun. Raises
    StorageError, which names the `target` where one is given.
    """
    path, held = _aside(parent), -1
    try:
        with uninterruptible(), atomic.translated("make", target or path):
            left_behind[path] = delete
            os.mkdir(path, 0o700)
            held = os.open(path, _DIRECTORY)
            # where a file system knows no locks, nobody can take it for left over either
            with contextlib.suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield path
    finally:
        delete(path)
        left_behind.pop(path, None)
        if held >= 0:
            os.close(held)


def place(staged: str, target: str) -> None:
    """Bring what was staged to its place, where nothing is, in one rename that outlives a crash;
    raises StorageError.
    """
    with atomic.translated("make", target):
        atomic.rename_durably(staged, target)


def remove(path: str) -> None:
    """Take a directory out in one rename, then delete it; links in it are deleted, never followed.

    The caller holds the lock of the directory that it is in. Raises Refused for a link,
    StorageError (FileNotFoundError's errno too) for what the operating system refuses; then it is
    still there.
    """
    parent = os.path.dirname(path)
    for link in (parent, path):
        if os.path.islink(link):
            raise Refused(
                f"{link} is a symbolic link, so what it links to is not removed",
                hint="nothing was removed; remove the link, then try again",
            )
    aside = _aside(parent)
    with uninterruptible():
        with atomic.translated("remove", path):
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            atomic.rename_durably(path, aside)
        delete(aside)


def delete(path: str) -> None:
    """Delete a directory of ours, read-only ones in it too; links are deleted, never followed. What
    cannot be deleted stays.
    """
    with uninterruptible():
        with contextlib.suppress(OSError):  # most are empty
            os.rmdir(path)
            return
        directories = [path]
        for directory in directories:
            with contextlib.suppress(OSError):
                os.chmod(directory, stat.S_IRWXU)
                with os.scandir(directory) as listing:
                    entries = list(listing)
                directories += [
                    entry.path for entry in entries if entry.is_dir(follow_symlinks=False)
                ]
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        os.unlink(entry.path)
        for directory in reversed(directories):
            with contextlib.suppress(OSError):
                os.rmdir(directory)


def sweep(parent: str, *, before: Callable[[str], None] | None = None) -> None:
    """Delete what killed processes left in `parent`; the caller holds its lock. `before` is told
    the path of each.

    What cannot be deleted stays, and is tried again the next time. Raises StorageError where
    `parent` cannot be read.
    """
    with atomic.translated("read", parent):
        found = os.listdir(parent)
    for path in (os.path.join(parent, name) for name in found if _NAME.fullmatch(name)):
        if _is_left_over(path):
            if before is not None:
                before(path)
            delete(path)


def has_leftovers(parent: str) -> bool:
    """Whether there may be something to sweep; one that cannot be read has nothing."""
    try:
        return any(map(_NAME.fullmatch, os.listdir(parent)))
    except OSError:
        return False


def sweep_shared(
    parent: str, *, most_seen: int, most_removed: int, is_ours: Callable[[os.stat_result], bool]
) -> None:
    """Delete what killed processes left in a directory that all use and nobody locks, within
    bounds: what `is_ours` alone.
    """
    with contextlib.suppress(OSError), os.scandir(parent) as listing:
        named = (
            entry.path
            for entry in itertools.islice(listing, most_seen)
            if _NAME.fullmatch(entry.name)
        )
        for path in itertools.islice(
            (path for path in named if _is_left_over(path, is_ours)), most_removed
        ):
            delete(path)


def _aside(parent: str) -> str:
    return os.path.join(parent, f".vespe-{os.urandom(12).hex()}.tmp")


def _is_left_over(path: str, is_ours: Callable[[os.stat_result], bool] = lambda _: True) -> bool:
    """Whether it is a directory, and nobody holds its lock."""
    try:
        descriptor = os.open(path, _DIRECTORY)
    except OSError:
        return False
    try:
        if not is_ours(os.fstat(descriptor)):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
