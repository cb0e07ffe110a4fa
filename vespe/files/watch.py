"""Whether files are what they were when they were read, for a process that asks often: as Linux
tells of changes, else by looking.

Why: an open project must notice each change, and looking at all that a call rests on costs one
stat(2) a place. Linux queues an inotify event before the system call that made the change returns
(https://man7.org/linux/man-pages/man7/inotify.7.html), so one poll(2) of an empty queue says as
much as all these looks. A queue that is not empty means: look again. So an overflow or a merged
event loses nothing. One kind of event is passed over: that something in a directory got another
mode or other times. It comes where only the directory itself is watched, and in a home directory
and in /tmp all the time; a file there that matters is watched itself.

What inotify does not tell, and what is done about it:

- Writes through mmap(2), and mounts over a directory: all places are looked at anyway, at the
  latest after 0.1 s.
- Changes on another machine (NFS, FUSE, overlays): only file systems in `_LOCAL` are believed.
- What happens further up: a watch belongs to an inode, not to a path. So every directory above is
  watched for being moved or removed, and a path through a symbolic link is not watched at all.
- A file that was replaced by rename(2): its watch went with the old one. It is watched anew after
  anything was told.
- A fork shares the queue with its parent, and reading it would take the parent's events away: in a
  child a watch says nothing.
- A directory is told of files that are written through their names in it. A write through a hard
  link elsewhere or through a mapping is not told: whoever asks `told` looks at everything by and
  by.

Not used: fanotify(7), which older kernels grant to root alone; kqueue on macOS, which needs an open
descriptor for each file.

A process that asks Linux makes 2.5 times as many in-process calls a second as one that looks.
Watching 10,000 directories takes about as long as one look at them (40 to 80 ms).
"""

import contextlib
import errno
import os
import select
import struct
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, Final

from vespe.files.stamps import Stamp, unchanged
from vespe.lazy import ctypes

_LOOKS: Final = 50
"""So often is looked before Linux is asked to tell: who makes a few calls need not load what asks
it.
"""
_BELIEVED_S: Final = 0.1
"""How long nobody looks at most: of what is written through a mapping, and of a mount, inotify does
not tell.
"""
_LOCAL: Final = frozenset((0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010))
"""ext4, xfs, btrfs, tmpfs and f2fs: others may change elsewhere, and nobody here is told."""
# https://man7.org/linux/man-pages/man7/inotify.7.html: IN_ATTRIB, IN_DELETE_SELF, IN_MOVE_SELF;
# IN_MODIFY; IN_MOVED_*, IN_CREATE, IN_DELETE
_ITSELF: Final = 0x4 | 0x400 | 0x800
_CONTENTS: Final = 0x2
_NAMES: Final = 0x40 | 0x80 | 0x100 | 0x200
_BESIDE_WHAT_IS_ASKED: Final = 0x20000000 | 0x02000000
"""IN_MASK_ADD, IN_DONT_FOLLOW"""
_ATTRIBUTES: Final = (0x4, 0x4 | 0x40000000)
"""IN_ATTRIB, of a file and of a directory."""
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_ONLY_DIRECTORIES: Final = 0x01000000
_TOLD_OF: Final = _ITSELF | _CONTENTS | _NAMES | _BESIDE_WHAT_IS_ASKED | _ONLY_DIRECTORIES
_AT_ONCE: Final = 1_000
_EVENT: Final = struct.Struct("iIII")
_NO_DIRECTORY: Final = (errno.ENOTDIR, errno.ENOENT)
"""Why what is no directory, or is gone, cannot be watched: what comes in its place is told of the
directory that it is in.
"""
_MOST: Final = 10_000
"""So many things that happened are kept for who asks; after more anything may have."""
MODIFIED: Final = _CONTENTS
"""The event of a file that was written, and nothing else."""


class Watch:
    """Tells by a number whether anything may have happened to what is watched: its content, its
    mode, its place.

    Linux notes a change before whoever made it goes on, so nothing that is over is missed. One may
    serve several threads; in a child that was forked it tells nothing.
    """

    def __init__(self) -> None:
        self._libc: Any = None
        self._descriptor = -1
        self._poll = select.poll() if sys.platform == "linux" else None
        self._lock = threading.Lock()
        self._looks = 0
        self._number = self._told = 1
        self._due = 0.0
        self._born = _forks
        self._directories: dict[int, str] = {}
        self._happened: dict[tuple[str, str], int] | None = None
        self._is_reading = False

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def number(self) -> int:
        """Return what is another number once something may have happened; 0 where only looking
        tells.
        """
        if self._descriptor < 0 or self._born != _forks:
            return 0
        try:
            told = self._poll.poll(0)  # type: ignore[union-attr]  # there is one where there is a descriptor
        except RuntimeError:  # another thread asks at this moment
            return 0
        if told or self._is_reading or time.monotonic() > self._due:
            self._begin_anew()
        return self._number

    def cover(
        self,
        covered: int,
        paths: Iterable[str],
        *,
        place_only: bool = False,
        at_once: bool = False,
    ) -> int:
        """Watch these, and every directory that leads to them; with `place_only` not what is in
        them, only whether they are taken away.

        Returns a number above 0 where each of their changes is told from now on. It is to be given
        as `covered` the next time (first 0), so that they are only watched anew after something was
        told: the watch of a file that was replaced is gone.
        """
        told = self._told
        if abs(covered) == told:
            return covered
        self._looks += 1
        if (self._looks <= _LOOKS and not at_once) or self._poll is None or self._born != _forks:
            return 0
        with self._lock:
            if self._descriptor < 0 and not self._open():
                self._poll = None
                return 0
            wanted = [_wanted(path, place_only) for path in paths]
            each = {pair for one in wanted for pair in one.items()}
            return (
                told if all(wanted) and all(self._add(path, mask) for path, mask in each) else -told
            )

    def tell(self, directory: str) -> bool:
        """Have `told` name what happens in a directory from now on: names that come and go, files
        that are written or get another mode.

        Returns False where only looking tells: without a right to read it, or past the kernel's
        number of watches; whether its file system is one that `cover` believes is for whoever asks
        to know. True for what is no directory, or a link to one: there is nothing in it.
        """
        if self._poll is None or self._born != _forks:
            return False
        with self._lock:
            if self._descriptor < 0 and not self._open():
                self._poll = None
                return False
            name = os.fsencode(directory)
            number = self._libc.inotify_add_watch(self._descriptor, name, _TOLD_OF)
            if number < 0:
                return ctypes.get_errno() in _NO_DIRECTORY
            self._directories[number] = directory
            return True

    def tell_each(self, directory: str, names: Sequence[str]) -> list[str]:
        """Have `told` name what happens in directories in one directory, as `tell` does; return the
        names of those of which only looking tells. For 100,000 it takes half as long.
        """
        if not names or self._poll is None or self._born != _forks or self._descriptor < 0:
            return [name for name in names if not self.tell(f"{directory}/{name}")]
        above, refused = os.fsencode(directory) + b"/", list[str]()
        with self._lock:
            watch = self._libc.inotify_add_watch
            for start in range(0, len(names), _AT_ONCE):
                some = names[start : start + _AT_ONCE]
                # to encode each by itself takes a tenth of the time
                paths = [above + name for name in os.fsencode("\0".join(some)).split(b"\0")]
                numbers = map(watch, repeat(self._descriptor), paths, repeat(_TOLD_OF))
                for name, number in zip(some, numbers, strict=True):
                    if number < 0:
                        refused.append(name)
                    else:
                        self._directories[number] = f"{directory}/{name}"
        return [name for name in refused if not self.tell(f"{directory}/{name}")]

    def told(self) -> dict[tuple[str, str], int] | None:
        """Return what happened since this was asked before, as (directory, name in it) with the
        kinds of events, one or several; the name is "" for the directory itself.

        None where anything may have happened in any of them: the first time, after more events than
        the kernel keeps, and in a child that was forked.
        """
        if self._born != _forks:
            return None
        with self._lock:
            if self._descriptor < 0:
                self._happened = {}
                return None
            self._read()
            happened, self._happened = self._happened, {}
        return happened

    def is_covered(self, covered: int) -> bool:
        """Whether what `cover` gave this number for is still watched, all of it."""
        return covered == self._told and self._descriptor >= 0

    def _open(self) -> bool:
        self._libc = ctypes.CDLL(None, use_errno=True)
        try:
            self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError:
            return False
        if self._descriptor >= 0 and self._poll is not None:
            self._poll.register(self._descriptor, select.POLLIN)
        return self._descriptor >= 0

    def _add(self, path: str, mask: int) -> bool:
        name, told = os.fsencode(path), (ctypes.c_ulong * 32)()
        if self._libc.statfs(name, told) != 0 or told[0] not in _LOCAL:
            return False
        return bool(
            self._libc.inotify_add_watch(self._descriptor, name, mask | _BESIDE_WHAT_IS_ASKED) >= 0
        )

    def _begin_anew(self) -> None:
        with self._lock:
            if not self._read() and time.monotonic() > self._due:
                self._number += 1
                self._due = time.monotonic() + _BELIEVED_S

    def _read(self) -> bool:
        """Take what was told out of the queue, and make the numbers others where it matters; say
        whether it does.
        """
        # One at a time reads: who finds this set takes over from a reader that an exception of a
        # signal handler (Ctrl-C) has ended, with what it took out of the queue.
        was_interrupted = self._is_reading
        # another thread that finds nothing told meanwhile waits for the number
        self._is_reading = True
        if was_interrupted:
            self._happened = None
        matters = self._drain() or was_interrupted
        if matters:
            self._number += 1
            self._told += 1
            self._due = time.monotonic() + _BELIEVED_S
        self._is_reading = False
        return matters

    def _drain(self) -> bool:
        """Take what was told out of the queue, and note what it is about; say whether anything of
        it matters.
        """
        found = False
        with contextlib.suppress(BlockingIOError):
            while events := os.read(self._descriptor, 1 << 16):
                found = self._note(events) or found
        return found

    def _note(self, events: bytes) -> bool:
        """Note events in the directories of which `told` is to name what happens; say whether any
        event matters.
        """
        at, matters = 0, False
        while at < len(events):
            number, kind, _, size = _EVENT.unpack_from(events, at)
            name = events[(at := at + _EVENT.size) : (at := at + size)]
            directory = self._directories.get(number)
            if directory is None and size and kind in _ATTRIBUTES:
                continue
            matters = True
            if self._happened is None:
                continue
            if kind & _OVERFLOW or len(self._happened) > _MOST:
                self._happened = None
            elif directory is not None:
                if kind & _IGNORED:
                    del self._directories[number]
                which = directory, os.fsdecode(name.rstrip(b"\0"))
                self._happened[which] = self._happened.get(which, 0) | kind
        return matters


class Held:
    """Places with the stamps that they had when something was read there."""

    __slots__ = ("_covered", "_places", "_seen", "_watch")

    def __init__(self, places: tuple[tuple[str, Stamp], ...], watch: Watch) -> None:
        self._places, self._watch = places, watch
        self._seen = self._covered = 0

    def hold(self, number: int | None = None) -> bool:
        """Whether all of them are as they were, now; `number` is the watch's, where it was asked
        just now.
        """
        if number is None:
            number = self._watch.number()
        if number == self._seen and number:
            return True
        # first: what changes afterwards is told
        self._covered = self._watch.cover(self._covered, (path for path, _ in self._places))
        if not unchanged(self._places):
            return False
        self._seen = number if self._covered > 0 else 0
        return True


def _wanted(path: str, place_only: bool) -> dict[str, int]:
    """Return what is to be watched for a path, and for what: itself and all directories above it;
    nothing where a link leads to it.
    """
    while not os.path.lexists(path):  # what is not there comes to its directory
        path, place_only = os.path.dirname(path), False
    if os.path.realpath(path) != path:
        return {}
    found = {path: _ITSELF | (0 if place_only else _NAMES if os.path.isdir(path) else _CONTENTS)}
    while (parent := os.path.dirname(path)) != path:
        found[path := parent] = _ITSELF
    return found


def _forked() -> None:
    global _forks
    _forks += 1


_forks = 0
os.register_at_fork(after_in_child=_forked)
