"""Counts and times of calls, by tool: of a log's lines, and of those that its rotation has removed,
which are kept as counts by day in a file beside it.
"""

import contextlib
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic
from vespe.files.digests import sha256
from vespe.files.log_file import OLD
from vespe.lazy import pattern
from vespe.models import JsonObject

SUFFIX: Final = ".stats"
"""Added to a log's name for the file of its counts."""
MAX_BYTES: Final = 64 * 1024
OTHERS: Final = "(others)"
"""The tools that there was no room for, the least called ones."""
_VERSION: Final = 1
_STEPS: Final = 8
"""How many classes of durations there are between one and its double: 4 % off at most."""
_SHORTEST_MS: Final = 0.001
_KEPT: Final = 0.75
_TIME: Final = b'{"time":"'
_DAY, _SAID = 19, 33
"""Where the day and the time end in `{"time":"2026-01-01T00:00:00.000Z",`, as a line begins."""
_BEHIND: Final = b'",'
_DIGEST: Final = b',"arguments_digest":"'
_DIGITS: Final = -66
"""Where the digits of that begin, from the end of a line that says nothing more."""
_OUTCOME: Final = b',"outcome":"'
_DURATION: Final = b'","duration_ms":'
_MS: Final = pattern(rb"[0-9]{1,12}\.[0-9]{3}")
_LONGEST: Final = 64
"""The most characters of a time or a place: a log may hold lines of others."""


class _Read(NamedTuple):
    """What one line of a log says of a call."""

    tool: str
    place: str
    duration: float
    is_ok: bool
    is_asked_for: bool = True
    """False for a call of `vespe tool test`, `fuzz` or `observe`: it has a `purpose`."""


class CallTotals:
    """What is known of calls: how many there were and how many failed, by day and tool, and how
    long they took, by tool.
    """

    def __init__(self) -> None:
        self.since = ""
        """When the first call was that is counted, as in its line; "" for none."""
        self.places: set[str] = set()
        """The projects that the calls were made in, as in their lines; "" for one not known."""
        self.days: dict[str, dict[str, list[int]]] = {}
        """By day and tool: calls, and those that failed. A day may stand for those after it."""
        self.times: dict[str, dict[float, int]] = {}
        """By tool: how many calls took so many milliseconds."""
        self.first, self.bytes = "", 0
        """Of the log that was counted last: what it is known by, and how much of it."""

    def count(self, line: JsonObject) -> None:
        """Add one line of a log; nothing for one that nobody asked for, or that is none."""
        time, tool, duration = line.get("time"), line.get("tool"), line.get("duration_ms", 0)
        if line.get("purpose") or not (isinstance(time, str) and isinstance(tool, str)):
            return
        took = float(duration) if isinstance(duration, (int, float)) else math.nan
        place, time = str(line.get("place", ""))[:_LONGEST], time[:_LONGEST]
        if not self.since or time < self.since:
            self.since = time
        self._count(time[:10], _Read(tool, place, took, line.get("outcome") == "ok"))

    def count_all(self, data: bytes) -> None:
        """Add the lines of a log. The call that makes a log lose its old part waits for this, so
        lines that are alike but for the time of day and the arguments are read once. To read each
        line as JSON took 9 µs a call, to look for what changes in each line 2 µs.
        """
        lines, forms = data.split(b"\n"), dict[bytes, JsonObject]()
        alike = [(line[:_DAY], line[_SAID:_DIGITS]) for line in lines]
        read: dict[tuple[bytes, bytes], _Read | None] = {}
        for one, number in Counter(alike).items():
            day, said = one
            is_plain = day.startswith(_TIME) and said.endswith(_DIGEST)
            read[one] = found = _read_line(said, forms) if is_plain else None
            if found is not None:
                self._count(day[len(_TIME) :].decode("ascii", "replace"), found, number)
        if None in read.values():
            for line, one in zip(lines, alike, strict=True):
                if read[one] is None:
                    self._count_line(line, forms)
        first = min((line for line in lines if line.startswith(_TIME)), default=b"")
        if first and (not self.since or _time_of(first) < self.since):
            times = (
                _time_of(line)
                for line, one in zip(lines, alike, strict=True)
                if (found := read[one]) and found.is_asked_for
            )
            self.since = min(filter(None, (self.since, *times)), default="")

    def _count_line(self, line: bytes, forms: dict[bytes, JsonObject]) -> None:
        is_plain = line.startswith(_TIME) and line.endswith(b"}")
        found = _read_line(line[_SAID:], forms) if is_plain else None
        if found is None:
            for other in _parsed(line):
                self.count(other)
        elif found.is_asked_for:
            time = _time_of(line)
            self.since = min(self.since or time, time)
            self._count(time[:10], found)

    def _count(self, day: str, line: "_Read", number: int = 1) -> None:
        if not line.is_asked_for:
            return
        self.places.add(line.place)
        known = self.days.setdefault(day, {}).setdefault(line.tool, [0, 0])
        known[0] += number
        known[1] += 0 if line.is_ok else number
        if math.isfinite(line.duration):
            took = self.times.setdefault(line.tool, {})
            took[line.duration] = took.get(line.duration, 0) + number

    def add(self, other: "CallTotals") -> None:
        """Add the calls of another."""
        self.since = min(filter(None, (self.since, other.since)), default="")
        self.places |= other.places
        for day, tools in other.days.items():
            for tool, numbers in tools.items():
                _add(self.days.setdefault(day, {}), tool, numbers)
        for tool, times in other.times.items():
            for duration, number in times.items():
                took = self.times.setdefault(tool, {})
                took[duration] = took.get(duration, 0) + number

    def rows(self, tool: str | None = None) -> list[JsonObject]:
        """Return `tool`, `calls`, `failed`, `p50_ms` and `p95_ms` of each tool, or of one; the most
        called first.
        """
        sums: dict[str, list[int]] = {}
        for tools in self.days.values():
            for name, numbers in tools.items():
                _add(sums, name, numbers)
        rows: list[JsonObject] = [
            {
                "tool": name,
                "calls": calls,
                "failed": failed,
                "p50_ms": _percentile(self.times.get(name, {}), 0.5),
                "p95_ms": _percentile(self.times.get(name, {}), 0.95),
            }
            for name, (calls, failed) in sums.items()
            if tool in (None, name)
        ]
        return sorted(rows, key=lambda row: (-row["calls"], row["tool"]))

    def fit(self) -> bytes:
        """Return the file of these totals: durations in classes, and so little by day and tool that
        it has room.
        """
        self.times = {tool: _classes(times) for tool, times in self.times.items()}
        while len(data := strict_json.compact_json(self._document()).encode()) > MAX_BYTES:
            if len(self.days) > 1:
                first, second = sorted(self.days)[:2]
                for tool, numbers in self.days.pop(second).items():
                    _add(self.days[first], tool, numbers)
            else:
                self._drop_least()
        return data

    def _drop_least(self) -> None:
        """Count the least called quarter of the tools as others."""
        rows = [row["tool"] for row in self.rows() if row["tool"] != OTHERS]
        for tool in rows[int(len(rows) * _KEPT) :]:
            for tools in self.days.values():
                if tool in tools:
                    _add(tools, OTHERS, tools.pop(tool))
            others = self.times.setdefault(OTHERS, {})
            for duration, number in self.times.pop(tool, {}).items():
                others[duration] = others.get(duration, 0) + number

    def _document(self) -> JsonObject:
        return {
            "version": _VERSION,
            "since": self.since,
            "places": sorted(self.places)[:2],
            "days": self.days,
            "times": {
                tool: {str(_class_of(duration)): number for duration, number in times.items()}
                for tool, times in self.times.items()
            },
            "counted": {"first": self.first, "bytes": self.bytes},
        }


def keep_counts(log_path: str) -> None:
    """Add what the old part of a log says to its file of counts, before that part is removed. A
    file that cannot be read is begun anew, but not one of a later version.

    Raises StorageError.
    """
    totals, problem = read_counts(log_path)
    if problem and problem.is_newer:
        return
    data, first, size = _old_part(log_path, totals)
    totals.count_all(data)
    if size:
        totals.first, totals.bytes = first, size
        atomic.write_atomic(log_path + SUFFIX, totals.fit(), mode=0o600, durable=False)


class CountsProblem:
    """Why a file of counts cannot be read: a sentence, and whether a later version wrote it."""

    def __init__(self, message: str, *, is_newer: bool = False) -> None:
        self.message, self.is_newer = message, is_newer


def read_counts(log_path: str) -> tuple[CallTotals, CountsProblem | None]:
    """Return what the file beside a log counts, nothing where there is none, and what is wrong with
    it; never raises.
    """
    path = log_path + SUFFIX
    if not os.path.lexists(path):
        return CallTotals(), None
    try:
        document = strict_json.parse_object(atomic.read_bytes(path, limit=MAX_BYTES), path=path)
        if isinstance(version := document.get("version"), int) and version > _VERSION:
            return CallTotals(), CountsProblem(
                f"{path} was written by a later version of Vespe", is_newer=True
            )
        return _read(document), None
    except (InvalidDocument, StorageError) as error:
        return CallTotals(), CountsProblem(str(error))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return CallTotals(), CountsProblem(f"{path} is damaged, or is not a file of Vespe's")


def totals_of(log_path: str, place: str | None) -> tuple[CallTotals, CountsProblem | None]:
    """Return all that a log and the file beside it know, and what is wrong with that file. With
    `place` only the calls of that project: a log may be that of several, one after the other.

    Raises StorageError where the log cannot be read.
    """
    totals, problem = read_counts(log_path)
    older, _, _ = _old_part(log_path, totals)
    if place is not None and totals.places - {place}:
        totals = CallTotals()
    for line in (*_parsed(older), *_parsed(_bytes_of(log_path))):
        if place is None or line.get("place") == place:
            totals.count(line)
    return totals, problem


def _read(document: JsonObject) -> CallTotals:
    """Read a file of counts; raises what its types make of something else."""
    totals = CallTotals()
    totals.since = _text(document["since"])
    totals.places = {_text(place) for place in document["places"]}
    for day, tools in document["days"].items():
        for tool, (calls, failed) in tools.items():
            _add(totals.days.setdefault(day, {}), tool, [_number(calls), _number(failed)])
    for tool, times in document["times"].items():
        totals.times[tool] = {_middle(int(step)): _number(number) for step, number in times.items()}
    counted = document["counted"]
    totals.first, totals.bytes = _text(counted["first"]), _number(counted["bytes"])
    return totals


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError
    return value


def _old_part(log_path: str, totals: CallTotals) -> tuple[bytes, str, int]:
    """Return what of a log's old part is not counted yet, what it is known by, and how long it is.

    It is known by its first line and its inode: two logs can begin with calls of one moment that
    were alike.
    """
    data = _bytes_of(log_path + OLD)
    first = ""
    if data:
        digest = sha256(data.partition(b"\n")[0]).hexdigest()[:16]
        first = f"{digest}-{os.stat(log_path + OLD).st_ino:x}"
    counted = totals.bytes if first and first == totals.first else 0
    return data[counted:], first, len(data)


def _bytes_of(path: str) -> bytes:
    try:
        return atomic.read_bytes(path, limit=1 << 26)
    except StorageError:
        if os.path.lexists(path):
            raise
        return b""


def _time_of(line: bytes) -> str:
    return line[len(_TIME) : _SAID].decode("ascii", "replace")


def _read_line(said: bytes, forms: dict[bytes, JsonObject]) -> "_Read | None":
    """Read what a line says from the end of its time on, where it has the form that `CallLog`
    writes; None for any other. What all lines of a tool begin with is read once, into `forms`.
    """
    end = said.find(_OUTCOME)
    start = said[:end] if end > 0 else b""
    if (form := forms.get(start)) is None:
        form = forms[start] = _form(start)
    code, _, rest = said[end + len(_OUTCOME) :].partition(_DURATION)
    duration, comma, _ = rest.partition(b",")
    if not (form and comma and _MS.fullmatch(duration)):
        return None
    return _Read(
        form["tool"],
        form.get("place", ""),
        float(duration),
        is_ok=code == b"ok",
        is_asked_for=not form.get("purpose"),
    )


def _form(start: bytes) -> JsonObject:
    """Return what a line says between its time and its outcome; nothing where that is not what
    `CallLog` writes.
    """
    if not start.startswith(_BEHIND):
        return {}
    try:
        said = strict_json.parse_object(b"{%s}" % start[len(_BEHIND) :])
    except InvalidDocument:
        return {}
    texts = isinstance(said.get("tool"), str) and isinstance(said.get("place", ""), str)
    return said if texts and len(said.get("place", "")) <= _LONGEST else {}


def _parsed(data: bytes) -> Iterator[JsonObject]:
    for line in data.split(b"\n"):
        with contextlib.suppress(InvalidDocument):
            yield strict_json.parse_object(line)


def _add(into: dict[str, list[int]], tool: str, numbers: Iterable[int]) -> None:
    into[tool] = [a + b for a, b in zip(into.get(tool, (0, 0)), numbers, strict=True)]


def _class_of(duration: float) -> int:
    return math.floor(math.log2(max(duration, _SHORTEST_MS)) * _STEPS)


def _middle(step: int) -> float:
    return float(2 ** ((step + 0.5) / _STEPS))


def _classes(times: dict[float, int]) -> dict[float, int]:
    found: dict[float, int] = {}
    for duration, number in times.items():
        middle = _middle(_class_of(duration))
        found[middle] = found.get(middle, 0) + number
    return found


def _percentile(times: dict[float, int], share: float) -> float | None:
    """Return the duration that this share of calls did not exceed; None without any."""
    left = math.ceil(sum(times.values()) * share)
    for duration in sorted(times):
        left -= times[duration]
        if left <= 0:
            return round(duration, 3)
    return None
