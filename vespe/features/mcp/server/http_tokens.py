"""The bearer token of an HTTP server: made at random, kept where only its owner can read it."""

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Final

from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.files import atomic, locations
from vespe.lazy import pattern

_TOKEN: Final = pattern(r"[A-Za-z0-9._~+/=-]{16,512}")
_DIRECTORY: Final = "http"


def token_of(path: str) -> tuple[str, bool]:
    """Return the token that a file holds, and whether it was made just now: a file that is not
    there is made, mode 0600.

    Raises Refused for a file that others can read, InvalidDocument for one that holds no token,
    StorageError.
    """
    if not os.path.lexists(path):
        return _made(path), True
    mode = _mode(path)
    if mode & 0o077:
        raise Refused(
            f"others can read the token file {path} (mode {mode:o})", hint=f"chmod 600 {path}"
        )
    text = atomic.read_bytes(path, limit=4096).decode("utf-8", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise InvalidDocument(
            "does not contain a token of 16 to 512 letters, digits and -._~+/=", path=path
        )
    return text, False


@contextlib.contextmanager
def token_for(port: int) -> Iterator[tuple[str, str]]:
    """Return a fresh token and the private file that holds it while the server lives; raises
    StorageError.
    """
    directory = os.path.join(locations.user_state_dir(), _DIRECTORY)
    atomic.private_directory(directory)
    path = os.path.join(directory, f"{port}-{os.getpid()}.token")
    with contextlib.suppress(OSError):
        os.unlink(path)
    try:
        yield _made(path), path
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _made(path: str) -> str:
    token = os.urandom(32).hex()  # as `secrets` makes them, without its imports
    try:
        atomic.write_atomic(path, token + "\n", mode=0o600)
    except FileNotFoundError as error:
        raise StorageError("write", path, error) from error
    return token


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError as error:
        raise StorageError("read", path, error) from error
