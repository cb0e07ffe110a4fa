"""Whether a file or directory is what it was: its status as a value to compare, and when that can
be believed.
"""

import os
import time
from collections.abc import Iterable
from typing import Final, TypeAlias

Stamp: TypeAlias = tuple[int, int, int, int, int] | None
"""Device, inode, size, and the times of modification and change in ns; None for what cannot be
looked at.
"""
_SETTLED_NS: Final = 100_000_000
"""The clocks of file systems are coarse: what changed this lately may change again and keep its
stamp.
"""


def stamp(path: str, *, follow: bool = True) -> Stamp:
    """Return the stamp of what is at `path`; of a link that it ends in only where not `follow`."""
    try:
        status = os.stat(path, follow_symlinks=follow)
    except OSError:
        return None
    return stamp_of(status)


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp that a status tells."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def unchanged(places: Iterable[tuple[str, Stamp]]) -> bool:
    """Say whether each path has the stamp that is beside it; a call asks this, so it is all in one
    frame.
    """
    for path, before in places:
        try:
            now = os.stat(path)
        except OSError:
            if before is not None:
                return False
            continue
        if (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns) != before:
            return False
    return True


def are_settled(stamps: Iterable[Stamp], now_ns: int | None = None) -> bool:
    """Say whether equal stamps mean equal bytes: none of them is so young that a second change
    could hide in it. `now_ns` is from before they were looked at, where that took long.
    """
    newest = (time.time_ns() if now_ns is None else now_ns) - _SETTLED_NS
    return all(found is None or found[4] < newest for found in stamps)
