"""How far a call is, told to a client that asked for it: always more than the last time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

from vespe.features.mcp.server.messages import RequestId, notification
from vespe.models import JsonObject

Notify: TypeAlias = Callable[[JsonObject], None]
_BEAT_S: Final = 1.0


class Progress:
    """Tells of the steps of one call; safe to share between threads."""

    def __init__(self, token: RequestId, notify: Notify) -> None:
        self._token, self._notify = token, notify
        self._started = self._last = time.monotonic()
        self._done = 0.0
        self._own = False
        self._open = 0
        self._lock = threading.Lock()

    def __call__(self, text: str) -> None:
        """Tell of one more step."""
        with self._lock:
            self._send(self._done + 1, None, text)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Tell meanwhile that the call waits for its user."""
        with self._lock:
            self._open += 1
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1

    def beat(self) -> None:
        """Tell that the call still runs, or waits for its user, at most once a second; a tool that
        says itself how far it is says it better.
        """
        now = time.monotonic()
        with self._lock:
            if not self._own and now - self._last >= _BEAT_S:
                running = f"running for {now - self._started:.0f} s"
                said = "waiting for the user's answer" if self._open else running
                self._send(self._done + 1, None, said)

    def tell(self, done: float, *, total: float | None = None, message: str = "") -> None:
        """Tell how much of `total` is done, as the tool says; what is less than the last time is
        not told.
        """
        with self._lock:
            if done > self._done or not self._own:
                self._own = True
                self._send(done, total, message)

    def _send(self, done: float, total: float | None, message: str) -> None:
        self._done, self._last = done, time.monotonic()
        params: JsonObject = {"progressToken": self._token, "progress": done}
        params |= {} if total is None else {"total": total}
        self._notify(
            notification(
                "notifications/progress", params | ({"message": message} if message else {})
            )
        )
