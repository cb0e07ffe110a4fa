"""Turn SIGINT, SIGTERM and SIGHUP into exceptions of the main thread, except inside uninterruptible
sections.
"""

# Python raises KeyboardInterrupt between any two steps of the main thread. What must not be cut in
# two is an `uninterruptible` section: the handler only notes a signal that comes there, and the
# section raises it where it ends. Sections do not look at frames (as trio's enable_ki_protection
# does) nor touch a handler of a host program:
# https://vorpus.org/blog/control-c-handling-in-python-and-trio/

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S: Final = 3.0
"""How long the first signal may take to end a command before the next is heard: tidying up takes no
longer.
"""
_CALLBACK_S: Final = 0.02
"""How long a callback may take that has dropped a signal's exception."""


left_behind: Final[dict[str, Callable[[str], None]]] = {}
"""The paths that a command has made and will delete, each with the function that deletes it.

A signal that comes between the end of a `with` block and the first line of its `__exit__` skips
that `__exit__`, and Python code cannot prevent it (python/cpython issue 74174). `raise_on_signals`
deletes what such a signal left.
"""


class Terminated(KeyboardInterrupt):
    """The signal `number` asks this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number


@contextlib.contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread at Ctrl-C, and Terminated at the first SIGTERM or
    SIGHUP.

    While one is on its way more of them are ignored, as long as tidying up may take. A signal that
    is ignored (`nohup`), or a SIGTERM or SIGHUP that the program handles itself, stays as it is. In
    another thread than the main one, where no handler can be set, this does nothing. Where Python
    drops the exception, since it came in a `__del__` or in a callback of the garbage collector, the
    signal comes once more. Once a signal was raised, whatever `left_behind` still lists is deleted.
    """
    before: dict[int, Any] = {}
    tell_dropped = sys.unraisablehook

    def come_again(dropped: "sys.UnraisableHookArgs") -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            tell_dropped(dropped)
            return
        _main.raised_at = None
        # From another thread: the callback that the exception would come in once more has ended by
        # then.
        _thread.start_new_thread(_send, (signal_of(dropped.exc_value),))

    _main.noted, _main.raised_at, _main.is_command = 0, None, True
    left_behind.clear()
    try:
        with uninterruptible():
            for wanted in _SIGNALS if in_main_thread() else ():
                handler = signal.getsignal(wanted)
                if callable(handler) if wanted == signal.SIGINT else handler is signal.SIG_DFL:
                    before[wanted] = signal.signal(wanted, _handle)
            if before:
                sys.unraisablehook = come_again
        yield
    finally:
        with uninterruptible():
            if _main.raised_at is not None:
                for path, delete in list(left_behind.items()):
                    delete(path)
            _main.is_command = False
            sys.unraisablehook = tell_dropped
            for number, handler in before.items():
                if signal.getsignal(number) is _handle:
                    signal.signal(number, handler)


def uninterruptible() -> AbstractContextManager[None]:
    """Let no signal raise in here: it raises at the end of the outermost such section. Only for
    what takes a moment.
    """
    return _Section(held=True)


def interruptible() -> AbstractContextManager[None]:
    """Let signals raise in here, inside an uninterruptible section: for what waits."""
    return _Section(held=False)


def go_on() -> None:
    """Say that an interruption was dealt with, and what it interrupted goes on: the next Ctrl-C is
    heard at once.
    """
    _main.raised_at = None


def raised() -> int:
    """Return the number of the signal that is on its way to end this command; 0 where there is
    none.
    """
    is_on_its_way = _main.raised_at is not None and time.monotonic() - _main.raised_at < _PATIENCE_S
    return _main.raised if is_on_its_way else 0


def in_command() -> bool:
    """Whether this process is Vespe's own command, where `raise_on_signals` handles signals, and
    not a program that uses the library.
    """
    return _main.is_command


def in_main_thread() -> bool:
    """Whether this thread is the one that handlers interrupt."""
    return _thread.get_ident() == threading.main_thread().ident


def signal_of(error: BaseException | None) -> int:
    """Return the number of the signal behind an interruption, whatever it was wrapped in; SIGINT
    where none of ours is.
    """
    while error is not None and not isinstance(error, Terminated):
        error = error.__cause__ or error.__context__
    return error.number if error is not None else int(signal.SIGINT)


class _Main:
    """What the main thread is doing: whether signals are `held`, which one was `noted` meanwhile,
    the last that was `raised`, and when.
    """

    is_command = False
    held = False
    noted = 0
    raised = 0
    raised_at: float | None = None


_main: Final = _Main()


class _Section:
    """Sets whether signals are held, and sets it back: to what it was, so that an outer section
    mends what an exception left.
    """

    __slots__ = ("_before", "_held")

    def __init__(self, *, held: bool) -> None:
        self._held = held
        self._before: bool | None = None

    def __enter__(self) -> None:
        if not in_main_thread():
            return
        self._before = _main.held
        try:
            _main.held = self._held
            _raise_noted()
        except KeyboardInterrupt:
            _main.held = self._before
            raise

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            _main.held = self._before
            _raise_noted()


def _raise_noted() -> None:
    number = _main.noted
    if number and not _main.held:
        _main.noted = 0
        _raise(number)


def _send(number: int) -> None:
    time.sleep(_CALLBACK_S)
    os.kill(os.getpid(), number)


def _handle(number: int, _: FrameType | None) -> None:
    if raised():
        return
    if _main.held:
        _main.noted = _main.noted or number
    else:
        _raise(number)


def _raise(number: int) -> None:
    _main.raised, _main.raised_at = number, time.monotonic()
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)
