"""The repositories in a project, and the projects in it: git, Vespe and others run what their
directories say, wherever in the project they lie.

A walk is kept, with a mark of each directory that changes when something is made in it. The next
look compares the marks, and walks only where they differ; how often it looks depends on how long
that takes. Those directly in the project, submodules and linked worktrees are found at once.

What does not work: in a project of 20,000 directories, a repository that is cloned into its depth
is found some seconds later.
"""

import contextlib
import json
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from vespe.errors import StorageError
from vespe.files import atomic, digests, locations
from vespe.files.stamps import Stamp, are_settled, stamp
from vespe.lazy import pattern
from vespe.records import dataclass

NAMES: Final = (".git", ".hg", ".jj", ".vespe")
"""What a repository, or a project of Vespe, is known by; `.git` is a file in a submodule and in a
linked worktree.
"""
_EXECUTED: Final = (*NAMES, ".envrc")
_PASSED_OVER: Final = frozenset(
    ("node_modules", ".venv", "venv", "target", "__pycache__", ".cache", *NAMES)
)
"""Not walked into: large, and made by programs that make them anew."""
_BARE: Final = frozenset(("HEAD", "objects", "refs"))
"""What git takes for a repository without a `.git`."""
_NOTICED: Final = _PASSED_OVER | _BARE | {".envrc"}
MOST_DIRECTORIES: Final = 20_000
_KEPT_S: Final = 300.0
_SHARE: Final = 300
"""A walk or a look is believed for so many times as long as it took, a walk for `_KEPT_S` at
least: file systems may not tell of every change.
"""
_COARSE_NS: Final = 100_000_000
"""The clocks of file systems are coarse: a directory that changed this lately has no mark yet."""
_MOST_KEPT: Final = 512
_MOST_LOOKED_AT: Final = 64
_SUBMODULE: Final = pattern(r"(?m)^\s*path\s*=\s*\"?(.+?)\"?\s*$")
_MOST_TEXT: Final = 1 << 20
_MOST_MARKS: Final = 1 << 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Repositories:
    """`found` are the paths of what each is known by, such as `/project/lib/.git`; `whole` says
    that every directory was looked at. `others` are files elsewhere that other programs take
    commands from: `.envrc`, and the `HEAD` of a directory that is a repository itself. `listed` is
    the stamp that the project's directory had before it was listed, and the names that were there
    of those that matter; None where it could not be.
    """

    found: tuple[str, ...]
    whole: bool = True
    others: tuple[str, ...] = ()
    listed: tuple[Stamp, frozenset[str]] | None = None


def find_repositories(
    root: str, *, most: int = MOST_DIRECTORIES, anew: bool = False
) -> Repositories:
    """Return the repositories and projects in a project, and its own; `root` is a real path.

    Walks it where the last walk was too long ago, through so many directories at most; with `anew`
    it looks now.
    """
    with _looking:
        walk = _walked.get(root) or _read(root)
        now = time.time()
        if walk is None or not now < walk.until <= now + _KEPT_S + _SHARE * 60:
            walk = _walk(root, most)
        elif anew or not now < walk.believed <= now + _SHARE * 60:
            walk = _look(root, walk, most)
        found, others = walk.paths(repositories=True), walk.paths(repositories=False)
    was = stamp(root)  # first: what comes afterwards changes it
    names, directories = _names_in(root)
    here = dict.fromkeys((*_at_once(root, names, directories), *found))
    return Repositories(
        found=tuple(filter(os.path.lexists, here)),
        whole=walk.whole,
        others=others,
        listed=None if names is None else (was, _NOTICED & names),
    )


def named_by_git(root: str) -> frozenset[str]:
    """Return the `.git` of the project, of its submodules and of its linked worktrees, there or
    not.
    """
    return frozenset(_named(root))


class Executed:
    """What other programs take commands from in some directories, the project's the first:
    repositories, their hooks, `.envrc`, and a directory that is a repository itself, as git takes
    it. `found` is what is there now, and `new` tells what came since.

    A name that comes changes the times of its directory. So `new` asks for each name only in a
    directory whose stamp is another one, or was too young: 1 question in place of 6.
    """

    __slots__ = ("_stamps", "found")

    def __init__(
        self, directories: Iterable[str], listed: tuple[Stamp, frozenset[str]] | None = None
    ) -> None:
        """Look at directories; `listed` is what `Repositories` says of the first one, which is not
        asked for its names again.
        """
        first, *others = list(dict.fromkeys(directories))[:_MOST_LOOKED_AT]
        # first: what comes afterwards changes them
        self._stamps = {first: stamp(first) if listed is None else listed[0]}
        self._stamps |= {directory: stamp(directory) for directory in others}
        settled = are_settled(self._stamps.values())
        found: set[str] = set()
        for directory in self._stamps:
            names = None if listed is None or directory != first else listed[1]
            own, has_head = _own(directory, names)
            found.update(own, _hooks(directory))
            # it may be a link, and what that leads to comes elsewhere
            if has_head or not settled:
                self._stamps[directory] = None
        self.found = frozenset(found)

    @property
    def root(self) -> str:
        """The project's directory."""
        return next(iter(self._stamps))

    def new(self) -> list[str]:
        """Return what is there now, and was not."""
        now: set[str] = set()
        for directory, was in self._stamps.items():
            if was is None or stamp(directory) != was:
                now.update(_own(directory)[0])
            now.update(_hooks(directory))
        return sorted(now - self.found)


def _own(directory: str, names: Collection[str] | None = None) -> tuple[list[str], bool]:
    """Return what is directly in a directory, and whether a `HEAD` is there; `names` are those that
    were listed there.
    """
    if names is None:
        wanted = (*_EXECUTED, "HEAD")
        names = [name for name in wanted if os.path.lexists(f"{directory}/{name}")]
    found = [f"{directory}/{name}" for name in _EXECUTED if name in names]
    head = f"{directory}/HEAD"
    has_head = "HEAD" in names
    if has_head and all(os.path.exists(f"{directory}/{name}") for name in _BARE):
        found.append(head)
    return found, has_head


def _hooks(directory: str) -> Iterator[str]:
    hooks = f"{directory}/.git/hooks"
    return (f"{hooks}/{name}" for name in _names(hooks) if not name.endswith(".sample"))


def _at_once(root: str, names: Collection[str] | None, directories: list[str]) -> Iterator[str]:
    """Return what is found without a walk; not all of it is there."""
    yield from _named(root, NAMES if names is None else names)
    yield from (f"{entry}/{name}" for entry in directories for name in (".git", ".vespe"))


def _named(root: str, here: Collection[str] = NAMES) -> Iterator[str]:
    yield from (f"{root}/{name}" for name in NAMES if name in here)
    modules = _text(f"{root}/.gitmodules")
    for path in _SUBMODULE.findall(modules) if modules else ():
        if ".." not in path.split("/") and not os.path.isabs(path):
            yield f"{root}/{path}/.git"
    trees = f"{root}/.git/worktrees"
    yield from (
        place
        for name in _names(trees)
        if (place := _text(f"{trees}/{name}/gitdir").strip()).startswith(f"{root}/")
    )


class _Walk:
    """What a walk found: `told` names, for a directory, what is of interest in it, and `marks` has
    each directory's mark; None where they are in their file still.

    It is walked anew at `until`, and looked at at `believed`.
    """

    def __init__(self, told: dict[str, list[str]], until: float, *, whole: bool) -> None:
        self.told, self.until, self.whole = told, until, whole
        self.marks: dict[str, int] | None = None
        self.believed = 0.0

    def paths(self, *, repositories: bool) -> tuple[str, ...]:
        """Return what was found that is a repository's, or the rest."""
        return tuple(
            f"{directory}/{name}"
            for directory, names in self.told.items()
            for name in names
            if (name in NAMES) is repositories
        )

    def add(self, directories: Iterable[str], most: int) -> None:
        """Read directories, and those beneath them that it does not know."""
        marks = self.marks = self.marks or {}
        waiting = deque(directories)
        while waiting and (len(marks) < most or waiting[0] in marks):
            directory = waiting.popleft()
            try:
                # Before it is read: what changes meanwhile has another mark the next time.
                marks[directory] = _mark(os.lstat(directory))
                names, beneath = _listed(directory)
            except OSError:
                continue
            if names:
                self.told[directory] = names
            else:
                self.told.pop(directory, None)
            waiting.extend(path for path in beneath if path not in marks)
        self.whole = self.whole and not waiting

    def drop(self, gone: Iterable[str]) -> None:
        """Forget directories, and all beneath them."""
        beneath = tuple(f"{directory}/" for directory in gone)
        self.told = {
            path: names for path, names in self.told.items() if not f"{path}/".startswith(beneath)
        }
        self.marks = {
            path: mark
            for path, mark in (self.marks or {}).items()
            if not f"{path}/".startswith(beneath)
        }


def _listed(directory: str) -> tuple[list[str], list[str]]:
    """Return the names of interest in a directory, and the paths of the directories to walk."""
    names: list[str] = []
    beneath: list[str] = []
    bare = 0
    with os.scandir(directory) as listed:
        for entry in listed:
            if (name := entry.name) in _NOTICED:
                if name in _BARE:
                    bare += 1
                elif name in _EXECUTED:
                    names.append(name)
                if name in _PASSED_OVER or name == ".envrc":
                    continue
            if entry.is_dir(follow_symlinks=False):
                beneath.append(entry.path)
    if bare == len(_BARE):
        names.append("HEAD")
    return names, beneath


def _mark(status: os.stat_result) -> int:
    """Return what changes with a directory; 0 where it may change again and keep its time. Raises
    OSError for what is none.
    """
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError
    settled = status.st_ctime_ns < time.time_ns() - _COARSE_NS
    return status.st_ctime_ns ^ status.st_ino if settled else 0


def _walk(root: str, most: int) -> _Walk:
    began = time.monotonic()
    made = _Walk({}, 0.0, whole=True)
    made.add([root], most)
    made.until = time.time() + max(_KEPT_S, _SHARE * (time.monotonic() - began))
    _keep(root, made)
    return made


def _look(root: str, walk: _Walk, most: int) -> _Walk:
    """Return a walk as it is now: only what has changed is read again."""
    began = time.monotonic()
    if walk.marks is None:
        walk.marks = _marks(root, walk.until)
    if walk.marks is None:
        return _walk(root, most)
    changed: list[str] = []
    gone: list[str] = []
    lstat = os.lstat  # a look is this loop
    for directory, mark in walk.marks.items():
        try:
            now = lstat(directory)
        except OSError:
            gone.append(directory)
            continue
        if now.st_ctime_ns ^ now.st_ino != mark:
            (changed if stat.S_ISDIR(now.st_mode) else gone).append(directory)
    if gone:
        walk.drop(gone)
    if changed:
        walk.add(changed, most)
    walk.believed = time.time() + _SHARE * (time.monotonic() - began)
    _keep(root, walk, changed=bool(changed or gone))
    return walk


def _names_in(path: str) -> tuple[set[str] | None, list[str]]:
    """Return the names in a directory, and the paths of the directories there; None where it cannot
    be read.
    """
    try:
        with os.scandir(path) as listed:
            entries = list(listed)
    except OSError:
        return None, []
    directories = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    return {entry.name for entry in entries}, directories


_walked: dict[str, _Walk] = {}
"""The walks of this process."""
_looking: Final = threading.Lock()


def _file(root: str) -> str:
    name = digests.sha256(os.fsencode(root)).hexdigest()[:32]
    return os.path.join(locations.user_cache_dir(), "repositories", name)


def _read(root: str) -> _Walk | None:
    """Return the walk that another process kept."""
    try:
        path = _file(root)
        said = json.loads(_text(path) or "{}")
        made = _Walk(
            {str(place): [str(name) for name in names] for place, names in said["told"].items()},
            float(said["until"]),
            whole=bool(said["whole"]),
        )
        made.believed = os.stat(path).st_mtime
        if said["root"] != root:
            return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    _walked[root] = made
    return made


def _marks(root: str, until: float) -> dict[str, int] | None:
    try:
        said = json.loads(_text(f"{_file(root)}.marks", most=_MOST_MARKS) or "{}")
        return (
            {str(path): int(mark) for path, mark in said["marks"].items()}
            if (said["until"] == until)
            else None
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _keep(root: str, made: _Walk, *, changed: bool = True) -> None:
    """Keep a walk for this process and the next ones; where that cannot be, they walk again."""
    _walked[root] = made
    path = _file(root)
    said: dict[str, Any] = {"root": root, "until": made.until, "whole": made.whole}
    said["told"] = made.told
    with contextlib.suppress(OSError, StorageError, UnicodeError):
        if changed:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            _tidy(os.path.dirname(path))
            # The marks first: they are believed for a walk that is there.
            marks = {"until": made.until, "marks": made.marks}
            atomic.write_atomic(f"{path}.marks", json.dumps(marks), durable=False)
            atomic.write_atomic(path, json.dumps(said), durable=False)
        # The time of the file is when it is believed until, so that a look writes nothing else.
        os.utime(path, (time.time(), made.believed))


def _tidy(directory: str) -> None:
    """Remove the oldest walks where there are many: examples run in directories of their own."""
    kept = os.listdir(directory)
    if len(kept) <= _MOST_KEPT:
        return
    kept.sort(key=lambda name: os.lstat(os.path.join(directory, name)).st_mtime)
    for name in kept[: len(kept) // 2]:
        os.unlink(os.path.join(directory, name))


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _unblocked(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _text(path: str, *, most: int = _MOST_TEXT) -> str:
    """Return the beginning of a regular file, "" for anything else, which is waited for in vain."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", opener=_unblocked) as file:
            return file.read(most) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else ""
    except OSError:
        return ""
