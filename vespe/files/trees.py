"""Small trees of files: read within bounds, put in place whole, taken away."""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping

from vespe.errors import InvalidDocument, Refused
from vespe.files import atomic, staging
from vespe.records import dataclass

MAX_FILES = 1000
MAX_BYTES = 32 * 1024 * 1024
"""Of all files of a tree together; a tool is a script and a few files beside it."""
MAX_DEPTH = 16
_LEFT_OUT = ("__pycache__",)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """One file of a tree: its bytes, and whether it may be executed."""

    data: bytes
    executable: bool = False


def read_tree(directory: str) -> dict[str, TreeFile]:
    """Read every file beneath a directory, by its path in it (with `/`); byte code is left out.

    Raises InvalidDocument for a link, a FIFO, a device or a tree past its bounds: what is copied is
    what was seen. StorageError where the operating system refuses.
    """
    files: dict[str, TreeFile] = {}
    left = MAX_BYTES
    for relative, executable in _listed(directory, "", 0):
        if len(files) == MAX_FILES:
            raise InvalidDocument(f"has more than {MAX_FILES} files", path=directory)
        data = atomic.read_bytes(os.path.join(directory, relative), limit=left)
        left -= len(data)
        files[relative] = TreeFile(data=data, executable=executable)
    return files


def place_tree(
    parent: str, name: str, files: Mapping[str, TreeFile], *, check: Callable[[str], None]
) -> str:
    """Make the directory `name` in `parent` with these files, wholly or not at all, and return its
    path.

    It is made aside, flushed, given to `check` (whose errors stop it), and comes to its place in
    one rename. The caller holds the lock of `parent`. Raises StorageError; then nothing is left.
    """
    place = os.path.join(parent, name)
    with atomic.translated("make", place), staging.staging(parent, target=place) as aside:
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        staged = os.path.join(aside, name)
        os.mkdir(staged, 0o755)
        for relative, file in files.items():
            _write(staged, relative, file)
        flush(staged)
        check(staged)
        staging.place(staged, place)
    return place


def remove_tree(parent: str, name: str) -> None:
    """Take the directory `name` out of `parent` as `staging.remove` does; raises Refused for what
    is not directly in `parent`.
    """
    if name in ("", ".", "..") or os.path.basename(name) != name or "\0" in name:
        raise Refused(f"{name!r} is not a directory of {parent}, so it is not removed")
    staging.remove(os.path.join(parent, name))


def _listed(directory: str, prefix: str, depth: int) -> Iterator[tuple[str, bool]]:
    place = os.path.join(directory, prefix)
    if depth > MAX_DEPTH:
        raise InvalidDocument(f"is nested deeper than {MAX_DEPTH} directories", path=place)
    with atomic.translated("read", place), os.scandir(place) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
        statuses = [(entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in found]
    for name, mode in statuses:
        relative = f"{prefix}/{name}" if prefix else name
        if stat.S_ISDIR(mode) and name not in _LEFT_OUT:
            yield from _listed(directory, relative, depth + 1)
        elif stat.S_ISREG(mode):
            yield relative, bool(mode & 0o100)
        elif not stat.S_ISDIR(mode):
            raise InvalidDocument(
                "is not a regular file, and only those are copied",
                path=os.path.join(directory, relative),
            )


def _write(root: str, relative: str, file: TreeFile) -> None:
    place = os.path.join(root, relative)
    atomic.private_directory(os.path.dirname(place), mode=0o755)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(place, flags, 0o755 if file.executable else 0o644), "wb") as stream:
        stream.write(file.data)
        stream.flush()
        os.fsync(stream.fileno())


def flush(root: str) -> None:
    """Flush every directory's entries beneath `root`, and its own; raises OSError."""
    for directory, _, _ in os.walk(root, onerror=_raise):
        atomic.sync_directory(directory)


def _raise(error: OSError) -> None:
    raise error
