"""A file that belongs to another program: read, changed and written whole, through a link, with a
backup to go back to.
"""

import contextlib
import hashlib
import os
import shlex
import stat
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.files import atomic, locations
from vespe.records import dataclass

BACKUP_SUFFIX: Final = ".vespe-backup"
_MAX_BYTES: Final = 64 * 1024 * 1024
_ATTEMPTS: Final = 5


MadeOf: TypeAlias = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What became of a file: the `path` behind every link, whether it `changed`, and where its
    `backup` is.

    `restored` says that it is byte for byte what it was before the first change: then it needs no
    backup any more.
    """

    path: str
    changed: bool
    backup: str | None = None
    restored: bool = False


def never(text: str, origin: str) -> bool:
    """Know of no text what it was made of."""
    return False


def refuse_outside(path: str, root: str) -> None:
    """Raise Refused where a file of the project at `root` is a link, or lies behind one, that leads
    out of the project.
    """
    real, inside = os.path.realpath(path), os.path.join(os.path.realpath(root), "")
    if os.path.abspath(path).startswith(
        os.path.join(os.path.abspath(root), "")
    ) and not real.startswith(inside):
        hint = (
            "if that is the file you mean: vespe mcp config CLIENT --write --file "
            f"{shlex.quote(real)}"
        )
        raise Refused(f"{path} leads out of the project, to {real}", hint=hint)


def read(path: str) -> str:
    """Return the text of a file, "" where there is none; a byte order mark stays in it. Raises
    InvalidDocument, StorageError.
    """
    target = os.path.realpath(path)
    if not os.path.lexists(target):
        return ""
    data = atomic.read_bytes(target, limit=_MAX_BYTES)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDocument(
            f"is not UTF-8: byte 0x{data[error.start]:02x}", path=path, line=line
        ) from None


def change(
    path: str, edit: Callable[[str], str], *, made_of: MadeOf = never, back: bool = False
) -> Changed:
    """Write what `edit` makes of the file's text, in one step, with the file's own mode; a link
    stays a link.

    What stood there is kept in a backup first. `made_of` says of two texts whether the first is
    what a change made of the second: a backup that the file was made of is kept as it is, and with
    `back` it is what the file becomes again; a file that was made of nothing goes. Where another
    program writes in between, all is done again on what it wrote. Raises what `edit` raises, and
    StorageError; then the file is as it was.
    """
    target = os.path.realpath(path)
    with _directory(os.path.dirname(target)):
        for _ in range(_ATTEMPTS):
            before, backup = read(target), backup_path(target)
            there, kept = os.path.lexists(target), _backup(backup)
            origin = kept or ""
            known = (
                there
                and (kept is not None or not os.path.lexists(backup))
                and made_of(before, origin)
            )
            after = origin if known and back else edit(before)
            if after == before:
                return Changed(path=target, changed=False)
            if there and not known:
                _keep(backup, before, _mode(target))
            if read(target) == before:
                if back and known and kept is None:
                    _remove(target)
                else:
                    _write(target, after, _mode(target))
                if back and known:
                    _drop(backup)
                return Changed(
                    path=target,
                    changed=True,
                    backup=backup if there and not (back and known) else None,
                    restored=back and known,
                )
    raise StorageError("write", target, OSError("another program keeps writing to it"))


def backup_path(target: str) -> str:
    """Return the place of a file's backup: beside it, but among the user's own state where git
    could take it along.
    """
    directory = os.path.dirname(target)
    while not os.path.lexists(os.path.join(directory, ".git")):
        above = os.path.dirname(directory)
        if above == directory:
            return target + BACKUP_SUFFIX
        directory = above
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()[:12]
    return os.path.join(
        locations.user_state_dir(), "backups", f"{digest}-{os.path.basename(target)}{BACKUP_SUFFIX}"
    )


@contextlib.contextmanager
def _directory(path: str) -> Iterator[None]:
    """Hold the directory's lock; it is made where it is missing, and taken away again where nothing
    came of it.
    """
    made = not os.path.isdir(path)
    try:
        with atomic.translated("make", path):
            os.makedirs(path, exist_ok=True)
        with atomic.locked(path):
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


def _backup(path: str) -> str | None:
    """Return the text of a backup; one that cannot be read is none."""
    try:
        return read(path) if os.path.lexists(path) else None
    except (InvalidDocument, StorageError):
        return None


def _keep(path: str, text: str, mode: int) -> None:
    atomic.private_directory(os.path.dirname(path))
    _write(path, text, mode)


def _drop(backup: str) -> None:
    """Remove a backup that the file is again; one that cannot be removed does no harm."""
    with contextlib.suppress(OSError):
        os.unlink(backup)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise StorageError("remove", path, error) from error


def _write(path: str, text: str, mode: int) -> None:
    atomic.write_atomic(path, text, mode=mode & 0o600 | 0o600)
    try:
        os.chmod(path, mode)
    except OSError as error:
        raise StorageError("write", path, error) from error
