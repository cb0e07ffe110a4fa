"""Where in a program a call stands that somebody is asked about, and what was answered about calls
like it in this program.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final


@dataclass(kw_only=True)
class ProgramPlace:
    """A place in a program: `program` is its id, `said` its line with the number, `number` that of
    the call.
    `answers` hold for all calls like one, by what they were about, as long as the program runs.
    Where nobody
    can be asked and the program `waits`, it is put off until somebody can (CallWaits).
    """

    program: str = ""
    said: str = ""
    number: int = 0
    answers: dict[tuple[str, str], bool] = field(default_factory=dict)
    waits: bool = False


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
