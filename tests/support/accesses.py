"""Which files were opened or read, by any process, as Linux tells with inotify."""

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

READ, OPENED = 0x1, 0x20
_DIRECTORY = 0x40000000
_EVENT = struct.Struct("iIII")


class Accesses:
    """Notes which files right in some directories are read (`kind=READ`) or opened (`OPENED`) from
    now on; with `folders`, which folders too, and the directories themselves.

    Skips the test on systems other than Linux.
    """

    def __init__(self, *directories: Path, kind: int, folders: bool = False) -> None:
        self._unsaid = 0 if folders else _DIRECTORY
        if sys.platform != "linux":
            pytest.skip("no inotify here: it tells which files are read")
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._watched = {
            libc.inotify_add_watch(self._descriptor, os.fsencode(directory), kind): directory
            for directory in directories
        }
        assert self._descriptor >= 0 and -1 not in self._watched, os.strerror(ctypes.get_errno())

    def __enter__(self) -> "Accesses":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def taken(self) -> set[Path]:
        """Return the files that were accessed since the last time that this was asked."""
        return set(self._told())

    def _told(self) -> Iterator[Path]:
        while True:
            try:
                events = os.read(self._descriptor, 65536)
            except BlockingIOError:
                return
            while events:
                watch, kind, _, length = _EVENT.unpack_from(events)
                name = os.fsdecode(events[_EVENT.size : _EVENT.size + length].rstrip(b"\0"))
                events = events[_EVENT.size + length :]
                if not kind & self._unsaid:
                    yield self._watched[watch] / name
