"""Questions to the file system that are noted, where somebody notes them: what a policy was made
of, so that it can be kept for as long as they would be answered the same.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Final, Protocol

_FRESH_NS: Final = 100_000_000
"""A directory that changed this lately may change again without another time of change."""
_MOST_LISTED: Final = 64

Entry = tuple[str, bool]
"""A path, and whether it is a directory."""


class Noter(Protocol):
    """Notes what is asked, before it is asked."""

    def place(self, path: str) -> None:
        """Note a question about a path itself: whether it is there, or what it is."""
        ...

    def through(self, path: str) -> None:
        """Note a question about what a path leads to, and each link on it."""
        ...

    def content(self, path: str) -> None:
        """Note a question about the content or the mode of what a path leads to."""
        ...

    def listing(self, path: str) -> None:
        """Note a question about what is in a directory."""
        ...


_here = threading.local()
"""`noter` is what notes the questions of this thread."""


@contextlib.contextmanager
def noting(noter: Noter) -> Iterator[None]:
    """Have what this thread asks noted."""
    _here.noter = noter
    try:
        yield
    finally:
        _here.noter = None


def _noted() -> Noter | None:
    return getattr(_here, "noter", None)


def note(path: str) -> None:
    """Note that a path is to be opened."""
    if (noter := _noted()) is not None:
        noter.place(path)


def lexists(path: str) -> bool:
    """As `os.path.lexists`, noted; as all that follows."""
    if (noter := _noted()) is not None:
        noter.place(path)
    return os.path.lexists(path)


def islink(path: str) -> bool:
    if (noter := _noted()) is not None:
        noter.place(path)
    return os.path.islink(path)


def exists(path: str) -> bool:
    if (noter := _noted()) is not None:
        noter.through(path)
    return os.path.exists(path)


def isdir(path: str) -> bool:
    if (noter := _noted()) is not None:
        noter.through(path)
    return os.path.isdir(path)


def isfile(path: str) -> bool:
    if (noter := _noted()) is not None:
        noter.through(path)
    return os.path.isfile(path)


def realpath(path: str) -> str:
    if (noter := _noted()) is not None:
        noter.through(os.path.abspath(path))
    return os.path.realpath(path)


def access(path: str, mode: int) -> bool:
    if (noter := _noted()) is not None:
        noter.content(path)
    return os.access(path, mode)


def listdir(path: str) -> list[str]:
    if (noter := _noted()) is not None:
        noter.listing(path)
    return os.listdir(path)


def first_line(path: str, size: int) -> bytes:
    """Return the first line of a file, as much of it as `size` bytes; raises OSError."""
    if (noter := _noted()) is not None:
        noter.content(path)
    with open(path, "rb") as file:
        return file.readline(size)


def entries(path: str) -> tuple[Entry, ...]:
    """Return what lies in a directory, links left out; as it was listed before, where its times
    are what they were.
    """
    if (noter := _noted()) is not None:
        noter.listing(path)
    try:
        status = os.stat(path)
        times = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        if (known := _kept.get(path)) is not None and known[0] == times:
            return known[1]
        with os.scandir(path) as listed:
            found = tuple(
                (entry.path, entry.is_dir(follow_symlinks=False))
                for entry in listed
                if not entry.is_symlink()
            )
    except OSError:
        return ()
    if time.time_ns() - max(times[2:]) > _FRESH_NS:
        if len(_kept) >= _MOST_LISTED:
            _kept.clear()
        _kept[path] = times, found
    return found


_kept: dict[str, tuple[tuple[int, ...], tuple[Entry, ...]]] = {}
