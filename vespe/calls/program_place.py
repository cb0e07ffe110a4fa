"""Where in a program a call stands that somebody is asked about, what was answered about calls
like it in this program, and how long the program has waited for answers.
"""

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final


@dataclass(kw_only=True)
class ProgramPlace:
    """A place in a program: `program` is its id, `said` its line with the number, `number` that of
    the call. `answers` hold for all calls like one, by what they were about, as long as the program
    runs. Where nobody can be asked and the program `waits`, it is put off until somebody can
    (CallWaits).
    """

    program: str = ""
    said: str = ""
    number: int = 0
    answers: dict[tuple[str, str], bool] = field(default_factory=dict)
    waits: bool = False


def said_line(lines: Sequence[str], line: int | None) -> str:
    """Say where a call stands in a program of `lines`."""
    if line is None or not 0 < line <= len(lines):
        return "in an f-string"
    return f"line {line}: {lines[line - 1].strip()[:200]}"


class CallWaits(Exception):
    """A call of a program waits for a person's word: the program is not to go on, and cannot catch
    this. `why` is a sentence.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


_PLACE: Final[ContextVar[ProgramPlace | None]] = ContextVar("vespe_program_place", default=None)


def current_place() -> ProgramPlace | None:
    """Return the place of the call that is decided on, None where no program makes it."""
    return _PLACE.get()


@contextlib.contextmanager
def in_program(place: ProgramPlace) -> Iterator[None]:
    """Have what is decided on within this be decided on as a call at that place."""
    token = _PLACE.set(place)
    try:
        yield
    finally:
        _PLACE.reset(token)


class PersonTime:
    """How long a program has waited for persons: its deadline stands still meanwhile. Safe from
    several threads, which may wait at the same time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self._past = self._since = 0.0

    @property
    def seconds(self) -> float:
        """How long that was up to now."""
        with self._lock:
            return self._past + (time.monotonic() - self._since if self._waiting else 0.0)

    def __enter__(self) -> None:
        with self._lock:
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._waiting -= 1
            if not self._waiting:
                self._past += time.monotonic() - self._since


_TIME: Final[ContextVar[PersonTime | None]] = ContextVar("vespe_person_time", default=None)
_NO_PROGRAM: Final = contextlib.nullcontext()


@contextlib.contextmanager
def counted_in(waited: PersonTime) -> Iterator[None]:
    """Have the time that calls within this wait for a person be counted."""
    token = _TIME.set(waited)
    try:
        yield
    finally:
        _TIME.reset(token)


def waiting_for_person() -> contextlib.AbstractContextManager[None]:
    """Return what is to be around each wait for a person's answer."""
    return _TIME.get() or _NO_PROGRAM
