"""What was asked of the file system while something was made, noted by what tells that it would be
answered the same.

What was asked of a path rests on the directories that lead to it: a name that comes, goes or is
replaced changes the times of its directory. So each of them is looked at before the first question
about what is in it, and `holds` looks at them alone: some 50 instead of 300 questions. In a
directory in which much is made that does not matter, what was asked for is looked at by itself.

What does not work: what is mounted over a directory changes no time of what it is in; `mounts_told`
says that something was mounted.
"""

import contextlib
import os
import select
import stat
import threading
from collections.abc import Iterable
from typing import Any, Final

from vespe.files.stamps import Stamp, are_settled, stamp, stamp_of, unchanged
from vespe.lazy import pattern

_MOST_LINKS: Final = 40
_PASSED_OVER: Final = pattern(r"\.vespe-[0-9a-f]{24}\.tmp").fullmatch
"""What calls of Vespe make for themselves."""
_KERNEL: Final = ("/proc/", "/sys/")
"""What the kernel shows there has no times, and nobody replaces it."""


class Looked:
    """What was looked at while something was made, by one thread.

    `busy` are directories in which much is made that does not matter, and `own` are what is made
    for one call: nothing is noted of it.
    """

    def __init__(self, busy: Iterable[str], own: Iterable[str]) -> None:
        self._busy = frozenset(busy)
        self._own = tuple(f"{path}/" for path in own)
        self._seen: set[str] = set()
        self._followed: dict[str, Stamp] = {}
        self._themselves: dict[str, Stamp] = {}
        self._listed: dict[str, tuple[Stamp, frozenset[tuple[str, int, bool]]]] = {}

    def place(self, path: str) -> None:
        """Note that something is to be asked about a path."""
        if path in self._seen or f"{path}/".startswith(self._own) or path.startswith(_KERNEL):
            return
        self._seen.add(path)
        while (parent := os.path.dirname(path)) != path:
            if parent in self._busy:
                if path not in self._themselves:
                    self._themselves[path] = self._itself(path)
            elif parent in self._followed:
                return
            else:
                self._followed[parent] = stamp(parent)
            path = parent

    def through(self, path: str) -> None:
        """Note that something is to be asked about what a path leads to, and each link on it."""
        self.place(path)
        here, words = "/", path.split("/")[1:]
        for _ in range(_MOST_LINKS):
            for index, word in enumerate(words):
                there = os.path.join(here, word)
                try:
                    target = os.readlink(there)
                except OSError:
                    here = there
                    continue
                self.place(there)
                here = "/" if os.path.isabs(target) else here
                words = [*filter(None, target.split("/")), *words[index + 1 :]]
                self.place(os.path.join(here, *words))
                break
            else:
                return

    def content(self, path: str) -> None:
        """Note that something is to be asked about the content or the mode of what a path leads
        to.
        """
        self.through(path)
        if not f"{path}/".startswith(self._own) and path not in self._followed:
            self._followed[path] = stamp(path)

    def listing(self, path: str) -> None:
        """Note that a directory is to be listed."""
        self.place(path)
        if path not in self._busy:
            self._followed.setdefault(path, stamp(path))
        elif path not in self._listed:
            was = stamp(path)
            self._listed[path] = was if are_settled((was,)) else None, _names(path)

    def settle(self) -> bool:
        """Say whether equal stamps mean an equal answer: nothing changed just now. To be asked
        once, when all is noted.

        What is not there is told by its directory's stamp from now on. A call that looks at
        everything asks the system for 70 to 80 files so, in place of 140 to 160.
        """
        if not (are_settled(self._followed.values()) and are_settled(self._themselves.values())):
            return False
        absent = [
            path
            for path, was in self._followed.items()
            # asked again, since it may have come before its directory was looked at
            if was is None and os.path.dirname(path) in self._followed and not os.path.lexists(path)
        ]
        for path in absent:
            del self._followed[path]
        return True

    @property
    def followed(self) -> Iterable[str]:
        """What is looked at by its stamp, and can be watched."""
        return self._followed

    def holds(self) -> bool:
        """Whether every question would be answered as it was, but for those about what is in busy
        directories.
        """
        return unchanged(self._followed.items())

    def holds_where_busy(self) -> bool:
        """Whether those would be."""
        return all(self._itself(path) == was for path, was in self._themselves.items()) and all(
            self._is_listed_so(path) for path in self._listed
        )

    def _is_listed_so(self, path: str) -> bool:
        """Whether a busy directory has the names that it had. Its stamp says so too, from the next
        time on, once it is old enough.
        """
        was, names = self._listed[path]
        now = stamp(path)
        if was is not None and now == was:
            return True
        if _names(path) != names:
            return False
        self._listed[path] = now if are_settled((now,)) else None, names
        return True

    def _itself(self, path: str) -> Stamp:
        try:
            status = os.lstat(path)
        except OSError:
            return None
        if path in self._busy:  # what matters in it is looked at by itself
            return status.st_dev, status.st_ino, stat.S_IFMT(status.st_mode), 0, 0
        return stamp_of(status)


def _names(path: str) -> frozenset[tuple[str, int, bool]]:
    """Return what lies in a busy directory, links too, but for what calls of Vespe make there."""
    try:
        with os.scandir(path) as listed:
            return frozenset(
                (entry.name, entry.inode(), entry.is_symlink())
                for entry in listed
                if not _PASSED_OVER(entry.name)
            )
    except OSError:
        return frozenset()


class _Mounts:
    """Tells by a number whether anything was mounted in this process's namespace: proc(5) says that
    /proc/self/mountinfo is to be polled for it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._descriptor = -1
        self._poll: Any = None

    def number(self) -> int:
        with self._lock:
            if self._poll is None:
                self._number += 1
                self._open()
            elif self._poll.poll(0):
                self._number += 1
            return self._number

    def _open(self) -> None:
        with contextlib.suppress(OSError):
            self._descriptor = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
            self._poll = select.poll()
            self._poll.register(self._descriptor, select.POLLPRI)

    def forget(self) -> None:
        """Be asked anew, in a child: what it asks by is its parent's."""
        number, descriptor = self._number, self._descriptor
        self.__init__()  # type: ignore[misc]  # all of it is to be new, the lock too
        self._number = number + 1
        if descriptor >= 0:
            os.close(descriptor)


_mounts = _Mounts()
os.register_at_fork(after_in_child=_mounts.forget)


def mounts_told() -> int:
    """Return what is another number once something was mounted, or where nobody tells."""
    return _mounts.number()
