"""Every file beneath a directory, each read once and never through a link; what is odd is named,
not skipped.
"""

import errno
import itertools
import os
import stat
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from vespe.files.digests import File, TextDigest, Tree, keeps_line_ends

MAX_ENTRIES: Final = 200_000
"""Files and directories of one tree; 10,000 tools of three files each are 40,000."""
MAX_TREE_BYTES: Final = 1024 * 1024 * 1024
MAX_DEPTH: Final = 64
UNREADABLE: Final = "unreadable"
"""How the reason begins where the operating system refused to read."""
BROKEN: Final = f"{UNREADABLE} ({os.strerror(errno.EIO)})"
"""The reason where the disk failed: another try may succeed."""
_CHUNK: Final = 1024 * 1024
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS: Final = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISDIR, "a directory"),
)

Visit: TypeAlias = Callable[[str, int, os.stat_result], str]
"""Reads one opened regular file, given its path in the tree, its descriptor and its status, and
gives its SHA-256; a StorageError that it raises ends the scan.
"""


class Odd(ValueError):
    """Why one path has no digest, as the end of a sentence that begins with the path."""


def scan(root: str, *names: str, visit: Visit | None = None) -> Tree:
    """Read the tree at `names` beneath `root`, following no link on the way; what is not there is
    an empty tree.

    Never raises for what it finds: an unreadable, oversized or vanished path is in `odd`, under ""
    when it is the tree's root.
    """
    reading = _Reading(visit or hash_file)
    try:
        descriptor = open_beneath(root, *names)
    except FileNotFoundError:
        return Tree()
    except OSError as error:
        return Tree(odd={"": _why(error, directory=True)})
    try:
        reading.directory(descriptor, "", 0)
    finally:
        os.close(descriptor)
    return Tree(files=reading.files, odd=reading.odd)


def open_beneath(root: str, *names: str) -> int:
    """Open the directory at `names` beneath `root` one name at a time, so that no link is followed;
    raises OSError.
    """
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in names:
        try:
            deeper = os.open(name, _READ | os.O_DIRECTORY, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = deeper
    return descriptor


def hash_file(path: str, descriptor: int, status: os.stat_result) -> str:
    """Return the SHA-256 (hex) of an open file's normalised bytes: the plain Visit."""
    digest = TextDigest(exact=keeps_line_ends(path, executable=bool(status.st_mode & stat.S_IXUSR)))
    for chunk in chunks(descriptor, status):
        digest.update(chunk)
    return digest.hexdigest()


def chunks(descriptor: int, status: os.stat_result) -> Iterable[bytes]:
    """Read an open file once from its beginning to its end; raises Odd when it is not as long as
    its status says.
    """
    left = status.st_size
    while left >= 0:
        chunk = os.read(descriptor, min(left, _CHUNK) + 1)
        left -= len(chunk)
        if left < 0 or (left and not chunk):
            raise Odd("changed while it was read")
        if not chunk:
            return
        yield chunk
        if not left:
            return


class _Reading:
    """One walk over a tree, with its budget."""

    def __init__(self, visit: Visit) -> None:
        self.files: dict[str, File] = {}
        self.odd: dict[str, str] = {}
        self._visit = visit
        self._entries = MAX_ENTRIES
        self._bytes = MAX_TREE_BYTES

    def directory(self, descriptor: int, prefix: str, depth: int) -> None:
        try:
            with os.scandir(descriptor) as listing:
                names = [entry.name for entry in itertools.islice(listing, self._entries + 1)]
        except OSError as error:
            self.odd[prefix.rstrip("/")] = _why(error)
            return
        self._entries -= len(names)
        if self._entries < 0 or depth > MAX_DEPTH:
            limit = (
                f"{MAX_DEPTH} levels"
                if depth > MAX_DEPTH
                else f"{MAX_ENTRIES} files and directories"
            )
            self.odd[prefix.rstrip("/")] = f"more than Vespe vouches for: over {limit}"
            return
        for name in sorted(names):
            self._entry(descriptor, name, prefix, depth)

    def _entry(self, parent: int, name: str, prefix: str, depth: int) -> None:
        path = prefix + name
        try:
            path.encode("utf-8")
            descriptor = os.open(name, _READ, dir_fd=parent)
        except UnicodeEncodeError:
            self.odd[path.encode("utf-8", "backslashreplace").decode("utf-8")] = (
                "a name that is not UTF-8"
            )
            return
        except OSError as error:
            self.odd[path] = _kind_of(parent, name) or _why(error)
            return
        try:
            self._opened(descriptor, path, depth)
        except Odd as odd:
            self.odd[path] = str(odd)
        except OSError as error:
            self.odd[path] = _why(error)
        finally:
            os.close(descriptor)

    def _opened(self, descriptor: int, path: str, depth: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            self.directory(descriptor, f"{path}/", depth + 1)
            return
        if not stat.S_ISREG(status.st_mode):
            raise Odd(_kind(status.st_mode) or "a device")
        self._bytes -= status.st_size
        if self._bytes < 0:
            raise Odd(f"more than Vespe vouches for: the tree holds over {MAX_TREE_BYTES} bytes")
        self.files[path] = File(
            executable=bool(status.st_mode & stat.S_IXUSR),
            sha256=self._visit(path, descriptor, status),
        )


def _kind_of(parent: int, name: str) -> str:
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except OSError:
        return ""
    return "" if stat.S_ISDIR(mode) else _kind(mode)


def _kind(mode: int) -> str:
    return next((kind for holds, kind in _KINDS if holds(mode)), "")


def _why(error: OSError, *, directory: bool = False) -> str:
    if directory and error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "not a directory but a link or a file"
    if error.errno == errno.ENOENT:
        return "removed while it was read"
    return f"{UNREADABLE} ({error.strerror})"
