"""A private file of lines that several processes write to, each line whole; it is rotated when it
has grown.
"""

import contextlib
import errno
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from vespe.files import atomic
from vespe.processes.signals import in_command, uninterruptible

if TYPE_CHECKING:
    from vespe.files.watch import Watch

OLD: Final = ".1"
"""Added to the name of the file that a grown one becomes; there is one of those."""


class LogFile:
    """A file that lines are added to: opened for each, or left open between them (`kept`) as long
    as it is the file at its path. `losing` is called before the old one is replaced by a grown one.
    """

    def __init__(
        self,
        path: str,
        *,
        limit: int,
        kept: bool = False,
        watch: "Watch | None" = None,
        losing: Callable[[], None] | None = None,
    ) -> None:
        self._path, self._limit, self._kept, self._watch = path, limit, kept, watch
        self._losing = losing
        self._seen = self._covered = 0
        self._descriptor = -1
        self._inode = self._end = 0
        self._lock = threading.Lock()

    def __del__(self) -> None:
        self._close()

    def append(self, line: bytes) -> None:
        """Write one line, in one call of the system; raises OSError and StorageError."""
        if in_command():  # elsewhere signals are the program's own, and a section would do nothing
            with uninterruptible():
                self._append(line)
        else:
            self._append(line)

    def close(self) -> None:
        """Close the file, where it is open; it is opened again for the next line."""
        with self._lock:
            self._close()

    def _append(self, line: bytes) -> None:
        with self._lock:
            try:
                size = self._size()
                if size != self._end and size and os.pread(self._descriptor, 1, size - 1) != b"\n":
                    line = b"\n" + line
                line += b"\n"
                if (written := os.write(self._descriptor, line)) < len(line):
                    raise OSError(errno.ENOSPC, "the disk is full")
                self._end = size + written
            finally:
                if not self._kept:
                    self._close()

    def _size(self) -> int:
        """Have the file at the path open, not one that another process has rotated or removed, and
        return its size in bytes.
        """
        number = self._watch.number() if self._watch is not None else 0
        if (
            number
            and number == self._seen
            and (size := os.lseek(self._descriptor, 0, os.SEEK_END)) < self._limit
        ):
            return size
        if self._watch is not None:
            self._covered = self._watch.cover(self._covered, (self._path,), place_only=True)
        self._seen = number if self._covered > 0 else 0
        try:
            status = os.stat(self._path)
            if status.st_size >= self._limit:
                self._rotate()
            elif status.st_ino == self._inode and self._descriptor >= 0:
                return status.st_size
        except FileNotFoundError:
            pass
        self._close()
        atomic.private_directory(os.path.dirname(self._path))
        self._descriptor = os.open(
            self._path,
            os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC,
            0o600,
        )
        status = os.fstat(self._descriptor)
        self._inode, self._end = status.st_ino, 0
        return status.st_size

    def _rotate(self) -> None:
        with atomic.locked(os.path.dirname(self._path)), contextlib.suppress(FileNotFoundError):
            if os.stat(self._path).st_size >= self._limit:
                if self._losing is not None:
                    self._losing()
                os.replace(self._path, self._path + OLD)

    def _close(self) -> None:
        self._seen = self._covered = 0
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
