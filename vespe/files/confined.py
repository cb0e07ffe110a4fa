"""Files beneath one directory and nowhere else: every step is opened from the one before it, and no
link is followed.
"""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from vespe import defaults
from vespe.errors import InvalidArguments, InvalidDocument, StorageError, VespeError
from vespe.files import atomic, confined_rules
from vespe.files.confined_rules import Rules

MAX_DEPTH: Final = 64
"""How many directories deep a path may go; `walk` goes no deeper either."""

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
KEPT: Final = "cannot be read by tools, because of `files.never_read` in your configuration"


class PathRefused(InvalidArguments):
    """A path that leads, or could lead, out of the directory, or to what is no regular file; `path`
    is as it was given.
    """

    def __init__(self, path: str, reason: str) -> None:
        hint = "use a path inside the directory, such as notes/today.md"
        super().__init__(f"the path {path!r} {reason}", hint=hint)
        self.path, self.reason = path, reason


class DirectoryEntry(NamedTuple):
    """One name in a directory: its path from the root, `file`, `directory`, `link` or `other`, and
    its size in bytes.

    `problem` says why a directory could not be gone into. What is not UTF-8 in a name stands as
    U+FFFD.
    """

    path: str
    kind: str
    size: int
    problem: str | None = None


Entry = DirectoryEntry
"""The name that it had in 0.2: copies of shipped tools import it."""


class Written(NamedTuple):
    """What a write did: the file's size in bytes, whether it is new, and how many places were
    replaced in it.
    """

    size: int
    created: bool
    replacements: int = 0


class Directory:
    """A directory, and the files beneath it by relative path; a context manager that holds it open.

    Paths use `/`. Refused, with PathRefused: absolute paths, `..`, `~`, backslashes, NUL, more than
    64 levels, a symbolic link at any step (one that points inside too: only so can nobody swap it
    in between), and whatever is no regular file. Every step is opened relative to the descriptor of
    the one before it, so that a directory that is replaced by a link in the middle of an operation
    cannot lead out. What the operating system refuses is a StorageError.

    Refused too: a write of what other programs execute (see `confined_rules`), and a reading of
    what the user's own `rules` keep from tools; by default the rules that this process was given.
    """

    def __init__(self, root: str | os.PathLike[str], *, rules: Rules | None = None) -> None:
        self.root = os.path.abspath(os.fspath(root))
        self._real = os.path.realpath(self.root)
        self._rules = confined_rules.of_environment() if rules is None else rules
        with _translated("open", self.root):
            self._descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> "Directory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the directory; it cannot be used any more."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def kind(self, path: str) -> str | None:
        """Say what is at `path`: `file`, `directory`, `link`, `other`, or None where there is
        nothing.
        """
        parts = _parts(path)
        if not parts:
            return "directory"
        with (
            _translated("look at", path),
            contextlib.suppress(FileNotFoundError),
            self._parent("/".join(parts)) as (parent, name),
        ):
            return _kind(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
        return None

    def check_writable(self, path: str) -> bool:
        """Say whether there is a file at `path`; raises PathRefused where a write of it would."""
        self._refuse_protected(path)
        with (
            _translated("write", path),
            contextlib.suppress(FileNotFoundError),
            self._parent(path) as (parent, name),
        ):
            mode = _require_regular(os.stat(name, dir_fd=parent, follow_symlinks=False), path)
            return _require_write_bit(mode, path)
        return False

    def read_bytes(self, path: str, *, limit: int = defaults.LARGER_CAP_BYTES) -> bytes:
        """Read a regular file; raises InvalidDocument where it is larger than `limit` bytes."""
        self.refuse_secret(path)
        with _translated("read", path), self._parent(path) as (parent, name):
            return _read(parent, name, path=path, limit=limit)

    def read_text(self, path: str, *, limit: int = defaults.LARGER_CAP_BYTES) -> str:
        """Read a file of UTF-8 text, line ends as they are; raises InvalidDocument for what is no
        such text.
        """
        return _decoded(self.read_bytes(path, limit=limit), path)

    def write_text(self, path: str, text: str) -> Written:
        """Write UTF-8 text in one step (see write_bytes)."""
        return self.write_bytes(path, text.encode("utf-8"))

    def write_bytes(self, path: str, data: bytes) -> Written:
        """Put `data` in the file, making its directories; at every instant the file is wholly old
        or wholly new.

        An existing file keeps its permission bits, and is refused where they make it read-only;
        other names of the same file (hard links) keep the old bytes.
        """
        with _translated("write", path), self._writable(path, create=True) as (parent, name):
            return _replace_file(parent, name, path=path, data=data)

    def replace_text(self, path: str, old: str, new: str, *, replace_all: bool = False) -> Written:
        """Replace `old`, which must be there exactly once unless `replace_all`, with `new`; raises
        InvalidArguments else.

        Writers that go through this class wait for each other, so that no replacement is lost.
        """
        self.refuse_secret(path)
        with _translated("edit", path), self._writable(path) as (parent, name):
            text = _decoded(_read(parent, name, path=path, limit=defaults.LARGER_CAP_BYTES), path)
            changed, count = replaced(text, old, new, replace_all=replace_all, path=path)
            return _replace_file(parent, name, path=path, data=changed.encode("utf-8"))._replace(
                replacements=count
            )

    def remove(self, path: str) -> None:
        """Remove a regular file."""
        with _translated("remove", path), self._writable(path) as (parent, name):
            _require_regular(os.stat(name, dir_fd=parent, follow_symlinks=False), path)
            os.unlink(name, dir_fd=parent)

    def list(self, path: str = ".") -> list[DirectoryEntry]:
        """List one directory, sorted by name."""
        return list(self._entries(path, deep=False))

    def walk(self, path: str = ".") -> Iterator[DirectoryEntry]:
        """Return everything beneath a directory, each directory before what is in it, sorted,
        without what is in `.git`.

        Links are given and never followed; a directory that cannot be gone into is given with its
        `problem`.
        """
        return self._entries(path, deep=True)

    def _entries(self, path: str, *, deep: bool) -> Iterator[DirectoryEntry]:
        parts = _parts(path)
        with _translated("list", path):
            descriptor = self._descend(parts, path)
        try:
            yield from _walk(
                descriptor,
                "".join(f"{part}/" for part in parts),
                depth=MAX_DEPTH - len(parts) if deep else None,
            )
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _parent(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        parts = _parts(path)
        if not parts or path.endswith(("/", "/.")):
            raise PathRefused(path, "is a directory, but a file is needed")
        descriptor = self._descend(parts[:-1], path, create=create)
        try:
            yield descriptor, parts[-1]
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _writable(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        self._refuse_protected(path)
        with self._parent(path, create=create) as (parent, name):
            with contextlib.suppress(OSError):  # some network file systems have no locks
                fcntl.flock(parent, fcntl.LOCK_EX)
            yield parent, name

    def _refuse_protected(self, path: str) -> None:
        if why := self._rules.why_not_written(
            _parts(path), lambda at: self.kind(at) is not None, root=self._real
        ):
            raise PathRefused(path, why)

    @property
    def has_secrets(self) -> bool:
        """Whether the user keeps any file from tools."""
        return bool(self._rules.never_read)

    def is_secret(self, path: str) -> bool:
        """Whether the user keeps a path from tools; the path may lead out of the directory, as one
        of its repository may.
        """
        return self._rules.is_kept_secret(path.split("/"), root=self._real)

    def refuse_secret(self, path: str) -> None:
        """Raise PathRefused where the user keeps `path` from tools."""
        if self._rules.is_kept_secret(_parts(path), root=self._real):
            raise PathRefused(path, KEPT)

    def _descend(self, parts: Sequence[str], path: str, *, create: bool = False) -> int:
        steps = [os.dup(self._descriptor)]
        try:
            for part in parts:
                steps.append(_open_directory(steps[-1], part, path=path, create=create))
            return steps.pop()
        finally:
            for descriptor in steps:
                os.close(descriptor)


def replaced(
    text: str, old: str, new: str, *, replace_all: bool = False, path: str = "the text"
) -> tuple[str, int]:
    """Return `text` with `old` replaced by `new`, and in how many places.

    Raises InvalidArguments where `old` is empty or not there, or there more than once without
    `replace_all`.
    """
    count = text.count(old) if old else 0
    if not old:
        raise InvalidArguments(
            "the text to replace is empty: pass the exact text that is to be replaced"
        )
    if not count:
        ends = (
            "; its lines end in CR LF, and those of the text to replace in LF"
            if "\r\n" in text and "\n" in old
            else ""
        )
        raise InvalidArguments(
            f"{path} does not contain the text to replace{ends}: read it again and copy it exactly"
        )
    if count > 1 and not replace_all:
        raise InvalidArguments(
            f"{path} contains the text to replace {count} times: include more of the surrounding "
            "text, or set replace_all"
        )
    return text.replace(old, new), count


def _parts(path: str) -> list[str]:
    """Split a relative path; what is refused here is refused before any file is touched."""
    if not path or "\0" in path:
        raise PathRefused(path, "holds a NUL character" if path else "is empty")
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise PathRefused(path, "is not valid Unicode text")
    if "\\" in path:
        raise PathRefused(path, "holds a backslash: use / between directories")
    if path.startswith("/"):
        raise PathRefused(path, "is absolute: it must be relative to the directory")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or "~" in parts[:1]:
        raise PathRefused(path, "leads out of the directory")
    if len(parts) > MAX_DEPTH:
        raise PathRefused(path, f"is deeper than {MAX_DEPTH} directories")
    return parts


@contextlib.contextmanager
def _translated(action: str, path: str) -> Iterator[None]:
    try:
        yield
    except VespeError:  # a Refused is a PermissionError
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PathRefused(path, "is a symbolic link, which is not followed") from None
        raise StorageError(action, path, error) from error


def _open_directory(parent: int, name: str, *, path: str, create: bool = False) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
        return _open_directory(parent, name, path=path)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        is_link = stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
        raise PathRefused(
            path,
            f"goes through {name}, which is " + ("a symbolic link" if is_link else "no directory"),
        ) from None


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def _require_regular(status: os.stat_result, path: str) -> int:
    kind = _kind(status.st_mode)
    if kind != "file":
        what = {"directory": "a directory", "link": "a symbolic link, which is not followed"}.get(
            kind, "a pipe, socket or device"
        )
        raise PathRefused(path, f"is {what}")
    return stat.S_IMODE(status.st_mode) & 0o777


def _require_write_bit(mode: int, path: str) -> bool:
    if not mode & 0o222:
        raise PathRefused(path, "is read-only")
    return True


def _read(parent: int, name: str, *, path: str, limit: int) -> bytes:
    # before opening, which some devices notice
    _require_regular(os.stat(name, dir_fd=parent, follow_symlinks=False), path)
    descriptor = os.open(name, _READ, dir_fd=parent)
    try:
        _require_regular(os.fstat(descriptor), path)
        pieces, left = [], limit + 1
        while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
    finally:
        os.close(descriptor)
    if left <= 0:
        raise InvalidDocument(f"is larger than {limit} bytes", path=path)
    return b"".join(pieces)


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDocument(
            f"is not UTF-8 text: byte 0x{data[error.start]:02x}", path=path, line=line
        ) from None


def _replace_file(parent: int, name: str, *, path: str, data: bytes) -> Written:
    try:
        mode = _require_regular(os.stat(name, dir_fd=parent, follow_symlinks=False), path)
    except FileNotFoundError:
        mode = None
    if mode is not None:
        _require_write_bit(mode, path)
    aside = f".vespe-{os.getpid():x}-{time.monotonic_ns():x}.tmp"
    try:
        _write_new(parent, aside, data=data, mode=mode)
        os.replace(aside, name, src_dir_fd=parent, dst_dir_fd=parent)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(aside, dir_fd=parent)
    return Written(size=len(data), created=mode is None)


def _write_new(parent: int, name: str, *, data: bytes, mode: int | None) -> None:
    descriptor = os.open(name, _CREATE, 0o666 if mode is None else 0o600, dir_fd=parent)
    try:
        if mode is not None:
            os.fchmod(descriptor, mode)
        atomic.write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _scan(descriptor: int, prefix: str) -> Iterator[tuple[str, DirectoryEntry]]:
    for name in sorted(os.listdir(descriptor)):
        with contextlib.suppress(FileNotFoundError):  # gone since it was listed
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            kind = _kind(status.st_mode)
            shown = os.fsencode(prefix + name).decode("utf-8", "replace")
            yield (
                name,
                DirectoryEntry(path=shown, kind=kind, size=status.st_size if kind == "file" else 0),
            )


def _walk(descriptor: int, prefix: str, *, depth: int | None) -> Iterator[DirectoryEntry]:
    for name, entry in _scan(descriptor, prefix):
        if entry.kind != "directory" or depth is None or name == ".git":
            yield entry
            continue
        if depth <= 0:
            yield entry._replace(problem=f"deeper than {MAX_DEPTH} directories")
            continue
        try:
            beneath = os.open(name, _DIRECTORY, dir_fd=descriptor)
        except OSError as error:
            yield entry._replace(problem=error.strerror)
            continue
        try:
            yield entry
            yield from _walk(beneath, f"{prefix}{name}/", depth=depth - 1)
        finally:
            os.close(beneath)
