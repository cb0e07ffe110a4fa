"""Rows about the tools of one directory, kept in the user's cache; losing them costs time only.

A row is believed where the same version of Vespe wrote it, from the very same code, about the same
directory, and the file's checksum holds.
"""

import json
import marshal
import os
import time
from typing import Any, Final

from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations
from vespe.files.digests import sha256
from vespe.lazy import hashlib

_LIMIT: Final = 256 * 1024 * 1024
_LARGE: Final = 1024 * 1024
"""From so many bytes on OpenSSL, which is four times as fast, is worth the 3 ms that it takes to
load.
"""
_SETTLED_NS: Final = 3_000_000_000
"""A stamp is kept for long, so it must be older than the coarsest clocks of file systems are: FAT
counts in steps of two seconds.
"""


class KeptRows:
    """The rows of one `kind` about one directory; `about` is what they depend on besides."""

    def __init__(self, kind: str, directory: str, about: list[Any]) -> None:
        where = os.path.abspath(directory)
        self._about = json.loads(json.dumps([marshal.version, where, *about]))
        name = sha256(os.fsencode(where)).hexdigest()[:32]
        self.path = os.path.join(locations.user_cache_dir(), kind, f"{name}.marshal")

    def load(self) -> dict[str, Any]:
        """Return the rows by uid, {} where there are none to believe. The checksum stands for every
        check of their shape, since only Vespe writes what it fits.
        """
        try:
            data = atomic.read_bytes(self.path, limit=_LIMIT)
        except (InvalidDocument, StorageError):
            return {}
        # of what is large no part is copied: that would take longer than to hash it
        start = data.find(b"\n") + 1
        body = memoryview(data)[start:]
        if data[: start - 1] != _checksum(body):
            return {}
        end = data.find(b"\n", start)
        if json.loads(data[start:end]) != self._about:
            return {}
        kept: dict[str, Any] = marshal.loads(body[end + 1 - start :])
        return kept

    def save(self, rows: dict[str, Any]) -> None:
        """Keep exactly these rows. A full disk or a missing home costs the next command its time,
        nothing else.
        """
        about = json.dumps(self._about, separators=(",", ":")).encode("ascii")
        body = b"\n".join((about, marshal.dumps(rows)))
        try:
            atomic.private_directory(os.path.dirname(self.path))
            atomic.write_atomic(
                self.path, b"\n".join((_checksum(body), body)), mode=0o600, durable=False
            )
        except (OSError, StorageError):
            return


def youngest_kept_ns() -> int:
    """Return the time of change that a stamp must be older than to be kept."""
    return time.time_ns() - _SETTLED_NS


def _checksum(body: bytes | memoryview) -> bytes:
    made = hashlib.sha256 if len(body) > _LARGE else sha256
    return made(body).hexdigest().encode("ascii")
