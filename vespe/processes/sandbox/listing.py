"""Directories that are given without some of what is in them: by listing what else they hold.

Landlock can only allow, and a mount over a protected place is gone once that is replaced, and hides
nothing that is made later. So a directory that could hold a protected place is never given whole.
"""

import os
from collections.abc import Iterable, Set
from typing import Final

from vespe.lazy import pattern
from vespe.processes.sandbox.looked import Entry, entries
from vespe.processes.sandbox.protected import holds
from vespe.records import dataclass

_IS_OF_A_CALL: Final = pattern(r".*/\.vespe-[0-9a-f]{24}\.tmp").fullmatch
"""What a call of Vespe has made for itself, which is given to that call by its name."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What was given by listing it: beneath `given`, all that is in `split` was listed, and `holes`
    were left out.
    """

    given: frozenset[str] = frozenset()
    split: Set[str] = frozenset()
    holes: Set[str] = frozenset()

    def came_late(self, path: str) -> bool:
        """Whether a path that is refused was made, or replaced, since it was listed: who starts now
        reaches it.
        """
        here, there = real_path(path), ""
        while here != "/":
            here, there = os.path.dirname(here), here
            if here in self.split and any(holds(one, here) for one in self.given):
                return there not in self.holes and os.path.lexists(there)
        return False


def real_path(path: str) -> str:
    """Return where a path that a tool told leads; the path itself where that cannot be said: of
    another's `/proc/1/cwd` even its user may not ask.
    """
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def above(places: Iterable[str]) -> set[str]:
    """Return all the directories that hold any of these places."""
    found: set[str] = set()
    for path in places:
        # `os.path.dirname` takes three times as long, and there are some hundreds
        while path != "/" and (path := path[: path.rfind("/")] or "/") not in found:
            found.add(path)
    return found


def without(path: str, holes: Set[str], split: Set[str]) -> list[Entry]:
    """Return what there is beneath a path but for holes; what holds no hole is returned whole.
    `split` is `above(holes)`, of which a listing alone says what is there.
    """
    if path not in split:
        return [(path, True)]
    found: list[Entry] = []
    for entry in entries(path):
        child, is_directory = entry
        if child in split and is_directory and child not in holes:
            found += without(child, holes, split)
        elif child not in holes and not (child.endswith(".tmp") and _IS_OF_A_CALL(child)):
            found.append(entry)
    return found
