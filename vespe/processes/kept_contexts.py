"""Contexts that outlive a call: entered once for each key, and left together when their owner
closes, or this process ends.
"""

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager


class KeptContexts:
    """What contexts gave when they were entered, by key, for several threads; `close` leaves them
    all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._given: dict[Hashable, str] = {}
        self._entered, self._pid = contextlib.ExitStack(), os.getpid()
        weakref.finalize(self, _leave_all, self._entered, self._pid)

    def of(self, key: Hashable, make: Callable[[], AbstractContextManager[str]]) -> str:
        """Return what the context of a key gave, entered where there is none yet; raises what
        entering raises.
        """
        with self._lock:
            # what the parent of a fork entered is the parent's to leave
            if self._pid != os.getpid():
                self._begin()
            if key not in self._given:
                self._given[key] = self._entered.enter_context(make())
            return self._given[key]

    def close(self) -> None:
        """Leave what was entered; the next is entered anew."""
        with self._lock:
            self._given = {}
            _leave_all(self._entered, self._pid)


def _leave_all(entered: contextlib.ExitStack, pid: int) -> None:
    """Leave the contexts where this is the process that entered them."""
    if pid == os.getpid():
        entered.close()
