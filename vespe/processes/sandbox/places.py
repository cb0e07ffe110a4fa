"""Where a stated path leads: a place in the project is one only as long as no link leads out of it.

A tool that may write the project can put a link where a directory was, and a clone can bring one.
So a link decides nothing: what is opened beyond the project, and what is kept or protected, is
what the text of a `permissions` names.
"""

import contextlib
import errno
import os
from collections.abc import Collection, Iterator
from typing import Final

from vespe.models import Permissions
from vespe.processes.sandbox import looked
from vespe.processes.sandbox.protected import find_protected, holds, may_be_protected
from vespe.records import dataclass

EXECUTED: Final = (".vespe", ".git", ".hg", ".jj")
"""What of a project other programs take commands from: a tool that may write the project does not
write there unless it says so.

All of `.git`: a `commondir` put there, or an index that names a repository beside it, has git run
what another configuration says.
"""
_PATH_ONLY: Final = getattr(os, "O_PATH", os.O_RDONLY)
"""Linux's alone: enough to go on from a directory that may not be listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedPlace:
    """What one stated path opens. `path` is the real place, "" where it opens none; `leads` is
    where its links lead that may not be followed, "" where there are none.
    """

    stated: str
    path: str
    leads: str = ""


class Places:
    """The stated paths of one project. `hidden` are the protected places that there are, links
    followed, as `find_protected` returns them.
    """

    def __init__(self, project: str, hidden: Collection[str]) -> None:
        self.root = looked.realpath(project)
        self._said, self._hidden = os.path.abspath(project), frozenset(hidden)

    def find(self, stated: str) -> StatedPlace:
        """Return what a stated path opens: `~` is home, anything relative is in the project.

        In the project links are followed as long as they end in it. Out of it they are the
        machine's own, and followed; but a protected place, and `.git` and its like, are opened
        only by a text that names them.
        """
        # By its text: what `..` leaves is no link that somebody could put there.
        path = os.path.normpath(os.path.join(self.root, os.path.expanduser(stated)))
        if self._said != self.root and holds(self._said, path):
            path = self.root + path[len(self._said) :]
        real = looked.realpath(path)
        if real == path:
            return StatedPlace(stated=stated, path=real)
        entered, named = self._walk(path)
        is_out = entered and not holds(self.root, real)
        is_closed = any(place not in named for place in self._closed(real))
        return (
            StatedPlace(stated=stated, path="", leads=real)
            if is_out or is_closed
            else StatedPlace(stated=stated, path=real)
        )

    def _walk(self, path: str) -> tuple[bool, set[str]]:
        """Whether a path comes through the project on its way, and what each of its own words
        names, where the words before it lead.
        """
        entered, named, here = False, set(), "/"
        for word in path.split("/")[1:]:
            entered = entered or holds(self.root, here)
            there = os.path.join(here, word)
            here = looked.realpath(there)
            named |= {there, here} if there in self._hidden else {there}
        return entered, named

    def _closed(self, real: str) -> Iterator[str]:
        """Find the places that a real path lies in, and that only their name opens."""
        yield from (place for place in self._hidden if holds(place, real))
        words = real.split("/")
        for count, word in enumerate(words, 1):
            if word in EXECUTED:
                yield "/".join(words[:count])


def find_leads(project: str, permissions: Permissions) -> list[StatedPlace]:
    """Return the stated places that open nothing, because a link leads out of the project or into
    what is kept or protected; not those that another stated path opens by its name.
    """
    places = Places(project, find_protected(()))
    stated = dict.fromkeys((*(permissions.read or ()), *(permissions.write or ())))
    found = list(map(places.find, stated))
    opened = [place.path for place in found if place.path]
    return [
        place
        for place in found
        if place.leads
        and (
            not any(holds(one, place.leads) for one in opened)
            or (may_be_protected(place.leads) and place.leads not in opened)
        )
    ]


def make_written(
    places: Places, stated: str, *, as_directory: bool, beside: Collection[str]
) -> None:
    """Make what is to be written where it is not there and the path ends with `/`, or is read
    `as_directory`. What lies in a directory that is `beside` it, or is `.git` and its like, is left
    to who makes it.

    Raises OSError where it cannot be made: FileNotFoundError for what may be a file as well,
    PermissionError for what lies in a protected place.
    """
    place = places.find(stated).path
    if not place or looked.lexists(place) or any(word in EXECUTED for word in place.split("/")):
        return
    if not stated.endswith("/"):
        if any(looked.isdir(one) and holds(one, place) for one in beside):
            return
        if not as_directory:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place)
    if may_be_protected(place):
        raise PermissionError(errno.EACCES, "it is a protected place", place)
    _make(place)


def _make(path: str) -> None:
    """Make a directory and those above it, for its owner alone, and follow no link on the way."""
    flags = _PATH_ONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open("/", flags)
    try:
        for word in path.split("/")[1:]:
            try:
                there = os.open(word, flags, dir_fd=here)
            except FileNotFoundError:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(word, 0o700, dir_fd=here)
                there = os.open(word, flags, dir_fd=here)
            os.close(here)
            here = there
    finally:
        os.close(here)
