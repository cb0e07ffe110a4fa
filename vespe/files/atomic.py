"""One file read, and written whole: bounded reading, atomic durable writing, and one lock for each
directory.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
import threading
import time
from collections.abc import Iterator
from typing import Final

from vespe import defaults
from vespe.errors import InvalidDocument, NotDurable, StorageError, VespeError
from vespe.processes.signals import interruptible, uninterruptible

_held: Final = threading.local()
"""The directories whose lock this thread holds."""


@contextlib.contextmanager
def translated(action: str, path: str) -> Iterator[None]:
    """Turn what the operating system refuses into a StorageError that says what could not be done,
    and with which path.
    """
    try:
        yield
    except VespeError:  # a Refused is a PermissionError
        raise
    except OSError as error:
        raise StorageError(action, path, error) from error


def read_bytes(path: str | os.PathLike[str], *, limit: int = defaults.MAX_FILE_BYTES) -> bytes:
    """Read a regular file of at most `limit` bytes without ever blocking or following a link at its
    last component.

    Raises InvalidDocument for what is no regular file (a FIFO, a device, a link) or too large,
    StorageError for what the operating system refuses; FileNotFoundError's errno is kept in
    `details`.
    """
    name = os.fspath(path)
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InvalidDocument(
                "is a symbolic link, which Vespe does not follow", path=name
            ) from None
        if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
            raise InvalidDocument("is not a regular file", path=name) from None
        raise StorageError("read", name, error) from error
    try:
        with translated("read", name):
            return _read_descriptor(descriptor, name, limit)
    finally:
        os.close(descriptor)


def write_atomic(
    path: str | os.PathLike[str], data: bytes | str, *, mode: int = 0o644, durable: bool = True
) -> None:
    """Replace `path` in one step: a private file beside it, fsync, rename, fsync of the directory.

    At every instant the file is wholly old or wholly new. `durable=False` leaves the fsyncs out
    (caches). Raises StorageError and leaves nothing behind; NotDurable where the file is new, but
    the disk did not confirm the rename.
    """
    name = os.fspath(path)
    content = data.encode("utf-8") if isinstance(data, str) else data
    aside = f"{name}.{os.getpid():x}-{time.monotonic_ns():x}.tmp"
    with uninterruptible():
        try:
            with translated("write", name):
                _write_new(aside, content, mode, durable)
                os.replace(aside, name)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(aside)
        if durable:
            try:
                sync_directory(os.path.dirname(name) or ".")
            except OSError as error:
                raise NotDurable(name, error) from error


def create(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o600) -> bool:
    """Make a file that is not there yet, whole from its first instant; False where there is one, of
    several that make it for all but one. Raises StorageError and leaves nothing behind.
    """
    name = os.fspath(path)
    aside = f"{name}.{os.getpid():x}-{threading.get_native_id():x}-{time.monotonic_ns():x}.tmp"
    with uninterruptible():
        try:
            with translated("write", name):
                _write_new(aside, data, mode, False)
                os.link(aside, name)
        except StorageError as error:
            if error.details.get("errno") == errno.EEXIST:
                return False
            raise
        finally:
            with contextlib.suppress(OSError):
                os.unlink(aside)
    return True


def sweep_beside(path: str | os.PathLike[str]) -> None:
    """Remove the unfinished successors (`NAME.PID-TIME.tmp`) of the file at `path`; the caller
    holds the lock of its directory.

    What cannot be removed stays, and is tried again the next time.
    """
    directory, name = os.path.split(os.fspath(path))
    unfinished = re.compile(rf"{re.escape(name)}\.[0-9a-f]+-[0-9a-f]+\.tmp")
    with contextlib.suppress(OSError):
        for found in os.listdir(directory or "."):
            if unfinished.fullmatch(found):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(directory, found))


def private_directory(path: str, *, mode: int = 0o700) -> None:
    """Make a directory and those above it that are missing, each with at most this mode; raises
    StorageError.

    `os.makedirs` gives its mode to the last one alone, and the others are the umask's: with 002 a
    whole group writes there.
    """
    missing, above = [], path
    while above and not os.path.isdir(above):
        missing.append(above)
        above = os.path.dirname(above)
    with translated("make", path):
        for directory in reversed(missing):
            try:
                os.mkdir(directory, mode)
            except FileExistsError:
                if not os.path.isdir(directory):
                    raise


def rename_durably(source: str, target: str) -> None:
    """Rename to what does not exist, and flush the directory of `target`; where that fails, the
    rename is undone.

    Raises OSError, and NotDurable where it could not be undone.
    """
    with uninterruptible():
        os.rename(source, target)
        try:
            sync_directory(os.path.dirname(target))
        except OSError as error:
            try:
                os.rename(target, source)
            except OSError:
                raise NotDurable(target, error) from error
            raise


def sync_directory(path: str) -> None:
    """Flush a directory's entries, so that a rename in it outlives a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(
    directory: str, *, timeout_s: float = defaults.LOCK_TIMEOUT_S, reentrant: bool = True
) -> Iterator[None]:
    """Hold the exclusive lock of a directory; the kernel lets go of it when its holder dies.

    Where `reentrant`, a thread that holds it already gets it again: what changes several files
    takes all locks before the first change. Raises StorageError when another process holds it for
    `timeout_s` seconds, or the directory cannot be opened, or is none.
    """
    with translated("lock", directory):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC)
    status, held = os.fstat(descriptor), _held.__dict__
    identity = f"{status.st_dev}:{status.st_ino}"
    try:
        if reentrant and identity in held:
            yield
            return
        _acquire(descriptor, directory, timeout_s)
        held[identity] = True
        try:
            yield
        finally:
            del held[identity]
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, directory: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                raise StorageError("lock", directory, error) from error
        if time.monotonic() > deadline:
            raise StorageError(
                "lock",
                directory,
                OSError(errno.EAGAIN, f"another process has held the lock for {timeout_s:g} s"),
            )
        with interruptible():
            time.sleep(0.01)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data, however little a file system takes at a time; raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _write_new(path: str, content: bytes, mode: int, durable: bool) -> None:
    descriptor = os.open(
        path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode
    )
    try:
        write_all(descriptor, content)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_descriptor(descriptor: int, name: str, limit: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidDocument("is not a regular file", path=name)
    if status.st_size > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=name)
    data = os.read(descriptor, status.st_size + 1)
    while len(data) <= limit and (more := os.read(descriptor, limit + 1 - len(data))):
        data += more
    if len(data) > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=name)
    return data
