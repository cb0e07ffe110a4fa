"""Which tools a project has, and what tells that one of them changed: the one place where a process
that lives asks this.

Why: which tool a name means, and what a server lists, rests on every tool's directory and
config.json. A look at 10,000 of them takes 30 to 100 ms, and a model calls every few seconds, so
that each of its calls would pay for it. Instead Linux is asked to tell (`files/watch.py`): then a
call after a silence costs the same with 10 tools as with 10,000 (0.4 ms, where it was 34 ms), and a
server of 10,000 tools that has nothing to do takes 0.2 % of a core, where it took 5 %.

What does not work:

- To believe what is told alone: a write through a mapping, or through a hard link elsewhere, is not
  told. So each look takes a few tools more, in turn, whatever was told.
- To watch from the first look on: a program that makes one call would wait for it. A server lists
  its tools soon: with 1,000 of them or more it watches at once, since it would look twice else.
- Stamps of what was written within the last 0.1 s (see `files/stamps.py`): where nobody tells,
  these count as changed at each look until they are older.

Where nobody tells (other file systems, links on the way, more directories than the kernel watches,
macOS) each tool is looked at, and who asks often shares one look over some time.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final, TypeAlias

from vespe import defaults
from vespe.files.stamps import Stamp, are_settled, stamp
from vespe.files.watch import MODIFIED, Watch

Stamps: TypeAlias = tuple[Stamp, Stamp]
"""Of a tool's directory, which tells of files that come and go, and of its config.json. Of a
directory that was told of before it was looked at the first time the config.json's is enough.
"""
_WORTH: Final = 1_000
"""Linux is asked to tell once so many tools have been looked at: loading what asks it takes longer
than that with a few tools.
"""
_SHARE: Final = 32
"""Where nobody tells, looking takes at most one part in so many of the time."""
_LARGE: Final = 20_000
_TURN: Final = 32
"""So many tools are looked at in turn, though nothing was told of them."""
_MOST_CHANGES: Final = 1_000
_NOTHING: Final[Stamps] = (None, None)


class _Place:
    """The tools in one directory. `untold` are those of which only looking tells, None for all.
    `is_short` says that `rows` lack the stamps of the directories that are told of, and `whole` in
    which look all of them were looked at.
    """

    __slots__ = ("directory", "identity", "is_short", "rows", "untold", "whole")

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.identity: tuple[int, int] | None = None
        self.rows: dict[str, Stamps] = {}
        self.untold: set[str] | None = None
        self.is_short, self.whole = False, 0

    def is_replaced(self) -> bool:
        """Whether there is another directory now."""
        return _identity(self.directory) != self.identity

    def is_on_same_device(self, *found: Stamp) -> bool:
        """Whether what was looked at is no other file system's, which may change elsewhere."""
        return all(
            one is None or (self.identity is not None and one[0] == self.identity[0])
            for one in found
        )

    def look(self, uid: str, *, told: bool) -> Stamps:
        """Look at a tool, in the way that its row was made."""
        path, row = f"{self.directory}/{uid}", self.rows.get(uid)
        config = stamp(f"{path}/{defaults.CONFIG_FILE}")
        is_short = told and config is not None and self.is_short and (row is None or row[0] is None)
        return None if is_short else stamp(path), config


class WatchedTools:
    """The tools in some directories, for several threads.

    `version` is another number once one of them came, left or changed, and `names` once one may
    have another name; `refresh` brings both up to date. `firm` says that each later change makes
    another version: nothing is so young that a second change could hide in it.
    """

    def __init__(self, watch: Watch) -> None:
        self.version = self.names = self._looks = 0
        self._at_once = False
        self._watch = watch
        self._lock = threading.RLock()
        self._places: dict[str, _Place] = {}
        self._changed: dict[str, int] = {}
        self._floor = 0
        self._young: set[tuple[str, str]] = set()
        self._turns: Iterator[tuple[_Place, str]] = iter(())
        self._looked = self._covered = self._seen = self._now_ns = 0
        self._due = self._exact_until = self._next_turn = 0.0
        self._is_looking = False

    @property
    def firm(self) -> bool:
        return not self._young

    def take(self, directories: Iterable[str]) -> None:
        """Say which directories hold the tools from now on; what is known of them stays known."""
        with self._lock:
            if tuple(self._places) != (wanted := tuple(dict.fromkeys(directories))):
                self._places = {path: self._places.get(path) or _Place(path) for path in wanted}
                self._young = {which for which in self._young if which[0] in self._places}
                self._any_changed()
                self._turns, self._covered, self._seen = iter(()), 0, 0
                self._due = self._exact_until = 0.0

    def watch_at_once(self) -> None:
        """Have Linux asked to tell from the first look on, where there are many tools: for who
        looks again soon.
        """
        self._at_once = True

    def refresh(self, *, exact: bool = False, seen: int | None = None) -> bool:
        """Take in what happened, and say whether that is `firm`. `seen` is the watch's number,
        where it was asked just now.

        Where nobody tells of changes, a look is believed for 32 times as long as it took, unless
        the answer must be `exact`. Even then one at more than 20,000 tools is believed for as long
        as it took: it is that old already when it ends.
        """
        if seen is None:
            seen = self._watch.number()
        if not (seen and seen == self._seen) and (
            time.monotonic() >= (self._exact_until if exact else self._due)
        ):
            self._look()
        return not self._young

    def stamps(self, tool_directory: str) -> Stamps:
        """Return the stamps of a tool as they were when it was looked at."""
        directory, _, uid = tool_directory.rpartition("/")
        place = self._places.get(directory)
        return _NOTHING if place is None else place.rows.get(uid, _NOTHING)

    def looked(self, directory: str) -> Mapping[str, Stamps] | None:
        """Return the stamps of all tools in a directory, where each of them was looked at in the
        last look; None where that may have gone by what was told.
        """
        place = self._places.get(directory)
        if place is None or (place.untold is not None and place.whole != self._looks):
            return None
        return place.rows

    def stands(self, tool_directory: str) -> bool:
        """Say whether the config.json of a tool is as it was when it was looked at: where nobody
        tells, that one is looked at again.
        """
        if self._seen:
            return True
        return stamp(f"{tool_directory}/{defaults.CONFIG_FILE}") == self.stamps(tool_directory)[1]

    def changed_since(self, version: int) -> list[str] | None:
        """Name the directories of the tools that came, left or changed since then; None where any
        may have.
        """
        with self._lock:
            if version < self._floor:
                return None
            return [path for path, when in self._changed.items() if when > version]

    def _look(self) -> None:
        with self._lock:
            started, self._now_ns = time.monotonic(), time.time_ns()
            was_interrupted, self._is_looking = self._is_looking, True
            self._looks += 1
            seen = self._watch.number()  # first: what changes afterwards is told
            happened = self._watch.told()
            if was_interrupted:  # by Ctrl-C: nobody knows what was told to it, and how far it came
                happened = None
                self._any_changed()
            again, self._young = self._named_in(happened or {}) | self._young, set()
            telling = self._covers()
            for place in self._places.values():
                if happened is None or not telling or place.untold is None or place.is_replaced():
                    self._look_whole(place, telling)
                else:
                    for uid in tuple(place.untold):
                        self._look_again(place, uid)
            for directory, uid in again:
                self._look_again(self._places[directory], uid, changed=True)
            if telling and started >= self._next_turn:
                self._take_turn(started)
            told = telling and not any(place.untold != set() for place in self._places.values())
            self._seen = seen if told else 0
            now = time.monotonic()
            self._due = 0.0 if told or self._young else now + (now - started) * _SHARE
            many = sum(len(place.rows) for place in self._places.values()) > _LARGE
            self._exact_until = now + (now - started) if many and not told else 0.0
            self._is_looking = False

    def _named_in(self, happened: Mapping[tuple[str, str], int]) -> set[tuple[str, str]]:
        """Return the tools that something happened to, as (directory of tools, uid)."""
        found = set()
        for (directory, name), kinds in happened.items():
            above, _, uid = directory.rpartition("/")
            if (place := self._places.get(directory)) is not None:
                if not name:
                    self._any_changed()
                    place.untold = None
                elif not name.startswith("."):
                    found.add((directory, name))
                    self.names += 1
            elif above in self._places and (name == defaults.CONFIG_FILE or kinds & ~MODIFIED):
                found.add((above, uid))
                self.names += name == defaults.CONFIG_FILE
        return found

    def _covers(self) -> bool:
        """Have Linux tell of the directories' own places; say whether it does."""
        if self._looked < _WORTH and not (self._at_once and self._are_many()):
            return False
        self._covered = self._watch.cover(
            self._covered, self._places, place_only=True, at_once=True
        )
        return self._covered > 0

    def _are_many(self) -> bool:
        found = chain.from_iterable(map(_names_in, self._places))
        return sum(1 for _ in islice(found, _WORTH)) >= _WORTH

    def _look_whole(self, place: _Place, telling: bool) -> None:
        # a change may be missed that its stamp does not show
        comparable = place.untold is None and not place.is_short
        if not comparable:
            self._any_changed()
        told = telling and self._watch.tell(place.directory)  # before it is looked at
        place.identity = _identity(place.directory)
        place.untold = set() if told else None
        place.is_short = told and not (comparable and place.rows)
        before, place.rows = place.rows, {}
        place.rows.update(_rows_in(place, self._watch if told else None))
        place.whole = self._looks
        self._looked += len(place.rows)
        if not before and place.rows:
            self._any_changed()
        elif comparable and place.rows != before:
            for uid in before.keys() | place.rows.keys():
                if (now := place.rows.get(uid, _NOTHING)) != (then := before.get(uid, _NOTHING)):
                    self._note(place, uid, named=now[1] != then[1])
        if place.untold != set() and not are_settled(chain(*place.rows.values()), self._now_ns):
            self._young |= {
                (place.directory, uid)
                for uid, stamps in place.rows.items()
                if (place.untold is None or uid in place.untold)
                and not are_settled(stamps, self._now_ns)
            }

    def _look_again(self, place: _Place, uid: str, *, changed: bool = False) -> None:
        path, before = f"{place.directory}/{uid}", place.rows.get(uid, _NOTHING)
        told = place.untold is not None and self._watch.tell(path)
        now = place.look(uid, told=told)
        if changed or now != before:
            self._note(place, uid, named=now[1] != before[1])
        if now == _NOTHING:
            place.rows.pop(uid, None)
        else:
            place.rows[uid] = now
        if place.untold is not None:
            told = told and place.is_on_same_device(*now)
            (place.untold.discard if told or now == _NOTHING else place.untold.add)(uid)
        if not told and not are_settled(now, self._now_ns):
            self._young.add((place.directory, uid))

    def _take_turn(self, started: float) -> None:
        """Look at a few tools of which nothing was told."""
        turn = list(islice(self._turns, _TURN))
        if not turn:
            each = self._places.values()
            self._turns = ((place, uid) for place in each for uid in tuple(place.rows))
        for place, uid in turn:
            told = place.untold is not None and uid not in place.untold
            if place.rows.get(uid) not in (None, place.look(uid, told=told)):
                self._look_again(place, uid)
        now = time.monotonic()
        self._next_turn = now + (now - started) * _SHARE

    def _note(self, place: _Place, uid: str, *, named: bool) -> None:
        self.version += 1
        self.names += named
        if len(self._changed) >= _MOST_CHANGES:
            self._any_changed()
        self._changed[f"{place.directory}/{uid}"] = self.version

    def _any_changed(self) -> None:
        self.version += 1
        self.names += 1
        self._changed, self._floor = {}, self.version


def _identity(directory: str) -> tuple[int, int] | None:
    found = stamp(directory)
    return found and found[:2]


def _names_in(directory: str) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            yield from (entry.name for entry in entries)
    except OSError:
        return


def _rows_in(place: _Place, watch: Watch | None) -> Iterator[tuple[str, Stamps]]:
    """Yield each name in a directory with its stamps, of each what is told first; what is not is
    added to the place's `untold`.
    """
    try:
        names = os.listdir(place.directory)
    except OSError:
        return
    uids = [uid for uid in names if not uid.startswith(".")]
    untold, device = place.untold, place.identity and place.identity[0]
    if watch is not None and untold is not None:
        untold.update(watch.tell_each(place.directory, uids))
    for uid in uids:
        directory = f"{place.directory}/{uid}"
        config = stamp(f"{directory}/{defaults.CONFIG_FILE}")
        is_short = config is not None and place.is_short and config[0] == device
        if is_short and untold is not None and uid not in untold:
            yield uid, (None, config)
            continue
        stamps = stamp(directory), config
        if untold is not None and not place.is_on_same_device(*stamps):
            untold.add(uid)
        yield uid, stamps
