"""A private copy of a directory, hashed while it is copied, so that what was hashed is what the copy holds."""

import contextlib
import os
import stat
from collections.abc import Iterator

from vespe import file_walk
from vespe.digests import TextDigest, Tree
from vespe.errors import StorageError


@contextlib.contextmanager
def private_copy(root: str, *names: str) -> Iterator[tuple[str, Tree]]:
    """Copy the directory at `names` beneath `root` and give the copy's path, whose last part is the same, and its tree.

    The copy is beneath TMPDIR (or /tmp), private to this user, and removed afterwards. Nothing in it may be used before the
    tree was compared with what was approved. Raises StorageError.
    """
    private = _private_directory()
    try:
        copy = os.path.join(private, names[-1])
        yield copy, file_walk.scan(root, *names, visit=_Copy(copy).visit)
    finally:
        _remove(private)


class _Copy:
    """Copies each file that a scan visits while it is hashed, so that what was hashed is what the copy holds."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def visit(self, path: str, descriptor: int, status: os.stat_result) -> str:
        target = os.path.join(self._directory, *path.split("/"))
        try:
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            mode = 0o700 if status.st_mode & stat.S_IXUSR else 0o600
            written = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        except OSError as error:
            raise StorageError("write", target, error) from error
        digest = TextDigest()
        try:
            for chunk in file_walk.chunks(descriptor, status):
                digest.update(chunk)
                _write(written, chunk, target)
        finally:
            os.close(written)
        return digest.hexdigest()


def _write(descriptor: int, data: bytes, path: str) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        raise StorageError("write", path, error) from error


def _private_directory() -> str:
    path = os.path.join(os.path.abspath(os.environ.get("TMPDIR") or "/tmp"), f"vespe-{os.urandom(12).hex()}")
    try:
        os.mkdir(path, 0o700)
    except OSError as error:
        raise StorageError("make", path, error) from error
    return path


def _remove(directory: str) -> None:
    """Remove a private directory whatever a tool has left in it; what cannot be removed stays, private, to the system's cleaner."""
    directories = [directory]
    for path in directories:
        with contextlib.suppress(OSError):
            os.chmod(path, stat.S_IRWXU)
            with os.scandir(path) as listing:
                entries = list(listing)
            directories += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
    for path in reversed(directories):
        with contextlib.suppress(OSError):
            os.rmdir(path)
