"""Calls in flight: a bounded number of threads that run them, a bounded queue before those, and
each can be cancelled.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from vespe.defaults import MAX_ARGUMENT_BYTES
from vespe.documents import strict_json
from vespe.features.mcp.server import messages, tool_call
from vespe.features.mcp.server.messages import RequestId
from vespe.features.mcp.server.progress import Progress
from vespe.features.mcp.server.protocol import PendingCall
from vespe.features.mcp.server.tool_call import CallRunner
from vespe.models import JsonObject

MAX_CALLS: Final = 16
"""Calls that run at once."""
_QUICK_S: Final = 0.002
_MAX_SLOW: Final = 3
"""A tool of this process that was slow so often in a row gets a thread of its own."""
_MAX_WAITING: Final = 1000
_MAX_WAITING_BYTES: Final = 64 * 1024 * 1024


class Flight:
    """One call on its way: `end` ends it, and then nothing of it is sent any more.

    Nobody can end code of this process (`here`): it is only let be.
    """

    __slots__ = ("_notify", "cancel", "cancelled", "pending", "progress", "size", "started")

    def __init__(
        self,
        pending: PendingCall,
        size: int,
        notify: Callable[[JsonObject], None],
        *,
        here: bool = False,
    ) -> None:
        self.pending, self.size, self._notify = pending, size, notify
        self.cancel = None if here else threading.Event()
        self.progress = (
            None if pending.progress_token is None else Progress(pending.progress_token, self.tell)
        )
        self.cancelled = False
        self.started = 0.0

    def tell(self, message: JsonObject) -> None:
        """Send a notification on the way."""
        if not self.cancelled:
            self._notify(message)

    def end(self) -> None:
        """End the call."""
        self.cancelled = True
        if self.cancel is not None:
            self.cancel.set()


class Flights:
    """Runs calls in threads of its own, and sends each answer when it is there."""

    def __init__(
        self, calls: CallRunner, send: Callable[[JsonObject], None], *, limit: int = MAX_CALLS
    ) -> None:
        self._calls, self._send, self._limit = calls, send, limit
        self._known: dict[RequestId, Flight] = {}
        self._waiting: deque[Flight] = deque()
        self._bytes = 0
        self._threads = self._idle = 0
        self._stopping = self._awaited = False
        self._slow: dict[str, int] = {}
        self._lock = threading.Lock()
        self._change = threading.Condition(self._lock)

    def submit(self, pending: PendingCall, *, size: int) -> JsonObject | None:
        """Take a call whose message had `size` bytes; gives the answer where it is refused.

        A tool of this process that was quick lately runs at once in this thread, and has been
        answered on return.
        """
        if (
            size > MAX_ARGUMENT_BYTES
            and len(strict_json.compact_json(pending.arguments).encode()) > MAX_ARGUMENT_BYTES
        ):
            said = f"the arguments have more than {MAX_ARGUMENT_BYTES} bytes"
            return messages.failed(pending.id, messages.INVALID_PARAMS, said)
        here = self._calls.in_process(pending.name) and self._slow.get(pending.name, 0) < _MAX_SLOW
        with self._lock:
            if pending.id in self._known:
                data: JsonObject = {"id": pending.id}
                return messages.failed(
                    None,
                    messages.INVALID_REQUEST,
                    "a request of that id is being answered",
                    data=data,
                )
            if here:
                flight = self._known[pending.id] = Flight(pending, 0, self._send, here=True)
            elif len(self._waiting) >= _MAX_WAITING or self._bytes + size > _MAX_WAITING_BYTES:
                return messages.failed(
                    pending.id,
                    messages.BUSY,
                    f"{len(self._waiting)} calls are waiting already; make it again later",
                )
            else:
                self._queue(Flight(pending, size, self._send))
        if here:
            self._fly(flight)
        return None

    def _queue(self, flight: Flight) -> None:
        self._known[flight.pending.id] = flight
        self._waiting.append(flight)
        self._bytes += flight.size
        if len(self._waiting) <= self._idle:
            self._change.notify()
        elif self._threads < self._limit:
            self._threads += 1
            threading.Thread(target=self._work, name="vespe-call", daemon=True).start()

    def cancel(self, identifier: RequestId) -> None:
        """End a call, and send nothing of it any more; one that is not known is over already."""
        with self._change:
            if (flight := self._known.pop(identifier, None)) is None:
                return
            flight.end()
            if flight in self._waiting:
                self._waiting.remove(flight)
                self._bytes -= flight.size

    def stop(
        self, *, grace_s: float, end_s: float, ended: Callable[[], object] | None = None
    ) -> bool:
        """Wait `grace_s` for the calls to end, then end those that run; False where one did not end
        within `end_s`.

        `ended` is asked once calls that run have been told to end, and no more begin.
        """
        with self._change:
            self._awaited = True
            over = self._change.wait_for(lambda: not self._known, grace_s)
            for flight in () if over else tuple(self._known.values()):
                flight.end()
            self._stopping = True
            self._change.notify_all()
        if ended is not None:
            ended()
        with self._change:
            return self._change.wait_for(lambda: not self._threads, end_s)

    def beat(self) -> None:
        """Tell the clients that asked for it which calls still run."""
        with self._change:
            known = list(self._known.values())
        for flight in known:
            if flight.progress is not None and flight.started:
                flight.progress.beat()

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
            return flight

    def _fly(self, flight: Flight) -> None:
        """Run one call and answer it, whatever happens; an error that nobody foresaw goes on to the
        thread's end.
        """
        pending = flight.pending
        answer = None
        flight.started = time.monotonic()
        try:
            if not flight.cancelled:
                answer = tool_call.run(
                    pending,
                    self._calls,
                    notify=flight.tell,
                    cancel=flight.cancel,
                    progress=flight.progress,
                )
        finally:
            self._judge(flight)
            with self._lock:
                if self._known.get(pending.id) is flight:
                    del self._known[pending.id]
                if self._awaited and not self._known:
                    self._change.notify_all()
            if not flight.cancelled:
                self._send(answer or _broken(pending))

    def _judge(self, flight: Flight) -> None:
        """Note whether code of this process was quick."""
        name = flight.pending.name
        if time.monotonic() - flight.started >= _QUICK_S:
            if self._calls.in_process(name):
                self._slow[name] = self._slow.get(name, 0) + 1
        elif name in self._slow:
            del self._slow[name]


def _broken(pending: PendingCall) -> JsonObject:
    return messages.failed(
        pending.id,
        messages.INTERNAL_ERROR,
        f"a bug in Vespe ended the call of {pending.name[:80]!r}",
    )
