"""What lint said of the tool directories in one directory, kept in the user's cache by the digest
of all that it rests on; losing it costs time only.

A judgement rests on every file of the tool's directory, on what `Outside` names, on the limits of
the kit, on the code of Vespe and on the validators. All of that is compared before it is believed,
and a directory that has a link, or what cannot be read, is judged each time. The settings of a run
are no part of it: they choose from what was found.
"""

import contextlib
import json
import os
import sys
from functools import cache
from typing import Any, Final, NamedTuple

from vespe import defaults
from vespe.errors import InvalidDocument, StorageError
from vespe.features.lint.base import Found, Outline
from vespe.features.lint.judgements import Judgement, Located, Outside
from vespe.files import atomic, locations
from vespe.files.stamps import Stamp, are_settled, stamp_of, unchanged
from vespe.lazy import hashlib

Row = list[Any]
"""A judgement as JSON has it, with the digest that it is kept by first."""
_FORMAT: Final = 1
_LIMIT: Final = 512 * 1024 * 1024
_MOST_ENTRIES: Final = 1000
_MOST_BYTES: Final = 32 * 1024 * 1024
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_JUDGES: Final = ("jsonschema_rs", "jsonschema", "wasmtime")
"""Libraries whose word a rule passes on."""


class Look(NamedTuple):
    """The digest of all that is in a tool directory, and the stamps of what was read, which tell of
    a change if they are `settled`.
    """

    digest: str
    places: list[tuple[str, Stamp]]
    settled: bool

    @property
    def holds(self) -> bool:
        """Whether nothing has changed since: then what was judged meanwhile has the digest."""
        return self.settled and unchanged(self.places)


def look_at(directory: str) -> Look | None:
    """Return the digest of a tool directory; None where its files are not all that it says, or more
    than a tool has.
    """
    digest, places = hashlib.sha256(), list[tuple[str, Stamp]]()
    waiting, left = [("", directory)], _MOST_ENTRIES
    try:
        if os.path.islink(directory):
            return None
        while waiting:
            below, here = waiting.pop()
            places.append((here, stamp_of(os.stat(here))))
            with os.scandir(here) as found:
                entries = sorted(found, key=lambda entry: entry.name)
            left -= len(entries)
            if left < 0:
                return None
            for entry in entries:
                name = f"{below}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((f"{name}/", entry.path))
                    digest.update(b"\0%s/" % os.fsencode(name))
                    continue
                data, status = _read(entry.path)
                places.append((entry.path, stamp_of(status)))
                digest.update(
                    b"\0%s\0%o %d\0" % (os.fsencode(name), status.st_mode, status.st_size)
                )
                digest.update(data)
    except OSError:
        return None
    return Look(digest.hexdigest(), places, are_settled(stamp for _, stamp in places))


def _read(path: str) -> tuple[bytes, os.stat_result]:
    """Read an ordinary file as it is now; OSError for anything else, and for one that grows."""
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if status.st_mode & 0o170000 != 0o100000 or status.st_size > _MOST_BYTES:
            raise OSError(path)
        data = os.read(descriptor, status.st_size + 1)
    finally:
        os.close(descriptor)
    if len(data) != status.st_size:
        raise OSError(path)
    return data, status


class KeptRows:
    """Rows under keys, in one file of the user's cache that belongs to something (`name`).

    They are believed where the user alone wrote the file, for the same thing (`about`), by the same
    code, and its checksum holds. What cannot be read or written is no error.
    """

    def __init__(self, name: str, about: list[Any]) -> None:
        self._about = json.loads(json.dumps([_FORMAT, code_identity(), name, *about]))
        file = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = os.path.join(locations.user_cache_dir(), "lint", f"{file}.json")
        self.rows = self._load()

    def _load(self) -> dict[str, Row]:
        try:
            status = os.lstat(self._path)
            if status.st_uid != os.geteuid() or status.st_mode & 0o077:
                return {}
            checksum, _, body = atomic.read_bytes(self._path, limit=_LIMIT).partition(b"\n")
            if checksum != _checksum(body):
                return {}
            *about, rows = json.loads(body)
        except (OSError, InvalidDocument, StorageError, ValueError):
            return {}
        return rows if about == self._about and isinstance(rows, dict) else {}

    def save(self, rows: dict[str, Row]) -> None:
        """Keep exactly these rows; writes nothing where they are those that were there."""
        if rows == self.rows:
            return
        body = json.dumps([*self._about, rows], separators=(",", ":")).encode("ascii")
        with contextlib.suppress(OSError, StorageError):
            atomic.private_directory(os.path.dirname(self._path))
            atomic.write_atomic(
                self._path, _checksum(body) + b"\n" + body, mode=0o600, durable=False
            )


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode("ascii")


@cache
def code_identity() -> str:
    """Return what tells this code from another: the names, sizes and times of Vespe's own files and
    of the validators', and the version of Python.
    """
    found: list[tuple[str, int, int]] = []
    waiting = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    waiting += [os.path.join(place, library) for place in sys.path for library in _JUDGES]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    waiting += [entry.path] * (entry.name != "__pycache__")
                elif entry.name.endswith((".py", ".json", ".so", ".pyd")):
                    status = entry.stat()
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
    told = repr((defaults.VERSION, sys.version, sorted(found)))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()


def row_of(judgement: Judgement, digest: str) -> Row:
    """Return a judgement as it is kept."""
    outside, one = judgement.outside, judgement.outline
    return [
        digest,
        [outside.programs, outside.stated, outside.leads],
        judgement.name,
        judgement.reasons,
        judgement.wrong,
        None
        if judgement.found is None
        else [
            [
                *(told.code, told.pointer, told.place),
                *(told.found.message, told.found.fix, told.found.target),
                *(told.found.severity, told.found.file),
            ]
            for told in judgement.found
        ],
        one
        and [
            *(one.name, one.description, one.parameters, one.size, one.directory),
            *(one.kit_id, dict(one.effects), sorted(one.assumed), one.queries),
        ],
    ]


def judgement_of(row: Row, *, scope: str) -> Judgement:
    """Return what a row says. Raises ValueError, TypeError, KeyError or IndexError for what was
    never one.
    """
    _, (programs, stated, leads), name, reasons, wrong, found, outline = row
    read, write = stated
    return Judgement(
        name=name,
        reasons=dict(reasons),
        wrong=[(pointer, message) for pointer, message in wrong],
        found=None if found is None else [_located(*one) for one in found],
        outline=None if outline is None else _outline(*outline, scope=scope),
        outside=Outside(
            programs=tuple((program, there) for program, there in programs),
            stated=(tuple(read), tuple(write)),
            leads=tuple((path, leads_to) for path, leads_to in leads),
        ),
    )


def _located(
    code: str,
    pointer: str,
    place: list[int],
    message: str,
    fix: str | None,
    *rest: Any,
) -> Located:
    target, severity, file = rest
    line, column = place
    found = Found(message=message, fix=fix, target=target, severity=severity, file=file)
    return Located(code, found, pointer, (line, column))


def _outline(name: str, description: str, parameters: list[str], *rest: Any, scope: str) -> Outline:
    size, directory, kit_id, effects, assumed, queries = rest
    return Outline(
        name=name,
        description=description,
        parameters=tuple(map(sys.intern, parameters)),
        size=size,
        scope=scope,
        directory=directory,
        kit_id=kit_id,
        own_name=name,
        effects=effects,
        assumed=frozenset(assumed),
        queries=tuple(queries),
    )


def digest_of(file: str) -> str:
    """Return the digest of a file's bytes; "" where it cannot be read."""
    try:
        return hashlib.sha256(atomic.read_bytes(file)).hexdigest()
    except (InvalidDocument, StorageError):
        return ""
