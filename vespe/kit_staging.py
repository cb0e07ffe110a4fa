"""A kit's files written out beside the store: new regular files alone, hashed as they are written, flushed before they count."""

import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from vespe import digests, documents, kit_store
from vespe.deferred import deferred
from vespe.digests import File
from vespe.errors import InvalidDocument, StorageError
from vespe.kit_trees import KitTree

if TYPE_CHECKING:
    import ctypes
else:
    ctypes = deferred("ctypes")

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FEW: Final = 64
"""Files that are flushed one by one; more of them cost less in one flush of their file system, where the system has that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A kit written out and flushed, not yet in its place: `path` is its directory, `place` what is renamed into the store."""

    kit_id: str
    subdirectory: str
    place: str
    digest: str
    files: dict[str, File]

    @property
    def path(self) -> str:
        """The kit's directory, to be looked at before it is approved."""
        return os.path.join(self.place, self.kit_id)


def stage(tree: KitTree, directory: str) -> Staged:
    """Write a kit out in a directory of `kit_store.staging`; raises StorageError, and as the tree's reader does."""
    place = os.path.join(directory, tree.kit_id)
    root = os.path.join(place, tree.kit_id)
    try:
        _make_directories(root, tree)
        files = dict(_written(root, tree))
        digest = digests.digest_of(files)
        _write(os.path.join(place, kit_store.MANIFEST), digests.manifest_of(files), 0o644)
        _finish(place)
    except OSError as error:
        raise error if isinstance(error, StorageError) else StorageError("write", error.filename or place, error) from error
    return Staged(kit_id=tree.kit_id, subdirectory=tree.subdirectory, place=place, digest=digest, files=files)


def commit(staged: Staged) -> str:
    """Put a staged kit into the store and give its path there; the caller holds the store's lock."""
    return kit_store.place(staged.place, staged.digest, staged.kit_id)


def _make_directories(root: str, tree: KitTree) -> None:
    os.mkdir(os.path.dirname(root), 0o755)
    os.mkdir(root, 0o755)
    made = {""}
    for entry in tree.entries:
        parts = entry.path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            if (path := "/".join(parts[:depth])) not in made:
                os.mkdir(os.path.join(root, path), 0o755)
                made.add(path)


def _written(root: str, tree: KitTree) -> Iterator[tuple[str, File]]:
    for entry, data in tree.read(tree.entries):
        if len(data) != entry.size:
            raise InvalidDocument(f"has {len(data)} bytes, and {entry.size} were listed", path=entry.path)
        _write(os.path.join(root, entry.path), data, 0o755 if entry.executable else 0o644)
        yield entry.path, File(executable=entry.executable, sha256=hashlib.sha256(data).hexdigest())


def _write(path: str, data: bytes, mode: int) -> None:
    descriptor = os.open(path, _NEW, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def _finish(place: str) -> None:
    """Make the directories read-only and let the disk confirm everything, before anything refers to it."""
    for path, _, _ in os.walk(place, onerror=_raise):
        if path != place:
            os.chmod(path, 0o555)
    flush(place)


def flush(place: str) -> None:
    """Let the disk confirm a directory and all in it, before anything refers to it; raises OSError."""
    found = [(path, files) for path, _, files in os.walk(place, onerror=_raise)]
    if sum(len(files) for _, files in found) > _FEW and _flush_all(place):
        return
    for path, files in found:
        for name in files:
            documents.sync_directory(os.path.join(path, name))
        documents.sync_directory(path)


def _flush_all(path: str) -> bool:
    """Flush a whole file system in one call; False where there is no such call."""
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if library.syncfs(descriptor):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    except AttributeError:
        return False
    finally:
        os.close(descriptor)
    return True


def _raise(error: OSError) -> None:
    raise error
