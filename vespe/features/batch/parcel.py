"""A tool as it travels to the worker of a cluster: its files and its kit's configuration, by
digest; no secret, no setting.
"""

import hashlib
import json
import os
import threading
from dataclasses import dataclass, field
from typing import Final

from vespe import defaults
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.errors import Refused
from vespe.files import atomic, locations, staging
from vespe.files.entries import EXECUTABLE
from vespe.kits.origins import folder_tree
from vespe.models import Tool
from vespe.projects.workspace import open_workspace

_KITS: Final = "kits"


@dataclass(frozen=True)
class Parcel:
    """The files of one tool as (path, executable, contents), beneath a project that is made for it;
    `name` finds the tool there.
    """

    name: str
    files: tuple[tuple[str, bool, bytes], ...]
    version: str = defaults.VERSION
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest_of(self.files))


def digest_of(files: tuple[tuple[str, bool, bytes], ...]) -> str:
    """Return the SHA-256 of files, as hexadecimal digits, over their sorted paths, modes and
    contents.
    """
    digest = hashlib.sha256()
    for path, executable, contents in sorted(files):
        digest.update(json.dumps([path, executable, len(contents)]).encode() + contents)
    return digest.hexdigest()


def pack(tool: Tool) -> Parcel:
    """Return the parcel of a tool. Raises Refused for a tool that is not in a directory, and for
    files that no kit may hold.
    """
    if tool.directory is None:
        raise Refused(
            f"{tool.name!r} exists only in this process, so workers do not have it",
            hint="save it as a tool directory first",
        )
    own = tool.scope == defaults.PROJECT_TOOLS
    kit_id = "" if own else str(tool.scope)
    place = (
        f"{defaults.PROJECT_DIR}/{defaults.TOOLS_DIR}/{tool.uid}"
        if own
        else f"{_KITS}/{kit_id}/{tool.uid}"
    )
    tree = folder_tree(tool.directory, kit_id)
    files = [
        (f"{place}/{entry.path}", entry.mode == EXECUTABLE, contents)
        for entry, contents in tree.read(tree.entries)
    ]
    if not own:
        config = atomic.read_bytes(
            os.path.join(os.path.dirname(tool.directory), defaults.KIT_CONFIG_FILE)
        )
        files.append((f"{_KITS}/{kit_id}/{defaults.KIT_CONFIG_FILE}", False, config))
    settings = json.dumps({"active_kits": [] if own else [kit_id]}).encode()
    files.append((f"{defaults.PROJECT_DIR}/{defaults.CONFIG_FILE}", False, settings))
    return Parcel(name=f"{tool.scope}/{tool.name}", files=tuple(files))


def opened(parcel: Parcel) -> tuple[CallPath, Tool]:
    """Return a call path to the tool of a parcel, unpacked in this machine's cache; once a process
    for each digest.

    Raises Refused where the worker's Vespe is another version than the sender's.
    """
    if parcel.version != defaults.VERSION:
        raise Refused(
            f"the worker has Vespe {defaults.VERSION}, and the batch was sent by {parcel.version}",
            hint="install the same there",
        )
    with _LOCK:
        if parcel.digest not in _OPENED:
            _OPENED[parcel.digest] = _open(_unpacked(parcel), parcel.name)
        return _OPENED[parcel.digest]


_LOCK: Final = threading.Lock()
_OPENED: Final[dict[str, tuple[CallPath, Tool]]] = {}


def _open(root: str, name: str) -> tuple[CallPath, Tool]:
    before = os.environ.get(defaults.ENV_KITS_PATH)
    os.environ[defaults.ENV_KITS_PATH] = os.path.join(root, _KITS)
    try:
        path = CallPath(workspace=open_workspace(root), registry=ToolRegistry(), trusted=True)
        return path, path.tool(name)
    finally:
        if before is None:
            del os.environ[defaults.ENV_KITS_PATH]
        else:
            os.environ[defaults.ENV_KITS_PATH] = before


def _unpacked(parcel: Parcel) -> str:
    """Put a parcel's files into the cache, in one step, if what is there is not exactly these."""
    root = os.path.join(locations.user_cache_dir(), "batch", parcel.digest)
    if _holds(root, parcel):
        return root
    parent = os.path.dirname(root)
    atomic.private_directory(parent)
    with atomic.locked(parent), staging.staging(parent) as aside:
        if _holds(root, parcel):
            return root
        for path, executable, contents in parcel.files:
            place = os.path.join(aside, path)
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            with open(
                os.open(
                    place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755 if executable else 0o644
                ),
                "wb",
            ) as file:
                file.write(contents)
        staging.delete(root)
        staging.place(aside, root)
    return root


def _holds(root: str, parcel: Parcel) -> bool:
    """Whether a directory has exactly the files of a parcel: what is beside them could be run by
    them.
    """
    found = []
    for directory, names, files in os.walk(root):
        if any(os.path.islink(os.path.join(directory, name)) for name in (*names, *files)):
            return False
        found += [os.path.relpath(os.path.join(directory, name), root) for name in files]
    if sorted(found) != sorted(path for path, _, _ in parcel.files):
        return False
    held = tuple(
        (path, bool(os.stat(os.path.join(root, path)).st_mode & 0o100), _read(root, path))
        for path in found
    )
    return digest_of(held) == parcel.digest


def _read(root: str, path: str) -> bytes:
    with open(os.path.join(root, path), "rb") as file:
        return file.read()
