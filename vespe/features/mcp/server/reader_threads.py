"""Threads that take turns at reading: one reads and handles what it read, and where that takes long
another reads on.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

T = TypeVar("T")

SLOW_S: Final = 0.01
"""How long handling may take before another thread reads on."""
_MAX_THREADS: Final = 16
_LULL_S: Final = 0.1
"""How long after the last item the watch for slow ones goes on: waking it costs, and so does
leaving it on.
"""


class Turns(Generic[T]):
    """Handles items as they come, without a change of threads from the reading to the handling of
    one.

    The thread that calls `run` watches: it is the one that signals reach, and never waits for
    anything else.
    """

    def __init__(self, items: Iterator[T], handle: Callable[[T], None]) -> None:
        self._items, self._handle = items, handle
        self._turn = 0
        self._threads = 0
        self._since = self._last = 0.0
        self._asleep = self._ended = False
        self._lock = threading.Lock()
        self._change = threading.Condition(self._lock)

    def run(self, tick: Callable[[], None], *, tick_s: float) -> None:
        """Handle items until there are no more; `tick` is called every `tick_s` seconds in this
        thread meanwhile.
        """
        self._read_on()
        due = time.monotonic() + tick_s
        while not self._watched(due):
            if time.monotonic() >= due:
                tick()
                due = time.monotonic() + tick_s

    def finished(self, within_s: float) -> bool:
        """Wait for what is handled still when the items have ended; False where that takes
        longer.
        """
        with self._change:
            return self._change.wait_for(lambda: not self._threads, within_s)

    def _watched(self, due: float) -> bool:
        """Watch for a moment; True where the items have ended."""
        with self._change:
            if self._ended:
                return True
            now = time.monotonic()
            if self._since and now - self._since > SLOW_S and self._threads < _MAX_THREADS:
                self._read_on()
            self._asleep = now - self._last > _LULL_S and not self._since
            self._change.wait(max(due - now, 0) if self._asleep else SLOW_S)
            self._asleep = False
            return self._ended

    def _read_on(self) -> None:
        """Return the turn to another thread."""
        self._turn += 1
        self._threads += 1
        self._since = 0.0
        threading.Thread(
            target=self._read, args=(self._turn,), name="vespe-reader", daemon=True
        ).start()

    def _read(self, turn: int) -> None:
        try:
            for item in self._items:
                self._begin()
                self._handle(item)
                if not self._goes_on(turn):
                    return
            self._ended = True
        finally:
            with self._change:
                self._threads -= 1
                if self._turn == turn and not self._ended:  # what it handled has ended this thread
                    self._read_on()
                self._change.notify()

    def _begin(self) -> None:
        self._since = self._last = time.monotonic()
        if self._asleep:
            with self._change:
                self._change.notify()

    def _goes_on(self, turn: int) -> bool:
        with self._lock:
            if self._turn != turn:
                return False
            self._since = 0.0
            return True
