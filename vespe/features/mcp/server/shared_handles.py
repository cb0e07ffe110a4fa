"""The handles of large results that several processes serve to one client: a file each, in the
user's state directory.

Without sessions any worker may answer the next request, and a worker that counted by itself would
give one handle to two results. A handle is made by making its file, which only one process can do.
"""

import contextlib
import os
import time
from collections.abc import Iterator, MutableMapping
from typing import Final

from vespe.adapters.large_results import kept
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations
from vespe.files.digests import sha256
from vespe.models import JsonObject

_MOST_BYTES: Final = 4096


class SharedHandles(MutableMapping[str, JsonObject]):
    """What each handle of one client stands for, by the client's `name`; safe to share between
    processes. What is damaged counts as not there. `setdefault` raises StorageError.
    """

    def __init__(self, name: str) -> None:
        self._directory = os.path.join(_directory(), sha256(name.encode()).hexdigest())
        _sweep()

    def __getitem__(self, handle: str) -> JsonObject:
        try:
            data = atomic.read_bytes(self._path(handle), limit=_MOST_BYTES)
            return strict_json.parse_object(data)
        except (StorageError, InvalidDocument):
            raise KeyError(handle) from None

    def __setitem__(self, handle: str, held: JsonObject) -> None:
        self._ready()
        atomic.write_atomic(
            self._path(handle), strict_json.compact_json(held), mode=0o600, durable=False
        )

    def __delitem__(self, handle: str) -> None:
        try:
            os.unlink(self._path(handle))
        except OSError:
            raise KeyError(handle) from None

    def __iter__(self) -> Iterator[str]:
        with contextlib.suppress(OSError):
            names = (name for name in os.listdir(self._directory) if _is_handle(name))
            yield from sorted(names, key=lambda name: int(name[1:]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def setdefault(self, handle: str, held: JsonObject = {}) -> JsonObject:  # noqa: B006  # never changed
        """Return `held` itself where it is what the handle stands for from now on, else what it
        stood for before.
        """
        self._ready()
        made = atomic.create(self._path(handle), strict_json.compact_bytes(held))
        return held if made else self.get(handle, {})

    def _ready(self) -> None:
        for directory in (_directory(), self._directory):
            atomic.private_directory(directory)

    def _path(self, handle: str) -> str:
        if not _is_handle(handle):
            raise KeyError(handle)
        return os.path.join(self._directory, handle)


def _is_handle(name: str) -> bool:
    return name[:1] == "r" and name[1:].isascii() and name[1:].isdecimal() and len(name) <= 10


def _directory() -> str:
    return os.path.join(locations.user_state_dir(), "mcp", "handles")


def _sweep() -> None:
    """Take away handles that are older than what they stand for, and directories that were not
    changed for as long: a younger one may be another process's, about to make its first handle.
    Never raises.
    """
    before = time.time() - kept.MAX_AGE_S
    with contextlib.suppress(OSError):
        for client in os.scandir(_directory()):
            with contextlib.suppress(OSError):
                is_old = client.stat(follow_symlinks=False).st_mtime < before
                for one in os.scandir(client.path):
                    if one.stat(follow_symlinks=False).st_mtime < before:
                        os.unlink(one.path)
                if is_old:
                    os.rmdir(client.path)  # one that is not empty stays
