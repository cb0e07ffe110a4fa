"""The whole of results that were shown to a model in part: files in the user's state directory,
each named by the SHA-256 of its bytes, for their owner alone.

What was kept is swept after a week, and the oldest first where all of it together is too much. A
file that somebody changed is not what was kept, and is refused.
"""

import contextlib
import errno
import os
import threading
import time
from typing import Final

from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations, stamps
from vespe.files.digests import sha256
from vespe.records import dataclass

MAX_AGE_S: Final = 7 * 24 * 3600
MAX_BYTES: Final = 512 * 1024 * 1024
"""All that is kept; the oldest goes first."""
MAX_RESULT_BYTES: Final = 256 * 1024 * 1024
_EACH: Final = 50
"""After so many results that a process has kept, it sweeps again."""
_HEX: Final = frozenset("0123456789abcdef")
_MOST_HELD: Final = 16 * 1024 * 1024
"""Characters of the text that is held in memory."""


@dataclass(frozen=True, slots=True)
class _Last:
    path: str
    stamp: stamps.Stamp
    text: str


_last: _Last | None = None
_lock = threading.Lock()
_count = 0


def keep(data: bytes) -> str:
    """Keep a result, and return the digest that `read` takes; raises StorageError."""
    digest = sha256(data).hexdigest()
    directory = _directory()
    atomic.private_directory(directory)
    path = os.path.join(directory, digest)
    try:
        if atomic.read_bytes(path, limit=MAX_RESULT_BYTES) == data:
            os.utime(path)
            return digest
    except (StorageError, InvalidDocument, OSError):
        pass
    atomic.write_atomic(path, data, mode=0o600, durable=False)
    if _is_due():
        sweep()
    return digest


def read(digest: str) -> bytes:
    """Return what was kept under a digest.

    Raises StorageError where it is gone, InvalidDocument where the file holds something else.
    """
    if not is_digest(digest):
        raise InvalidDocument("is not the digest of a result", path=digest[:80])
    path = os.path.join(_directory(), digest)
    data = atomic.read_bytes(path, limit=MAX_RESULT_BYTES)
    if sha256(data).hexdigest() != digest:
        raise InvalidDocument("does not hold what was kept: somebody changed it", path=path)
    return data


def read_text(digest: str) -> str:
    """Return the text that was kept under a digest; raises as `read` does.

    A model reads a result in pages, one after the other, and the digest of eight megabytes takes
    longer than a page: the last text is read once while its file stays as it is.
    """
    global _last
    path = os.path.join(_directory(), digest)
    last = _last
    if last is not None and last.path == path and stamps.unchanged([(path, last.stamp)]):
        return last.text
    stamp = stamps.stamp(path)
    text = read(digest).decode("utf-8")
    if len(text) <= _MOST_HELD and stamps.are_settled([stamp]):
        _last = _Last(path, stamp, text) if stamps.unchanged([(path, stamp)]) else None
    return text


def is_gone(error: StorageError) -> bool:
    """Say whether `read` failed because nothing is kept there any more."""
    return error.details.get("errno") in (errno.ENOENT, errno.ENOTDIR)


def is_digest(text: object) -> bool:
    """Say whether a text is a SHA-256 in lower-case hex."""
    return isinstance(text, str) and len(text) == 64 and _HEX.issuperset(text)


def sweep(*, now: float | None = None) -> None:
    """Take away what is older than MAX_AGE_S, and the oldest of what is more than MAX_BYTES; never
    raises.
    """
    moment, total = time.time() if now is None else now, 0
    for modified, size, path in sorted(_files(), reverse=True):
        total += size
        if total > MAX_BYTES or moment - modified > MAX_AGE_S:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _files() -> list[tuple[float, int, str]]:
    found = []
    with contextlib.suppress(OSError), os.scandir(_directory()) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                found.append((status.st_mtime, status.st_size, entry.path))
    return found


def _is_due() -> bool:
    """Whether this process sweeps now: at the first result that it keeps, and at each fiftieth from
    then on.
    """
    global _count
    with _lock:
        _count += 1
        return _count % _EACH == 1


def _directory() -> str:
    return os.path.join(locations.user_state_dir(), "results")
