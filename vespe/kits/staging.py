"""A kit's files written out beside the store: new regular files alone, hashed as they are written,
flushed before they count.
"""

import contextlib
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from vespe import defaults
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, digests
from vespe.files.digests import File
from vespe.kits import store
from vespe.kits.entry_rules import KitTree
from vespe.lazy import ctypes
from vespe.records import dataclass

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FEW: Final = 64
"""Files and directories that are flushed one by one; more of them cost less in one flush of their
file system, where there is one.
"""


class Flush:
    """A flush of a whole file system that goes on beside what else there is to do; nothing may
    refer to what it flushes before `wait`.
    """

    def __init__(self, call: Callable[[int], int], descriptor: int, path: str) -> None:
        self._call = call
        self._path = path
        self._descriptor = os.dup(descriptor)
        self._errno = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until the disk has everything; raises StorageError where it does not confirm
        that.
        """
        self._thread.join()
        if self._errno:
            error = OSError(self._errno, os.strerror(self._errno), self._path)
            raise StorageError("write", self._path, error) from error

    def _run(self) -> None:
        if self._call(self._descriptor):
            self._errno = ctypes.get_errno()
        os.close(self._descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A kit written out, not yet in its place: `path` is its directory, `place` what is renamed
    into the store.

    `configs` are the bytes of its tools' config.json by their directories, as they were hashed, as
    far as they were kept. `flush` is what the disk has not confirmed yet.
    """

    kit_id: str
    subdirectory: str
    place: str
    digest: str
    files: dict[str, File]
    configs: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)
    flush: Flush | None = field(default=None, compare=False, repr=False)

    @property
    def path(self) -> str:
        """The kit's directory, to be looked at before it is approved."""
        return os.path.join(self.place, self.kit_id)


def stage(tree: KitTree, directory: str) -> Staged:
    """Write a kit out in a directory of `store.staging`; raises StorageError, and as the tree's
    reader does.
    """
    place = os.path.join(directory, tree.kit_id)
    root = os.path.join(place, tree.kit_id)
    try:
        os.mkdir(place, 0o755)
        os.mkdir(root, 0o755)
        with _opened(root) as within:
            directories = _make_directories(within, tree)
            configs: dict[str, bytes] = {}
            files = dict(_written(within, tree, configs))
            _write(os.path.join(place, store.MANIFEST), digests.manifest_of(files), 0o644)
            for path in (*directories, root):
                os.chmod(path, 0o555, dir_fd=within)
            flush = _flush(
                within,
                place,
                (*files, os.path.join(place, store.MANIFEST), *directories, root, place),
            )
    except OSError as error:
        where = os.path.join(root, os.fspath(error.filename)) if error.filename else place
        raise StorageError("write", where, error) from error
    digest = digests.digest_of(files)
    return Staged(
        kit_id=tree.kit_id,
        subdirectory=tree.subdirectory,
        place=place,
        digest=digest,
        files=files,
        configs=configs,
        flush=flush,
    )


def confirm(staged: Sequence[Staged]) -> None:
    """Wait until the disk has every byte of staged kits; raises StorageError where it does not
    confirm that.
    """
    for kit in staged:
        if kit.flush is not None:
            kit.flush.wait()


def commit(staged: Staged) -> str:
    """Put a staged kit into the store and give its path there; the caller holds the store's lock.
    Raises as `confirm` does.
    """
    confirm([staged])
    return store.place(staged.place, staged.digest, staged.kit_id)


@contextlib.contextmanager
def _opened(directory: str) -> Iterator[int]:
    descriptor = os.open(directory, _DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _make_directories(within: int, tree: KitTree) -> list[str]:
    made = {"": None}
    for entry in tree.entries:
        if entry.path.rpartition("/")[0] not in made:
            parts = entry.path.split("/")
            for path in ("/".join(parts[:depth]) for depth in range(1, len(parts))):
                if path not in made:
                    os.mkdir(path, 0o755, dir_fd=within)
                    made[path] = None
    del made[""]
    return list(made)


def _written(within: int, tree: KitTree, configs: dict[str, bytes]) -> Iterator[tuple[str, File]]:
    for entry, data in tree.read(tree.entries):
        if len(data) != entry.size:
            raise InvalidDocument(
                f"has {len(data)} bytes, and {entry.size} were listed", path=entry.path
            )
        _write(entry.path, data, 0o755 if entry.executable else 0o644, within)
        tool, _, rest = entry.path.partition("/")
        if rest == defaults.CONFIG_FILE and len(data) <= defaults.MAX_FILE_BYTES:
            configs[tool] = data
        yield entry.path, File(executable=entry.executable, sha256=hashlib.sha256(data).hexdigest())


def _write(path: str, data: bytes, mode: int, within: int | None = None) -> None:
    descriptor = os.open(path, _NEW, mode, dir_fd=within)
    try:
        atomic.write_all(descriptor, data)
    finally:
        os.close(descriptor)


def flush(place: str) -> None:
    """Let the disk confirm a directory and all in it, before anything refers to it; raises OSError
    and StorageError.
    """
    walked = os.walk(place, onerror=_raise)
    found = [
        path
        for where, _, files in walked
        for path in (*(os.path.join(where, name) for name in files), where)
    ]
    with _opened(place) as within:
        if (going := _flush(within, place, found)) is not None:
            going.wait()


def _raise(error: OSError) -> None:
    raise error


def _flush(within: int, place: str, paths: Sequence[str]) -> Flush | None:
    """Let the disk confirm everything that was written: one by one where it is little, else all at
    once and in the background.
    """
    if len(paths) > _FEW and (call := _syncfs()):
        return Flush(call, within, place)
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=within)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return None


def _syncfs() -> Callable[[int], int] | None:
    """The call that flushes a whole file system; None where there is none."""
    return (
        getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if sys.platform.startswith("linux")
        else None
    )
