"""Which tool directories hold which name, kept in the user's cache for a directory of many tools;
losing it costs time only.

What it says is a hint: whoever asks reads the config.json that it leads to, and all of them where
none of those has the name.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, Final

from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations
from vespe.files.digests import sha256
from vespe.files.stamps import are_settled, stamp
from vespe.lazy import zlib

MANY: Final = 256
"""From so many directories on a name is looked up: fewer are read as fast."""
_FORMAT: Final = 1
_LIMIT: Final = 64 * 1024 * 1024
_ODD: Final = ""
"""The name of those that have none, or one that a line cannot hold: they are read each time."""


def holders(
    directory: str,
    name: str,
    *,
    listed: Callable[[], list[str]],
    named: Callable[[str], str | None],
) -> list[str] | None:
    """Return the directories in `directory` that may hold the tool `name`; None where there are
    few, and no index.

    The index is believed while nothing came to `directory` and nothing left it; after that what is
    new in it is read. `listed` lists the directories, and may raise; `named` reads the name in one.
    A cache that cannot be read or written is as good as none.
    """
    path, now = _path(directory), stamp(directory)
    before, lines = _load(path, directory)
    if before is not None and before == now and are_settled((now,)):
        return _uids(lines, name)
    uids = listed()
    if len(uids) < MANY:
        return None
    known = dict(_pairs(lines)) if before is not None else {}
    lines = "".join(f"\n{_line(known[uid] if uid in known else named(uid))}\t{uid}" for uid in uids)
    if are_settled((now,)):
        _save(path, [_FORMAT, directory, now], lines)
    return _uids(lines, name)


def forget(directory: str) -> None:
    """Have the names in `directory` read anew by whoever asks next."""
    with contextlib.suppress(OSError):
        os.unlink(_path(directory))


def _uids(lines: str, name: str) -> list[str]:
    found = []
    for wanted in (name, _ODD):
        mark = f"\n{wanted}\t"
        at = lines.find(mark)
        while at >= 0:
            end = lines.find("\n", at + len(mark))
            found.append(lines[at + len(mark) : end if end >= 0 else None])
            at = lines.find(mark, at + 1)
    return sorted(uid for uid in found if uid and not uid.startswith(".") and "/" not in uid)


def _pairs(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.split("\n")[1:]:
        name, _, uid = line.partition("\t")
        yield uid, name


def _line(name: str | None) -> str:
    return name if name is not None and name.isprintable() and name.isascii() else _ODD


def _path(directory: str) -> str:
    name = sha256(os.fsencode(os.path.abspath(directory))).hexdigest()[:32]
    return os.path.join(locations.user_cache_dir(), "names", name)


def _load(path: str, directory: str) -> tuple[Any, str]:
    """Return the stamp of the directory when it was listed, and the lines; None where there is
    nothing to believe.
    """
    try:
        text = atomic.read_bytes(path, limit=_LIMIT).decode("utf-8")
        head, _, lines = text.partition("\n")
        *about, found, checksum = json.loads(head)
        if about == [_FORMAT, os.path.abspath(directory)] and checksum == _checksum(f"\n{lines}"):
            return tuple(found), f"\n{lines}"
    except (InvalidDocument, StorageError, ValueError, TypeError, RecursionError):
        pass
    return None, ""


def _save(path: str, about: list[Any], lines: str) -> None:
    try:
        atomic.private_directory(os.path.dirname(path))
        head = json.dumps([about[0], os.path.abspath(about[1]), about[2], _checksum(lines)])
        atomic.write_atomic(path, head + lines, mode=0o600, durable=False)
    except (OSError, StorageError, ValueError):
        return  # a full disk or a missing home costs the next look-up its time, nothing else


def _checksum(lines: str) -> int:
    return zlib.crc32(lines.encode("utf-8"))
