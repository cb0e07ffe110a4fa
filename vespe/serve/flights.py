"""Calls in flight: a bounded number of threads that run them, a bounded queue before those, and each can be cancelled."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from vespe.models import JsonObject
from vespe.serve import messages, running
from vespe.serve.messages import RequestId
from vespe.serve.protocol import PendingCall
from vespe.serve.running import Calls, Progress

MAX_CALLS: Final = 16
"""Calls that run at once."""
_MAX_WAITING: Final = 1000
_MAX_WAITING_BYTES: Final = 64 * 1024 * 1024


class Flight:
    """One call on its way: `cancel` ends it, and then nothing of it is sent any more."""

    __slots__ = ("cancel", "pending", "progress", "size", "started")

    def __init__(self, pending: PendingCall, size: int, notify: Callable[[JsonObject], None]) -> None:
        self.pending, self.size = pending, size
        self.cancel = threading.Event()
        self.progress = Progress(pending, lambda message: None if self.cancel.is_set() else notify(message))
        self.started = 0.0


class Flights:
    """Runs calls in threads of its own, and sends each answer when it is there."""

    def __init__(self, calls: Calls, send: Callable[[JsonObject], None], *, limit: int = MAX_CALLS) -> None:
        self._calls, self._send, self._limit = calls, send, limit
        self._known: dict[RequestId, Flight] = {}
        self._waiting: deque[Flight] = deque()
        self._bytes = 0
        self._threads = self._idle = 0
        self._stopping = False
        self._change = threading.Condition()

    def submit(self, pending: PendingCall, *, size: int) -> JsonObject | None:
        """Take a call whose message had `size` bytes; gives the answer where it is refused."""
        with self._change:
            if pending.id in self._known:
                data: JsonObject = {"id": pending.id}
                return messages.failed(None, messages.INVALID_REQUEST, "a request of that id is being answered", data=data)
            if len(self._waiting) >= _MAX_WAITING or self._bytes + size > _MAX_WAITING_BYTES:
                return messages.failed(pending.id, messages.BUSY, f"{len(self._waiting)} calls are waiting already; make it again later")
            flight = self._known[pending.id] = Flight(pending, size, self._send)
            self._waiting.append(flight)
            self._bytes += size
            if len(self._waiting) <= self._idle:
                self._change.notify()
            elif self._threads < self._limit:
                self._threads += 1
                threading.Thread(target=self._work, name="vespe-call", daemon=True).start()
        return None

    def cancel(self, identifier: RequestId) -> None:
        """End a call, and send nothing of it any more; one that is not known is over already."""
        with self._change:
            if (flight := self._known.pop(identifier, None)) is not None:
                flight.cancel.set()

    def stop(self, *, grace_s: float, end_s: float) -> bool:
        """Wait `grace_s` for the calls to end, then end those that run; False where one did not end within `end_s`."""
        with self._change:
            over = self._change.wait_for(lambda: not self._known, grace_s)
            for flight in () if over else tuple(self._known.values()):
                flight.cancel.set()
            self._stopping = True
            self._change.notify_all()
            return self._change.wait_for(lambda: not self._threads, end_s)

    def running(self) -> list[Flight]:
        """Give the calls that run and have not been cancelled."""
        with self._change:
            return [flight for flight in self._known.values() if flight.started]

    def _work(self) -> None:
        try:
            while (flight := self._next()) is not None:
                self._fly(flight)
        finally:
            with self._change:
                self._threads -= 1
                self._change.notify_all()

    def _next(self) -> Flight | None:
        with self._change:
            while not self._waiting:
                if self._stopping:
                    return None
                self._idle += 1
                self._change.wait()
                self._idle -= 1
            flight = self._waiting.popleft()
            self._bytes -= flight.size
            flight.started = time.monotonic()
            return flight

    def _fly(self, flight: Flight) -> None:
        """Run one call and answer it, whatever happens; an error that nobody foresaw goes on to the thread's end."""
        pending = flight.pending
        answer = messages.failed(pending.id, messages.INTERNAL_ERROR, f"a bug in Vespe ended the call of {pending.name[:80]!r}")
        try:
            if not flight.cancel.is_set():
                answer = running.run(pending, self._calls, notify=self._send, cancel=flight.cancel, progress=flight.progress)
        finally:
            with self._change:
                if self._known.get(pending.id) is flight:
                    del self._known[pending.id]
                if not self._known:
                    self._change.notify_all()
            if not flight.cancel.is_set():
                self._send(answer)
