"""The file of a project that a tool was made from, by a copy: where it is, and which of the two has
changed since.
"""

import os
from typing import Any, Final

from vespe import defaults
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic
from vespe.lazy import hashlib, pattern
from vespe.models import JsonObject, Tool
from vespe.records import dataclass

KEY: Final = "created_from"
"""The key of config.json: `{"path": "calc.py", "function": "calc", "sha256": "…"}`, the path from
the project's root, the digest that of the bytes that were copied last.
"""
_DIGEST: Final = pattern(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of a tool's origin: `change` says which of the two is not as it was copied, and
    `data` are the bytes of the origin, b"" where it is gone.
    """

    path: str
    function: str
    change: str
    data: bytes = b""


def project_of(directory: str) -> str | None:
    """Return the root of the project whose own tool stands in a directory; None for any other."""
    tools = os.path.dirname(os.path.abspath(directory))
    own = os.path.dirname(tools)
    is_own = os.path.basename(tools) == defaults.TOOLS_DIR
    return (
        os.path.dirname(own) if is_own and os.path.basename(own) == defaults.PROJECT_DIR else None
    )


def made_from(root: str, path: str, function: str, data: bytes) -> JsonObject | None:
    """Return `created_from` for a copy of the file `path`; None where that is not in the project,
    so that no other machine has it there.
    """
    real, top = os.path.realpath(path), os.path.realpath(root)
    inside = os.path.relpath(real, top)
    if inside.split(os.sep)[0] in (os.pardir, defaults.PROJECT_DIR):
        return None
    said: JsonObject = {"path": inside.replace(os.sep, "/")}
    if function:
        said["function"] = function
    return {**said, "sha256": digest_of(data)}


def compared(tool: Tool) -> Compared | None:
    """Compare a tool's file with its origin; None for a tool of no project, or without one."""
    return compared_files(tool.directory or "", tool.document)


def compared_files(directory: str, document: JsonObject) -> Compared | None:
    """Compare the file of the tool in a directory with its origin, as `compared` does."""
    said, root = document.get(KEY), project_of(directory)
    details = document.get("implementation_details")
    own = details.get("path") if isinstance(details, dict) else None
    if root is None or not isinstance(said, dict) or not isinstance(own, str) or problem(said):
        return None
    path, function, digest = said["path"], str(said.get("function", "")), said["sha256"]
    place = os.path.join(os.path.realpath(root), path)
    # A link that came with the project must not bring another file of the user's into a tool.
    here = os.path.realpath(place) == place
    data = _read(place) if here else None
    if data is None:
        return Compared(path, function, "gone")
    copy = _read(os.path.join(directory, own))
    if copy == data:
        return Compared(path, function, "none", data)
    changed, edited = digest_of(data) != digest, copy is not None and digest_of(copy) != digest
    change = "both" if changed and edited else "origin" if changed else "copy" if edited else "none"
    return Compared(path, function, change, data)


def problem(value: Any) -> str:
    """Say what is wrong with a value of `created_from`; "" where nothing is."""
    if not isinstance(value, dict):
        return "must be an object"
    path = value.get("path")
    if (
        not isinstance(path, str)
        or not path
        or "\0" in path
        or path.startswith("/")
        or ".." in path.split("/")
    ):
        return "must have `path`, the path of a file from the project's root"
    if not isinstance(value.get("function", ""), str):
        return "must have the name of a function as its `function`"
    digest = value.get("sha256")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        return "must have `sha256`, 64 digits of a to f and 0 to 9"
    return ""


def digest_of(data: bytes) -> str:
    """Return the digest that `created_from` keeps of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def _read(path: str) -> bytes | None:
    try:
        return atomic.read_bytes(path)
    except (InvalidDocument, StorageError):
        return None
