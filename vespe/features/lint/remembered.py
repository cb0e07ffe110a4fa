"""What several rules in turn ask of the same subject, worked out once."""

from collections.abc import Callable
from typing import TypeVar

from vespe.features.lint.base import Subject

T = TypeVar("T")


def for_last(make: Callable[[Subject], T]) -> Callable[[Subject], T]:
    """Return the function with its answer for the last subject kept: an audit asks all rules about
    one subject before it goes on to the next.
    """
    last: list[tuple[Subject, T]] = []

    def made(subject: Subject) -> T:
        if not last or last[0][0] is not subject:
            last[:] = [(subject, make(subject))]
        return last[0][1]

    return made
