"""Search the text files of a confined directory, in bounded time whatever the pattern."""

import contextlib
import fnmatch
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final, NamedTuple

from vespe import defaults
from vespe.errors import InvalidArguments, UsageError, VespeError
from vespe.files.confined import Directory, DirectoryEntry

PATTERN_SECONDS: Final = 5.0
"""How long a regular expression may take over all files; Python's engine can need longer than the
universe.
"""
MAX_SEARCHED_BYTES: Final = 2 * 1024 * 1024
"""Larger files are skipped, and counted."""
MAX_SHOWN: Final = 400
MAX_MATCHED: Final = 10_000
_BINARY_PROBE: Final = 8192

Finder = Callable[[str], int | None]


class _TooSlow(Exception):
    """The pattern's time is up; no VespeError, so that nothing on the way takes it for a file that
    cannot be read.
    """


class Query(NamedTuple):
    """What to look for: a literal text, or a regular expression of Python's `re` where `regex`; in
    files named like `files`.
    """

    text: str
    regex: bool = False
    ignore_case: bool = False
    files: str = "*"


class Match(NamedTuple):
    """One line that matches: its file, its number from 1, and its text, around the match where it
    is long.
    """

    path: str
    line: int
    text: str


class Found(NamedTuple):
    """What a search found; `skipped` files are binary, too large or unreadable, `truncated` says
    that there is more.
    """

    matches: list[Match]
    searched: int
    skipped: int
    truncated: bool


def search(directory: Directory, query: Query, *, path: str = ".", limit: int = 100) -> Found:
    """Find the lines that match, in a file or in all files beneath a directory, in the order of
    their paths.

    Raises InvalidArguments for a pattern that is none or takes longer than PATTERN_SECONDS,
    PathRefused as Directory does. A regular expression sees the first 10,000 characters of a line,
    and only the main thread can bound its time: in another one it is a UsageError.
    """
    if not query.text or "\n" in query.text:
        raise InvalidArguments(
            "the text to search for "
            + ("spans several lines: search for one of them" if query.text else "is empty")
        )
    if not query.regex:
        return _search(directory, _literal(query), query.files, path=path, limit=limit)
    try:
        with _deadline(PATTERN_SECONDS):
            return _search(directory, _pattern(query), query.files, path=path, limit=limit)
    except _TooSlow:
        reason = (
            f"the regular expression took longer than {PATTERN_SECONDS:g} s: "
            "use a simpler one, or a literal text"
        )
        raise InvalidArguments(reason) from None


def _search(directory: Directory, find: Finder, files: str, *, path: str, limit: int) -> Found:
    matches: list[Match] = []
    searched = skipped = 0
    for entry in _candidates(directory, path, files):
        text = _text_of(directory, entry)
        if text is None:
            skipped += 1
            continue
        searched += 1
        for match in _matching_lines(entry.path, text, find):
            if len(matches) == limit:
                return Found(matches, searched, skipped, truncated=True)
            matches.append(match)
    return Found(matches, searched, skipped, truncated=False)


def _candidates(directory: Directory, path: str, files: str) -> Iterator[DirectoryEntry]:
    if directory.kind(path) == "file":
        yield DirectoryEntry(path=path, kind="file", size=0)
        return
    for entry in directory.walk(path):
        if entry.problem or (
            entry.kind == "file" and fnmatch.fnmatchcase(entry.path.rpartition("/")[2], files)
        ):
            yield entry


def _text_of(directory: Directory, entry: DirectoryEntry) -> str | None:
    """Read a file for searching, or give None where it is no text that can be."""
    if entry.size > MAX_SEARCHED_BYTES:
        return None
    try:
        data = directory.read_bytes(entry.path, limit=MAX_SEARCHED_BYTES)
    except VespeError:
        return None
    return None if b"\0" in data[:_BINARY_PROBE] else data.decode("utf-8", "replace")


def _matching_lines(path: str, text: str, find: Finder) -> Iterator[Match]:
    for number, line in enumerate(text.split("\n"), 1):
        at = find(line)
        if at is not None:
            yield Match(path, number, _shown(line.rstrip("\r"), at))


def _shown(line: str, at: int) -> str:
    if len(line) <= MAX_SHOWN:
        return line
    start = max(0, at - MAX_SHOWN // 4)
    end = start + MAX_SHOWN
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _literal(query: Query) -> Finder:
    wanted = query.text.casefold() if query.ignore_case else query.text

    def find(line: str) -> int | None:
        at = (line.casefold() if query.ignore_case else line).find(wanted)
        return at if at >= 0 else None

    return find


def _pattern(query: Query) -> Finder:
    if len(query.text) > defaults.MAX_PATTERN_LENGTH:
        raise InvalidArguments(
            f"the regular expression is longer than {defaults.MAX_PATTERN_LENGTH} characters"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(query.text, re.IGNORECASE if query.ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidArguments(f"the regular expression does not compile: {error}") from None

    def find(line: str) -> int | None:
        match = compiled.search(line, 0, MAX_MATCHED)
        return match.start() if match else None

    return find


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Interrupt the main thread: the engine looks for signals while it backtracks, and a thread
    could not stop it.
    """
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("a regular expression can only be searched for in the main thread")

    def end(_number: int, _frame: FrameType | None) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
