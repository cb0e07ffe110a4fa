"""What validation said of the tools of one directory, kept in the user's cache; losing it costs
time only.
"""

import contextlib
import json
import os
from functools import cache
from typing import Any, Final

from vespe import defaults
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations
from vespe.files.digests import sha256
from vespe.lazy import hashlib
from vespe.tool_types import TYPES
from vespe.tools import directory as tool_directory
from vespe.tools.directory import Verdict

_LIMIT: Final = 256 * 1024 * 1024
_FORMAT: Final = 2
_MANY: Final = 500
"""From so many on OpenSSL, which is four times as fast, is worth the 3 ms that it takes to load."""
_JUDGES: Final = (
    "",
    "adapters",
    "data",
    "documents",
    "http",
    "schemas",
    "tools",
    "types",
    *sorted({row.rpartition(".")[0].replace(".", "/").partition("/")[2] for row in TYPES.values()}),
)
"""The directories of this package whose code and schemas a verdict comes from."""


class Verdicts:
    """The verdicts on the tool directories in one directory, by the digest of each one's
    config.json.

    Ask `of` for each, then `save`. What is kept is only believed where the same version of Vespe
    wrote it, from the very same code, for this directory, kit and what the kit states of its
    limits, and its checksum holds. A cache that cannot be read or written is no error.
    """

    def __init__(self, directory: str, *, kit_id: str | None) -> None:
        self.limits = None if kit_id is None else tool_directory.limits_above(directory)
        """What the kit allows: every verdict is made by these."""
        stated = (
            None
            if self.limits is None
            else [self.limits.types, self.limits.hosts, self.limits.secrets]
        )
        about = [
            _FORMAT,
            defaults.VERSION,
            code_digest(),
            os.path.abspath(directory),
            kit_id,
            stated,
        ]
        self._about = json.loads(json.dumps(about))
        name = sha256(os.fsencode(os.path.abspath(directory))).hexdigest()[:32]
        self._path = os.path.join(locations.user_cache_dir(), "scan", f"{name}.json")
        self._kit_id = kit_id
        self._kept: dict[str, list[Any]] = _load(self._path, self._about)
        self._seen: dict[str, list[Any]] = {}
        self._changed = False
        self._sha256 = hashlib.sha256 if len(self._kept) > _MANY else sha256

    def of(self, uid: str, config: bytes) -> Verdict:
        """Return the verdict on a tool directory's config.json, from the cache where it holds the
        very same bytes.
        """
        digest = self._sha256(config).hexdigest()
        row = self._kept.get(uid)
        if row is None or row[0] != digest:
            row = [
                digest,
                *tool_directory.verdict(config, uid=uid, kit_id=self._kit_id, limits=self.limits),
            ]
            self._changed = True
        self._seen[uid] = row
        return Verdict(*row[1:])

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each config.json that was asked about, by uid."""
        return {uid: row[0] for uid, row in self._seen.items()}

    def save(self) -> bool:
        """Keep exactly what was asked for since this was made; writes nothing where nothing
        changed. Returns whether anything did.
        """
        if not self._changed and len(self._seen) == len(self._kept):
            return False
        body = json.dumps([*self._about, self._seen], separators=(",", ":")).encode("ascii")
        try:
            atomic.private_directory(os.path.dirname(self._path))
            atomic.write_atomic(
                self._path, _checksum(body) + b"\n" + body, mode=0o600, durable=False
            )
        except (OSError, StorageError):
            pass  # a full disk or a missing home costs the next scan its time, nothing else
        return True


@cache
def code_digest() -> str:
    """Return a digest of what judges, by the names, sizes and times of its files: the code may be
    newer than its version says.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found: list[tuple[str, int, int]] = []
    for name in _JUDGES:
        with contextlib.suppress(OSError), os.scandir(os.path.join(package, name)) as entries:
            files = (
                (entry, entry.stat()) for entry in entries if entry.name.endswith((".py", ".json"))
            )
            found += (
                (f"{name}/{entry.name}", status.st_size, status.st_mtime_ns)
                for entry, status in files
            )
    return sha256(repr(sorted(found)).encode("utf-8", "replace")).hexdigest()[:16]


def _load(path: str, about: list[Any]) -> dict[str, list[Any]]:
    """Read what an earlier scan kept; the checksum stands for every check of its shape, since only
    we write what it fits.
    """
    try:
        checksum, _, body = atomic.read_bytes(path, limit=_LIMIT).partition(b"\n")
    except (InvalidDocument, StorageError):
        return {}
    if checksum != _checksum(body):
        return {}
    *header, rows = json.loads(body)
    return rows if header == about else {}


def _checksum(body: bytes) -> bytes:
    return sha256(body).hexdigest().encode("ascii")
