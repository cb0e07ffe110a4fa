"""One event that says stop: the caller's, a deadline's, or the loop's own."""

import threading
import time
from typing import Final

_SLICE_S: Final = 0.05


class Stop(threading.Event):
    """Set once it is set itself, its `outer` event is, or `seconds` from its making have passed.

    Whoever takes a `threading.Event` to be cancelled by can be given one of these.
    """

    def __init__(self, outer: threading.Event | None = None, *, seconds: float | None = None) -> None:
        super().__init__()
        self._outer = outer
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def reason(self) -> str:
        """Why to stop: `cancelled`, `max_seconds`, or "" where nothing says so."""
        if super().is_set() or (self._outer is not None and self._outer.is_set()):
            return "cancelled"
        return "max_seconds" if self._deadline is not None and time.monotonic() >= self._deadline else ""

    def is_set(self) -> bool:
        """Whether anything says stop."""
        return bool(self.reason)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until something says stop, at most `timeout` seconds; gives whether it does."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self.is_set():
            left = _SLICE_S if until is None else min(_SLICE_S, until - time.monotonic())
            if left <= 0:
                return False
            super().wait(left)
        return True
