"""Where in a program a call stands that somebody is asked about, what was answered about calls
like it in this program, and how long the program has waited for answers.
"""

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Final

from vespe.calls.in_process import Pause


class ProgramPlace:
    """A place in a program: `program` is its id, `said` its line with the number, `number` that of
    the call. `answers` hold for all calls like one, by what they were about, as long as the program
    runs. Where nobody can be asked and the program `waits`, it is put off until somebody can
    (CallWaits).
    """

    def __init__(
        self, *, program: str = "", said: str = "", number: int = 0, waits: bool = False
    ) -> None:
        self.program, self.said, self.number, self.waits = program, said, number, waits
        self.answers: dict[tuple[str, str], bool] = {}


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


_TIME: Final[ContextVar[Pause | None]] = ContextVar("vespe_person_time", default=None)
_NO_PROGRAM: Final = contextlib.nullcontext()


@contextlib.contextmanager
def counted_in(waited: Pause) -> Iterator[None]:
    """Have the time that calls within this wait for a person be counted."""
    token = _TIME.set(waited)
    try:
        yield
    finally:
        _TIME.reset(token)


def waiting_for_person() -> contextlib.AbstractContextManager[None]:
    """Return what is to be around each wait for a person's answer."""
    return _TIME.get() or _NO_PROGRAM
