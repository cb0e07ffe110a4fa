"""SIGTERM and SIGHUP as Ctrl-C: what runs is ended, and what was made for it taken away, before the command ends."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_HELD: Final = (signal.SIGINT, *_SIGNALS)


class Terminated(KeyboardInterrupt):
    """The signal `number` asks this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number


@contextlib.contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Raise Terminated in the main thread at the first SIGTERM or SIGHUP; while that is on its way, more of them are ignored.

    A signal that is ignored (`nohup`), or that the program handles itself, stays as it is. In another thread than the main
    one, where no handler can be set, this does nothing.
    """
    here = threading.current_thread() is threading.main_thread()
    taken = [number for number in _SIGNALS if here and signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, _terminate)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def held() -> Iterator[frozenset[int]]:
    """Let Ctrl-C, SIGTERM and SIGHUP wait in this thread until the end; gives the signals that waited before already.

    Python raises KeyboardInterrupt between any two steps: what must not stop half-way is done while it is held.
    """
    # The mask is known before it changes: Python raises what came in between after it has changed.
    before = frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def let_through(before: frozenset[int]) -> Iterator[None]:
    """Within `held`, let them come while this is entered; one that waits is raised at once."""
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)


def signal_of(error: BaseException | None) -> int:
    """Give the number of the signal behind an interruption, whatever it was wrapped in; SIGINT where none of ours is."""
    while error is not None and not isinstance(error, Terminated):
        error = error.__cause__ or error.__context__
    return error.number if error is not None else int(signal.SIGINT)


def _terminate(number: int, _: FrameType | None) -> None:
    for other in _SIGNALS:
        if signal.getsignal(other) is _terminate:
            signal.signal(other, signal.SIG_IGN)
    raise Terminated(number)
