"""Servers that send their questions as the revisions with a handshake do, remembered in the user's
cache.

A server may know 2026-07-28, and have tools that send `elicitation/create` all the same, which
that revision does not have: a call ends with an error where such a tool asks. From then on its
server is connected to with a handshake, in which it can ask. The call that failed is not made
again, because the tool may have had an effect before it asked. A server that refuses the handshake
is forgotten again.
"""

import contextlib
import os
from typing import Any, Final

from vespe.documents import strict_json
from vespe.errors import StorageError
from vespe.files import atomic, locations
from vespe.files.digests import sha256

HINT: Final = (
    "the server can only ask in an older revision of MCP; Vespe uses that one for it from now on, "
    "so make the call again"
)


def is_known(args: dict[str, Any], directory: str) -> bool:
    """Say whether the server of a tool's `args`, started in a directory, failed like this once."""
    return os.path.exists(_file(args, directory))


def remember(args: dict[str, Any], directory: str) -> bool:
    """Remember such a server; False where that cannot be written."""
    path = _file(args, directory)
    with contextlib.suppress(StorageError):
        atomic.private_directory(os.path.dirname(path))
        atomic.create(path, b"")
    return os.path.exists(path)


def forget(args: dict[str, Any], directory: str) -> None:
    """Forget such a server: it refuses the handshake."""
    with contextlib.suppress(OSError):
        os.unlink(_file(args, directory))


def _file(args: dict[str, Any], directory: str) -> str:
    about = [args.get("command"), args.get("url"), directory if args.get("command") else ""]
    digest = sha256(strict_json.compact_bytes(about)).hexdigest()
    return os.path.join(locations.user_cache_dir(), "mcp", "handshake", digest)
