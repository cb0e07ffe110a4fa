"""Small trees of files: read within bounds, put in place whole in one rename, taken away; leftovers of killed selves go too."""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.files import atomic
from vespe.processes.signals import whole

MAX_FILES = 1000
MAX_BYTES = 32 * 1024 * 1024
"""Of all files of a tree together; a tool is a script and a few files beside it."""
MAX_DEPTH = 16
_LEFT_OUT = ("__pycache__",)
_LEFTOVER = re.compile(r"\.(?:new|gone)-tool-[a-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """One file of a tree: its bytes, and whether it may be executed."""

    data: bytes
    executable: bool = False


def read_tree(directory: str) -> dict[str, TreeFile]:
    """Read every file beneath a directory, by its path in it (with `/`); byte code is left out.

    Raises InvalidDocument for a link, a FIFO, a device or a tree past its bounds: what is copied is what was seen.
    StorageError where the operating system refuses.
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


@whole
def place_tree(parent: str, name: str, files: Mapping[str, TreeFile], *, check: Callable[[str], None]) -> str:
    """Make the directory `name` in `parent` with these files, wholly or not at all, and give its path.

    It is made aside, flushed, given to `check` (whose errors stop it), and comes to its place in one rename. The
    caller holds the lock of `parent`. Raises StorageError; then nothing is left.
    """
    aside, place = os.path.join(parent, f".new-{name}"), os.path.join(parent, name)
    staged = os.path.join(aside, name)
    try:
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        os.mkdir(aside, 0o755)
        os.mkdir(staged, 0o755)
        for relative, file in files.items():
            _write(staged, relative, file)
        flush(staged)
        check(staged)
        atomic.rename_durably(staged, place)
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError("create", place, error) from error
    finally:
        with contextlib.suppress(OSError):
            delete_tree(aside)
    return place


@whole
def remove_tree(parent: str, name: str) -> None:
    """Take the directory `name` out of `parent` in one rename, then delete it; links in it are deleted, never followed.

    The caller holds the lock of `parent`. Raises Refused for a link or for what is not directly in `parent`,
    StorageError (FileNotFoundError's errno too) where the operating system refuses.
    """
    place = os.path.join(parent, name)
    if name in ("", ".", "..") or os.path.basename(name) != name or "\0" in name:
        raise Refused(f"{name!r} is not a directory of {parent}, so it is not removed")
    if os.path.islink(parent) or os.path.islink(place):
        raise Refused(f"{parent if os.path.islink(parent) else place} is a symbolic link, so nothing behind it is removed")
    aside = os.path.join(parent, f".gone-tool-{re.sub('[^a-z0-9_-]', '-', name.lower().removeprefix('tool-'))}")
    try:
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        atomic.rename_durably(place, aside)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError("remove", place, error) from error
    with contextlib.suppress(OSError):
        delete_tree(aside)  # it is gone already: what stays of it now is swept the next time


def delete_tree(path: str) -> None:
    """Delete a directory with all that is in it; links are deleted, never followed. Raises OSError."""
    for _, directories, files, descriptor in os.fwalk(path, topdown=False, onerror=_raise):
        for name in files:
            os.unlink(name, dir_fd=descriptor)
        for name in directories:
            try:
                os.rmdir(name, dir_fd=descriptor)
            except NotADirectoryError:  # a link to a directory
                os.unlink(name, dir_fd=descriptor)
    os.rmdir(path)


def sweep(parent: str) -> None:
    """Delete what killed processes left in `parent`: trees half made, or half removed. The caller holds the lock.

    What cannot be deleted stays, and is tried again the next time. Raises StorageError where `parent` cannot be read.
    """
    try:
        names = os.listdir(parent)
    except OSError as error:
        raise StorageError("read", parent, error) from error
    for name in names:
        path = os.path.join(parent, name)
        if _LEFTOVER.fullmatch(name) and not os.path.islink(path) and os.path.isdir(path):
            with contextlib.suppress(OSError):
                delete_tree(path)


def _listed(directory: str, prefix: str, depth: int) -> Iterator[tuple[str, bool]]:
    place = os.path.join(directory, prefix)
    if depth > MAX_DEPTH:
        raise InvalidDocument(f"is nested deeper than {MAX_DEPTH} directories", path=place)
    try:
        with os.scandir(place) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        statuses = [(entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in found]
    except OSError as error:
        raise StorageError("read", place, error) from error
    for name, mode in statuses:
        relative = f"{prefix}/{name}" if prefix else name
        if stat.S_ISDIR(mode) and name not in _LEFT_OUT:
            yield from _listed(directory, relative, depth + 1)
        elif stat.S_ISREG(mode):
            yield relative, bool(mode & 0o100)
        elif not stat.S_ISDIR(mode):
            raise InvalidDocument("is not a regular file, and only those are copied", path=os.path.join(directory, relative))


def _write(root: str, relative: str, file: TreeFile) -> None:
    place = os.path.join(root, relative)
    os.makedirs(os.path.dirname(place), exist_ok=True)
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


def sweep_beside(path: str | os.PathLike[str]) -> None:
    """Remove the unfinished successors (`NAME.PID-TIME.tmp`) of the file at `path`; the caller holds the lock of its directory.

    What cannot be removed stays, and is tried again the next time.
    """
    directory, name = os.path.split(os.fspath(path))
    unfinished = re.compile(rf"{re.escape(name)}\.[0-9a-f]+-[0-9a-f]+\.tmp")
    with contextlib.suppress(OSError):
        for found in os.listdir(directory or "."):
            if unfinished.fullmatch(found):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(directory, found))


@whole
def delete(path: str) -> None:
    """Delete a directory of ours, read-only ones in it too; links are deleted, never followed. What cannot be deleted stays."""
    directories = [path]
    for directory in directories:
        with contextlib.suppress(OSError):
            os.chmod(directory, stat.S_IRWXU)
            with os.scandir(directory) as listing:
                entries = list(listing)
            directories += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
    for directory in reversed(directories):
        with contextlib.suppress(OSError):
            os.rmdir(directory)
