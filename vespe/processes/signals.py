"""Ctrl-C, SIGTERM and SIGHUP: they end what runs, what was made for it is taken away, and what must be whole is not cut in two."""

# Python raises KeyboardInterrupt between any two steps of the main thread, between the last step of a `with` and its end too. So a
# handler of ours looks where the thread is: in a function that is `whole` the signal waits, and comes again a moment later.

import _thread
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, Final, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_ALL: Final = (signal.SIGINT, *_SIGNALS)
_PATIENCE_S: Final = 3.0
"""How long the first signal may take to end a command before the next is heard: tidying up takes no longer."""
_AGAIN_S: Final = 0.002
_WHOLE_FILES: Final = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>", "/tempfile.py")
"""Whatever they call is whole too: an import and a temporary directory are there, or are not."""
_LOST: Final = ("__del__", "gc_callback")
"""What Python calls on its own: an exception there has nowhere to go. The latter is Hypothesis's."""
_WHOLE: Final[set[CodeType]] = set()
_OPEN: Final[set[CodeType]] = set()


class Terminated(KeyboardInterrupt):
    """The signal `number` asks this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number


def whole(function: _F) -> _F:
    """Mark a function that no signal interrupts, nor what it calls, where Vespe handles signals; a generator, while it does not wait."""
    _WHOLE.add(function.__code__)
    return function


def open_to_signals(function: _F) -> _F:
    """Mark a function that signals interrupt even where it is called by one that is `whole`: what waits."""
    _OPEN.add(function.__code__)
    return function


@contextlib.contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread at Ctrl-C, Terminated at the first SIGTERM or SIGHUP; never in what is `whole`.

    While one is on its way more of them are ignored, as long as tidying up may take. A signal that is ignored (`nohup`), or
    a SIGTERM or SIGHUP that the program handles itself, stays as it is. In another thread than the main one, where no handler can
    be set, this does nothing.
    """
    way, before = _Way(), dict[int, Any]()
    try:
        _take(way.handle, lambda number, handler: callable(handler) if number == signal.SIGINT else handler is signal.SIG_DFL, before)
        yield
    finally:
        _give_back(way.handle, before)


def in_main_thread() -> bool:
    """Whether this thread is the one that handlers interrupt; all others need no guard against them."""
    return _thread.get_ident() == threading.main_thread().ident


def go_on() -> None:
    """Say that an interruption was dealt with, and what it interrupted goes on: the next Ctrl-C is heard at once."""
    way = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    if isinstance(way, _Way):
        way.since = None


@contextlib.contextmanager
def own_handlers_wait() -> Iterator[None]:
    """Let signals that the program handles itself wait in what is `whole`, where the program is not the command: a library's calls.

    What handles a signal when this ends stays: the program's own handler, or what it put in its place meanwhile. In another thread
    than the main one, which no handler interrupts, this does nothing.
    """
    before: dict[int, Any] = {}

    def handle(number: int, frame: FrameType | None) -> None:
        before[number](number, frame) if _is_open(frame) else _come_again(number)

    try:
        _take(handle, lambda number, handler: callable(handler) and not _interrupts_nothing(handler) and not _is_ours(handler), before)
        yield
    finally:
        _give_back(handle, before)


def signal_of(error: BaseException | None) -> int:
    """Return the number of the signal behind an interruption, whatever it was wrapped in; SIGINT where none of ours is."""
    while error is not None and not isinstance(error, Terminated):
        error = error.__cause__ or error.__context__
    return error.number if error is not None else int(signal.SIGINT)


class _Way:
    """The way of an interruption to the end of a command: `since` when one is on it, None where none is."""

    def __init__(self) -> None:
        self.since: float | None = None

    def handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.since is not None and now - self.since < _PATIENCE_S:
            return None
        if not _is_open(frame):
            return _come_again(number)
        self.since = now
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise Terminated(number)


def _is_ours(handler: Any) -> bool:
    return isinstance(getattr(handler, "__self__", None), _Way) or getattr(handler, "__module__", "") == __name__


def _interrupts_nothing(handler: Any) -> bool:
    """Whether it is what asyncio sets: its loop reads of a signal later, once for each time that it is sent."""
    return getattr(handler, "__module__", "") == "asyncio.unix_events"


def _is_open(frame: FrameType | None) -> bool:
    """Whether a signal may be raised where the main thread is."""
    if frame is not None and frame.f_code.co_filename in (contextlib.__file__, __file__):
        return False
    while frame is not None:
        code = frame.f_code
        if code in _OPEN:
            return True
        if code in _WHOLE or code.co_name in _LOST or code.co_filename.endswith(_WHOLE_FILES):
            return False
        frame = frame.f_back
    return True


def _come_again(number: int) -> None:
    """Send the signal to the main thread again in a moment. No lock is needed to begin this thread: the main one may hold any."""
    main = threading.main_thread().ident
    if main is not None:
        _thread.start_new_thread(_send, (main, number))


def _send(main: int, number: int) -> None:
    time.sleep(_AGAIN_S)
    signal.pthread_kill(main, number)


@whole
def _take(handle: Callable[[int, FrameType | None], None], wanted: Callable[[int, Any], bool], before: dict[int, Any]) -> None:
    """Set `handle` for each signal that is wanted, and note in `before` what handled it."""
    if in_main_thread():
        for number in _ALL:
            if wanted(number, handler := signal.getsignal(number)):
                before[number] = handler
                signal.signal(number, handle)


@whole
def _give_back(handle: Callable[[int, FrameType | None], None], before: dict[int, Any]) -> None:
    """Set again what was noted, where `handle` has not been replaced."""
    for number in reversed(before):
        if signal.getsignal(number) == handle:
            signal.signal(number, before[number])
