"""What is new in a project that other programs take commands from, until its user has looked at it:
what a call has left, and what a look finds that was not there at the first one.

A file for each project in the user's state directory, which no tool writes. It holds paths relative
to the project, and nothing of what the files say.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterable
from typing import Any, Final

from vespe import defaults
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations, repositories
from vespe.files.private_copy import is_private_copy
from vespe.records import dataclass

_MOST: Final = 10_000
_MOST_BYTES: Final = 1 << 22
_SHOWN: Final = 3
_TIDIED_S: Final = 30 * 86400.0
_DAMAGED: Final = (
    *(StorageError, InvalidDocument, ValueError, TypeError, KeyError, AttributeError),
    RecursionError,
)
"""What a file raises that is not one of these."""
_begun: set[str] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """Something that is new: its `path` in the project, and the `tool` whose call has left it with
    the time of that, both "" where nobody saw it come.
    """

    path: str
    tool: str = ""
    when: str = ""


def begin(root: str, found: repositories.Repositories) -> None:
    """Keep what is there in a project before the first call that may write in it."""
    if root in _begun:
        return
    _begun.add(root)
    if _is_project(root) and _read(root)["known"] is None:
        with contextlib.suppress(StorageError):
            _change(root, known=_relative(root, (*found.found, *found.others)))


def note(root: str, paths: Iterable[str], *, tool: str) -> None:
    """Keep that a call of a tool has left these; where that cannot be kept, its Outcome has said
    it.
    """
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    left = [New(path=path, tool=tool, when=when) for path in _relative(root, paths)]
    if left and _is_project(root):
        with contextlib.suppress(StorageError):
            _change(root, left=left)


def left(root: str) -> tuple[New, ...]:
    """Return what calls have left, and is there still."""
    return tuple(
        New(path=path, tool=str(tool), when=str(when))
        for path, (tool, when) in _read(root)["left"].items()
        if os.path.lexists(os.path.join(root, path))
    )


def elsewhere(root: str) -> tuple[New, ...]:
    """Return what else is new since the first look: in a place that no call looks at afterwards.
    None of it where there was no call yet. It looks through the project.
    """
    said = _read(root)
    if said["known"] is None:
        return ()
    real = os.path.realpath(root)
    found = repositories.find_repositories(real, anew=True)
    theirs = repositories.named_by_git(real)
    new = _relative(real, (path for path in (*found.found, *found.others) if path not in theirs))
    return tuple(
        New(path=path)
        for path in new
        if path not in said["known"] and path not in said["left"] and os.path.dirname(path)
    )


def review(root: str, seen: Iterable[New]) -> None:
    """Keep that the user has looked at these; raises StorageError."""
    paths = [one.path for one in seen]
    if paths:
        _change(root, known=paths)


def sentence(new: tuple[New, ...]) -> str:
    """Say that something is new."""
    shown = ", ".join(one.path for one in new[:_SHOWN])
    more = f" and {len(new) - _SHOWN} more" if len(new) > _SHOWN else ""
    callers = sorted({one.tool for one in new if one.tool})
    by = f"left by {_either(callers)}" if callers else "new in this project"
    verb, them = ("is", "it") if len(new) == 1 else ("are", "them")
    verb = verb if not callers else "was" if verb == "is" else "were"
    return (
        f"{shown}{more} {verb} {by}, and other programs take commands from {them}: read {them} "
        f"before you use one there; `vespe trust` shows {them}, and your yes ends this warning"
    )


def _is_project(root: str) -> bool:
    """Whether it is a project that is there tomorrow: neither a directory of examples nor a
    copy.
    """
    return os.path.isdir(os.path.join(root, defaults.PROJECT_DIR)) and not is_private_copy(root)


def _either(tools: list[str]) -> str:
    quoted = [repr(tool) for tool in tools[:_SHOWN]]
    return f"a call of {quoted[0]}" if len(tools) == 1 else f"calls of {', '.join(quoted)}"


def _relative(root: str, paths: Iterable[str]) -> list[str]:
    return [os.path.relpath(path, root) for path in paths]


def _file(root: str) -> str:
    """Return the file of a project, which is known by its directory: it can be moved."""
    own = os.path.join(root, defaults.PROJECT_DIR)
    try:
        name = f"{os.statvfs(own).f_fsid:x}-{os.stat(own).st_ino:x}"
    except OSError:
        name = "none"
    return os.path.join(locations.user_state_dir(), "unreviewed", f"{name}.json")


def _read(root: str) -> dict[str, Any]:
    """Return `known`, paths, None before the first look, and `left`, `[tool, when]` by
    path.
    """
    try:
        said = json.loads(atomic.read_bytes(_file(root), limit=_MOST_BYTES))
        if (of := str(said["root"])) != os.path.realpath(root) and _is_project(of):
            raise ValueError("another project, whose number came back")
        known = None if said["known"] is None else [str(path) for path in said["known"]]
        left = {str(path): (tool, when) for path, (tool, when) in said["left"].items()}
    except _DAMAGED:
        return {"known": None, "left": {}}
    return {"known": known, "left": left}


def _change(root: str, *, known: Iterable[str] | None = None, left: Iterable[New] = ()) -> None:
    path = _file(root)
    directory = os.path.dirname(path)
    atomic.private_directory(directory)
    with atomic.locked(directory):
        atomic.sweep_beside(path)
        said = _read(root)
        if known is not None:
            said["known"] = list(dict.fromkeys((*(said["known"] or ()), *known)))[-_MOST:]
        reviewed = set(known or ())
        kept = {path: how for path, how in said["left"].items() if path not in reviewed}
        kept |= {one.path: (one.tool, one.when) for one in left}
        kept = {path: kept[path] for path in kept if os.path.lexists(os.path.join(root, path))}
        said |= {"root": os.path.realpath(root), "left": dict(list(kept.items())[-_MOST:])}
        atomic.write_atomic(path, json.dumps(said), mode=0o600)
        _tidy(directory)


def _tidy(directory: str) -> None:
    """Remove what is kept of projects that have been gone for a month."""
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            if os.lstat(path).st_mtime < time.time() - _TIDIED_S:
                with contextlib.suppress(*_DAMAGED):
                    root = json.loads(atomic.read_bytes(path, limit=_MOST_BYTES))["root"]
                    if not os.path.lexists(root):
                        os.unlink(path)
