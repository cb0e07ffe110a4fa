"""A file that belongs to another program: read, changed and written whole, through a link, with a backup beside it."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from vespe import documents
from vespe.errors import InvalidDocument, StorageError

BACKUP_SUFFIX: Final = ".vespe-backup"
_MAX_BYTES: Final = 64 * 1024 * 1024
_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What became of a file: the `path` behind every link, whether it `changed`, and its `backup`, where there was something to keep."""

    path: str
    changed: bool
    backup: str | None = None


def read(path: str) -> str:
    """Give the text of a file, "" where there is none; a byte order mark stays in it. Raises InvalidDocument, StorageError."""
    target = os.path.realpath(path)
    if not os.path.lexists(target):
        return ""
    data = documents.read_bytes(target, limit=_MAX_BYTES)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDocument(f"is not UTF-8: byte 0x{data[error.start]:02x}", path=path, line=line) from None


def change(path: str, edit: Callable[[str], str]) -> Changed:
    """Write what `edit` makes of the file's text, in one step, with the file's own mode; a link stays a link.

    What stood there is kept beside it first. Where another program writes in between, the edit is made again on what it
    wrote. Raises what `edit` raises, and StorageError; then the file is as it was.
    """
    target = os.path.realpath(path)
    with _directory(os.path.dirname(target)):
        for _ in range(_ATTEMPTS):
            before = read(target)
            after = edit(before)
            if after == before:
                return Changed(path=target, changed=False)
            mode = _mode(target)
            backup = _kept(target, before, mode) if before else None
            if read(target) == before:
                _write(target, after, mode)
                return Changed(path=target, changed=True, backup=backup)
    raise StorageError("write", target, OSError("another program keeps writing to it"))


@contextlib.contextmanager
def _directory(path: str) -> Iterator[None]:
    """Hold the directory's lock; it is made where it is missing, and taken away again where nothing came of it."""
    made = not os.path.isdir(path)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise StorageError("make", path, error) from error
    try:
        with documents.locked(path):
            yield
    finally:
        if made:
            with contextlib.suppress(OSError):
                os.rmdir(path)


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0o644


def _kept(target: str, text: str, mode: int) -> str:
    _write(target + BACKUP_SUFFIX, text, mode)
    return target + BACKUP_SUFFIX


def _write(path: str, text: str, mode: int) -> None:
    documents.write_atomic(path, text, mode=mode & 0o600 | 0o600)
    try:
        os.chmod(path, mode)
    except OSError as error:
        raise StorageError("write", path, error) from error
