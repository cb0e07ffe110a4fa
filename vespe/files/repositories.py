"""The repositories in a project: git and others run what their directories say, wherever in the
project they lie.

What does not work: a repository that is cloned into the depth of a project is not found before the
next walk; those directly in the project, submodules and linked worktrees are found at once.
"""

import contextlib
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from vespe.errors import StorageError
from vespe.files import atomic, digests, locations
from vespe.lazy import pattern
from vespe.records import dataclass

NAMES: Final = (".git", ".hg", ".jj")
"""What a repository is known by; `.git` is a file in a submodule and in a linked worktree."""
_EXECUTED: Final = (*NAMES, ".envrc")
_PASSED_OVER: Final = frozenset(
    ("node_modules", ".venv", "venv", "target", "__pycache__", ".cache", ".vespe", *NAMES)
)
"""Not walked into: large, and made by programs that make them anew."""
MOST_DIRECTORIES: Final = 20_000
_KEPT_S: Final = 300.0
_SHARE: Final = 300
"""A walk is believed for so many times as long as it took, and for `_KEPT_S` at least."""
_MOST_LOOKED_AT: Final = 64
_SUBMODULE: Final = pattern(r"(?m)^\s*path\s*=\s*\"?(.+?)\"?\s*$")
_MOST_TEXT: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Repositories:
    """`found` are the paths of what each is known by, such as `/project/lib/.git`; `whole` says
    that every directory was looked at.
    """

    found: tuple[str, ...]
    whole: bool = True


def find_repositories(root: str, *, most: int = MOST_DIRECTORIES) -> Repositories:
    """Return the repositories in a project, and its own; `root` is a real path. Walks it where the
    last walk was too long ago, through so many directories at most.
    """
    walked = _known(root)
    if walked is None:
        walked = _walk(root, most)
    here = dict.fromkeys((*_at_once(root), *walked.found))
    return Repositories(found=tuple(filter(os.path.lexists, here)), whole=walked.whole)


def executed_in(directories: Iterable[str]) -> frozenset[str]:
    """Return what of these directories other programs take commands from: repositories, their
    hooks, `.envrc`, and a directory that is a repository itself, as git takes it.
    """
    found: set[str] = set()
    for directory in list(dict.fromkeys(directories))[:_MOST_LOOKED_AT]:
        found |= {path for name in _EXECUTED if os.path.lexists(path := f"{directory}/{name}")}
        if all(os.path.exists(f"{directory}/{name}") for name in ("HEAD", "objects", "refs")):
            found.add(f"{directory}/HEAD")
        hooks = f"{directory}/.git/hooks"
        found |= {f"{hooks}/{name}" for name in _names(hooks) if not name.endswith(".sample")}
    return frozenset(found)


def _at_once(root: str) -> Iterator[str]:
    """Return what is found without a walk; not all of it is there."""
    yield from (f"{root}/{name}" for name in NAMES)
    for path in _SUBMODULE.findall(_text(f"{root}/.gitmodules")):
        if ".." not in path.split("/") and not os.path.isabs(path):
            yield f"{root}/{path}/.git"
    trees = f"{root}/.git/worktrees"
    yield from (
        place
        for name in _names(trees)
        if (place := _text(f"{trees}/{name}/gitdir").strip()).startswith(f"{root}/")
    )
    yield from (f"{entry}/.git" for entry in _directories(root))


def _walk(root: str, most: int) -> Repositories:
    began = time.monotonic()
    waiting, looked = deque([root]), 0
    found: list[str] = []
    while waiting and looked < most:
        directory = waiting.popleft()
        looked += 1
        try:
            with os.scandir(directory) as listed:
                for entry in listed:
                    if (name := entry.name) in _PASSED_OVER:
                        found += [entry.path] if name in NAMES else []
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    made = Repositories(found=tuple(found), whole=not waiting)
    _keep(root, made, took_s=time.monotonic() - began)
    return made


def _directories(path: str) -> list[str]:
    try:
        with os.scandir(path) as listed:
            return [entry.path for entry in listed if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


_walked: dict[str, tuple[float, Repositories]] = {}
"""The walks of this process, each with the time until which it is believed."""


def _file(root: str) -> str:
    name = digests.sha256(os.fsencode(root)).hexdigest()[:32]
    return os.path.join(locations.user_cache_dir(), "repositories", name)


def _known(root: str) -> Repositories | None:
    until, made = _walked.get(root, (0.0, None))
    if made is None:
        try:
            said = json.loads(_text(_file(root)) or "{}")
            until = float(said["until"])
            made = Repositories(found=tuple(map(str, said["found"])), whole=bool(said["whole"]))
            is_own = said["root"] == root
        except (ValueError, TypeError, KeyError):
            return None
        if not is_own or until > time.time() + _KEPT_S + _SHARE * 60:
            return None
        _walked[root] = until, made
    return made if time.time() < until else None


def _keep(root: str, made: Repositories, *, took_s: float) -> None:
    """Keep a walk for this process and the next ones; where that cannot be, they walk again."""
    until = time.time() + max(_KEPT_S, _SHARE * took_s)
    _walked[root] = until, made
    said = {"root": root, "until": until, "found": made.found, "whole": made.whole}
    path = _file(root)
    with contextlib.suppress(OSError, StorageError, UnicodeError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        atomic.write_atomic(path, json.dumps(said), durable=False)


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_MOST_TEXT)
    except OSError:
        return ""
