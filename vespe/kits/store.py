"""The content-addressed store of installed kits in the user data directory: staged aside, put in
whole, verified, taken out.
"""

import contextlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Final

from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, digests, locations, walk
from vespe.files import staging as files_staging
from vespe.files.digests import SCHEME, File
from vespe.lazy import hashlib, pattern

STORE: Final = "store"
MANIFEST: Final = "manifest"
"""Beside the kit's directory: the lines that its digest is the SHA-256 of, so that every file's
hash can be believed.
"""
_MAX_MANIFEST: Final = 32 * 1024 * 1024
_DIGEST: Final = pattern(r"v1:([0-9a-f]{64})")
_PLACE: Final = pattern(r"v1-([0-9a-f]{64})")


def store_dir() -> str:
    """Return the store's directory; it may not exist."""
    return os.path.join(locations.user_data_dir(), STORE)


def place_of(digest: str) -> str:
    """Return the directory of a digest in the store, which holds the manifest and the kit's
    directory; it may not exist.
    """
    found = _DIGEST.fullmatch(digest)
    if found is None:
        raise InvalidDocument(f"names {digest[:80]!r}, which is not a digest of a kit")
    return os.path.join(store_dir(), f"v1-{found[1]}")


def kit_path(digest: str, kit_id: str) -> str:
    """Return the directory of an installed kit; it may not exist."""
    return os.path.join(place_of(digest), kit_id)


def owner_of(path: str) -> tuple[str, str, str] | None:
    """Say which digest and kit a path in the store belongs to, and its path in that kit; None for
    what is not in the store.
    """
    rest = os.path.abspath(path).removeprefix(os.path.join(os.path.abspath(store_dir()), ""))
    place, _, inner = rest.partition("/")
    found = _PLACE.fullmatch(place)
    kit_id, _, within = inner.partition("/")
    return (f"{SCHEME}{found[1]}", kit_id, within) if found and kit_id else None


def stored() -> tuple[str, ...]:
    """Return the digests that the store has, sorted."""
    try:
        names = os.listdir(store_dir())
    except OSError:
        return ()
    return tuple(
        f"{SCHEME}{found[1]}" for name in sorted(names) if (found := _PLACE.fullmatch(name))
    )


def locked() -> AbstractContextManager[None]:
    """Hold the store's lock: whoever puts in, takes out or sweeps. A project's lock is only ever
    taken inside it, never around it.
    """
    _make_store()
    return atomic.locked(store_dir())


@contextlib.contextmanager
def staging() -> Iterator[str]:
    """Make a private directory on the store's file system, removed afterwards; one whose process
    was killed is swept later.
    """
    with contextlib.ExitStack() as stack:
        with locked():
            sweep()
            path = stack.enter_context(files_staging.staging(store_dir()))
        yield path


def place(staged: str, digest: str, kit_id: str) -> str:
    """Put a staged place (its kit's directory and its manifest) into the store, and return the
    kit's path; the caller holds the lock.

    What the store has already stays where it is whole; where somebody changed it, the staged one
    takes its place.
    """
    target = place_of(digest)
    if os.path.lexists(target):
        if not differences(digest, kit_id):
            return kit_path(digest, kit_id)
        remove(digest)
    files_staging.place(staged, target)
    with atomic.translated("make", target):
        os.chmod(target, 0o555)
    return kit_path(digest, kit_id)


def remove(digest: str) -> None:
    """Take a digest out of the store, where it is there, as `files.staging.remove` does; the caller
    holds the lock.
    """
    target = place_of(digest)
    if os.path.lexists(target):
        files_staging.remove(target)


def sweep() -> None:
    """Delete what killed processes left in the store; the caller holds the lock. Raises
    StorageError where it cannot be read.
    """
    files_staging.sweep(store_dir())


def recover() -> None:
    """Sweep where there is something to sweep, so that a command with nothing to do there clears up
    too; raises StorageError.
    """
    if files_staging.has_leftovers(store_dir()):
        with locked():
            sweep()


def manifest(digest: str) -> dict[str, File]:
    """Return the files of an installed kit, which the digest vouches for; raises InvalidDocument
    where the manifest was changed.
    """
    path = os.path.join(place_of(digest), MANIFEST)
    try:
        data = atomic.read_bytes(path, limit=_MAX_MANIFEST)
    except StorageError:
        if os.path.lexists(path):
            raise
        raise InvalidDocument(
            "no longer exists", path=path, hint="`vespe kit sync` installs it again"
        ) from None
    if f"{SCHEME}{hashlib.sha256(data).hexdigest()}" != digest:
        raise InvalidDocument(
            "was changed since the kit was installed",
            path=path,
            hint="`vespe kit sync` installs it again",
        )
    rows = (line.split("\0") for line in data.decode("utf-8").split("\n")[:-1])
    return {name: File(executable=mode == "x", sha256=sha256) for name, mode, sha256 in rows}


def differences(digest: str, kit_id: str) -> tuple[str, ...]:
    """Say what differs between an installed kit and its digest, file by file; () where every byte
    is as it was installed.

    Raises StorageError where it cannot be read at all.
    """
    if os.path.islink(place_of(digest)):
        return (f"{place_of(digest)} is a symbolic link",)
    try:
        files = manifest(digest)
        others = set(os.listdir(place_of(digest))) - {MANIFEST, kit_id}
    except InvalidDocument as error:
        return (str(error),)
    except OSError as error:
        return (f"{place_of(digest)} cannot be read: {error.strerror or error}",)
    tree = walk.scan(place_of(digest), kit_id, visit=raw_digest)
    return (
        *(f"added {other}" for other in sorted(others)),
        *digests.changes(files, tree, prefix=f"{kit_id}/"),
    )


def raw_digest(path: str, descriptor: int, status: os.stat_result) -> str:
    """Return the SHA-256 (hex) of an open file's bytes as they are: a Visit."""
    digest = hashlib.sha256()
    for chunk in walk.chunks(descriptor, status):
        digest.update(chunk)
    return digest.hexdigest()


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 (hex) of some bytes, as a manifest has it."""
    return hashlib.sha256(data).hexdigest()


def _make_store() -> None:
    atomic.private_directory(store_dir())
