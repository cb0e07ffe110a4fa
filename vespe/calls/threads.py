"""Threads for work that may never end: one that is done stays for a moment, since starting one
costs more than most work does.
"""

import contextvars
import os
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from vespe.lazy import queue

T = TypeVar("T")

_IDLE_S: Final = 5.0
_MAX_IDLE: Final = 16
_idle: "list[queue.SimpleQueue[Callable[[], object]]]" = []
"""Where each idle thread waits for work, the one that was busy last at the end."""


def start(work: Callable[[], object]) -> None:
    """Run `work`, which raises nothing, in a thread of its own at once: as many run as there is
    work. They keep no program alive.
    """
    try:
        waiting = _idle.pop()
    except IndexError:
        waiting = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(waiting,), name="vespe-tool", daemon=True).start()
    waiting.put(work)


def _serve(waiting: "queue.SimpleQueue[Callable[[], object]]") -> None:
    while True:
        try:
            work = waiting.get(timeout=_IDLE_S)
        except queue.Empty:
            try:
                _idle.remove(waiting)
            except ValueError:
                continue  # it was taken just now: there is work on its way
            return
        work()
        del work  # or what it holds would live until the next
        if len(_idle) >= _MAX_IDLE:
            return
        _idle.append(waiting)


os.register_at_fork(after_in_child=_idle.clear)  # threads are not inherited


def in_this_context(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function for other threads that sees what is set here: who answers what tools ask,
    the open span, the program that makes calls.
    """
    context = contextvars.copy_context()
    # A context can be entered by one thread at a time, and a function may be run by several.
    return lambda *arguments, **named: context.copy().run(function, *arguments, **named)
