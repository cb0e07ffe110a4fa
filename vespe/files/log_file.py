"""A private file of lines that several processes write to, each line whole; it is rotated when it has grown."""

import contextlib
import errno
import os
import threading
from typing import Final

from vespe.files import atomic
from vespe.processes.signals import uninterruptible

OLD: Final = ".1"
"""Added to the name of the file that a grown one becomes; there is one of those."""


class LogFile:
    """A file that lines are added to: opened for each, or left open between them (`kept`) as long as it is the file at its path."""

    def __init__(self, path: str, *, limit: int, kept: bool = False) -> None:
        self._path, self._limit, self._kept = path, limit, kept
        self._descriptor = -1
        self._inode = self._end = 0
        self._lock = threading.Lock()

    def __del__(self) -> None:
        self._close()

    def append(self, line: bytes) -> None:
        """Write one line, in one call of the system; raises OSError and StorageError."""
        with uninterruptible(), self._lock:
            try:
                self._append(line)
            finally:
                if not self._kept:
                    self._close()

    def close(self) -> None:
        """Close the file, where it is open; it is opened again for the next line."""
        with self._lock:
            self._close()

    def _append(self, line: bytes) -> None:
        status = self._opened()
        torn = status.st_size not in (0, self._end) and os.pread(self._descriptor, 1, status.st_size - 1) != b"\n"
        if os.write(self._descriptor, b"\n" * torn + line + b"\n") < len(line) + 1 + torn:
            raise OSError(errno.ENOSPC, "the disk is full")
        self._end = status.st_size + len(line) + 1 + torn

    def _opened(self) -> os.stat_result:
        """Have the file at the path open, and give its status: not one that another process has rotated or removed."""
        status = self._status()
        if status is not None and status.st_size >= self._limit:
            self._rotate()
            status = self._status()
        if status is not None and self._descriptor >= 0 and status.st_ino == self._inode:
            return status
        self._close()
        atomic.private_directory(os.path.dirname(self._path))
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        status = os.fstat(self._descriptor)
        self._inode, self._end = status.st_ino, 0
        return status

    def _status(self) -> os.stat_result | None:
        try:
            return os.stat(self._path)
        except FileNotFoundError:
            return None

    def _rotate(self) -> None:
        with atomic.locked(os.path.dirname(self._path)), contextlib.suppress(FileNotFoundError):
            if os.stat(self._path).st_size >= self._limit:
                os.replace(self._path, self._path + OLD)

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
