"""Calls in flight: a bounded number of threads that run them, a bounded queue before those, and
each can be cancelled.
"""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from vespe.calls.asking import CallSuspended, answered_by
from vespe.defaults import MAX_ARGUMENT_BYTES
from vespe.documents import strict_json
from vespe.errors import StorageError
from vespe.features.mcp.server import messages, tool_call
from vespe.features.mcp.server.call_client import OnTheWay
from vespe.features.mcp.server.messages import RequestId
from vespe.features.mcp.server.progress import Progress
from vespe.features.mcp.server.protocol import PendingCall
from vespe.features.mcp.server.task_calls import (
    ALWAYS,
    LateTask,
    RunningTask,
    TaskCalls,
    answer_of,
    calls_of,
    missing_capability,
)
from vespe.features.mcp.server.tool_call import CallRunner
from vespe.models import JsonObject, JsonValue

MAX_CALLS: Final = 16
"""The maximum number of parallel calls."""
QUICK_S: Final = 0.002
_MAX_SLOW: Final = 3
"""A tool of this process that was slow so often in a row gets a thread of its own."""
_KNOWN: Final = 3
_SHARE_S: Final = 0.0005
"""How much of each request others may wait, on average, for calls that were slow where everybody
waits for them.
"""
_MOST_OWED: Final = 10_000
_QUEUED_S: Final = 0.02
"""A call that takes up to so long in a thread of its own may have waited for the other threads."""
_MAX_WAITING: Final = 1000
_MAX_WAITING_BYTES: Final = 64 * 1024 * 1024


class Caller(Protocol):
    """Who asked for a call: `tell` takes the notifications on its way, `finish` its answer."""

    def tell(self, message: JsonObject) -> None:
        """Take a notification."""
        ...

    def finish(self, answer: JsonObject) -> None:
        """Take the answer; nothing comes after it."""
        ...


class Pace(Protocol):
    """What is known of how long tools take that are code of this process."""

    def is_quick(self, pending: PendingCall) -> bool:
        """Say whether a call may run in the thread that takes requests."""
        ...

    def note(self, name: str, seconds: float, *, worked: float | None = None) -> None:
        """Note how long a call took; `worked` is the processor time of one that had a thread of its
        own.
        """
        ...


class TrustingPace:
    """A tool is quick until it was slow three times in a row: where another thread goes on taking
    requests if one takes long.
    """

    def __init__(self) -> None:
        self._slow: dict[str, int] = {}

    def is_quick(self, pending: PendingCall) -> bool:
        return self._slow.get(pending.name, 0) < _MAX_SLOW

    def note(self, name: str, seconds: float, *, worked: float | None = None) -> None:
        if seconds >= QUICK_S:
            self._slow[name] = self._slow.get(name, 0) + 1
        elif name in self._slow:
            del self._slow[name]


class WaryPace:
    """A tool is quick once it was so three times in a row: where everybody waits for the one thread
    that takes requests.

    One that is slow there is quick again after as many quick calls as its time is shared by, and
    after twice as many each time that happens again. On a busy machine a function of 20 ms is thus
    tried again after 40 calls. A thousand calls for each pause of the system would leave most of
    them in threads, where a server answers a third as many.
    """

    def __init__(self) -> None:
        self._quick: dict[str, int] = {}
        self._owed: dict[str, int] = {}

    def is_quick(self, pending: PendingCall) -> bool:
        wants_more = pending.progress_token is not None or pending.log_level is not None
        return not wants_more and self.is_known(pending.name)

    def is_known(self, name: str) -> bool:
        """Say whether what has a name was quick lately."""
        return self._quick.get(name, 0) >= _KNOWN

    def note(self, name: str, seconds: float, *, worked: float | None = None) -> None:
        before = self._quick.get(name, 0)
        if worked is not None and seconds <= _QUEUED_S:
            seconds = worked
        if seconds <= QUICK_S:
            self._quick[name] = before + 1
            if name in self._owed and before > self._owed[name]:
                del self._owed[name]
        elif before < _KNOWN:
            self._quick[name] = min(before, 0)
        else:
            owed = min(max(int(seconds / _SHARE_S), 2 * self._owed.get(name, 0)), _MOST_OWED)
            self._owed[name], self._quick[name] = owed, -owed


class Flight:
    """One call on its way: `end` ends it, and then nothing of it is sent any more.

    Nobody can end code that runs in the thread that was asked: it is only `let_be`.
    """

    __slots__ = ("cancel", "cancelled", "client", "key", "pending", "progress", "size", "started")

    def __init__(
        self, pending: PendingCall, size: int, client: Caller, owner: object, let_be: bool
    ) -> None:
        self.pending, self.size, self.client = pending, size, client
        self.key = (owner, pending.id)
        self.cancel = None if let_be else threading.Event()
        self.progress = (
            None if pending.progress_token is None else Progress(pending.progress_token, self.tell)
        )
        self.cancelled = False
        self.started = 0.0

    def tell(self, message: JsonObject) -> None:
        """Send a notification on the way."""
        if not self.cancelled:
            self.client.tell(message)

    def end(self) -> None:
        """End the call."""
        self.cancelled = True
        if self.cancel is not None:
            self.cancel.set()


class Flights:
    """Runs calls in threads of its own, and sends each answer when it is there.

    Calls of `client` are those for which no other is named; `pace` decides what runs at once.
    """

    def __init__(
        self,
        calls: CallRunner,
        client: Caller | None = None,
        *,
        limit: int = MAX_CALLS,
        pace: Pace | None = None,
        transport: str = "pipe",
    ) -> None:
        self._calls, self._client, self._limit = calls, client, limit
        self._pace = pace if pace is not None else TrustingPace()
        self._transport = transport
        self._known: dict[tuple[object, RequestId], Flight] = {}
        self._waiting: deque[Flight] = deque()
        self._bytes = 0
        self._threads = self._idle = self._aside = 0
        self._asking: set[str] = set()
        self._stopping = self._awaited = False
        self._lock = threading.Lock()
        self._change = threading.Condition(self._lock)

    def runs_here(self, pending: PendingCall) -> bool:
        """Say whether a call would run at once in the thread that submits it. A tool that has asked
        a person there does not: nobody else could be answered meanwhile.
        """
        return (
            self._calls.in_process(pending.name)
            and self._pace.is_quick(pending)
            and pending.name not in self._asking
            and task_wish(self._calls, pending.name) is None
        )

    def submit(
        self,
        pending: PendingCall,
        *,
        size: int,
        client: Caller | None = None,
        owner: object = None,
        only_here: bool = False,
    ) -> JsonObject | None:
        """Take a call whose message had `size` bytes; gives the answer where it is refused. Ids are
        those of an `owner`.

        A tool of this process that was quick lately runs at once in this thread, and has been
        answered on return, unless it asks a person: then it is run anew in a thread that can wait,
        but with `only_here` by whoever submits it once more.
        """
        if (
            size > MAX_ARGUMENT_BYTES
            and len(strict_json.compact_json(pending.arguments).encode()) > MAX_ARGUMENT_BYTES
        ):
            said = f"the arguments have more than {MAX_ARGUMENT_BYTES} bytes"
            return messages.failed(pending.id, messages.INVALID_PARAMS, said)
        client = client if client is not None else self._client
        assert client is not None
        here = self.runs_here(pending)
        if (
            not here
            and pending.task is None
            and (wish := task_wish(self._calls, pending.name)) is not None
        ):
            tasks = calls_of(self._calls)
            if tasks is not None and pending.knows_tasks:
                return self._submit_task(pending, wish, tasks, size=size, origin=(client, owner))
            if wish == ALWAYS:
                return missing_capability(pending.id)
        flight = Flight(pending, size, client, owner, here)
        if here:  # without the lock, which is a tenth of what such a call takes
            if self._known.setdefault(flight.key, flight) is not flight:
                return _twice(pending)
            if self._fly(flight) or only_here or flight.cancelled:
                return None
            flight = Flight(pending, size, client, owner, False)
        with self._lock:
            if flight.key in self._known:
                return _twice(pending)
            if len(self._waiting) >= _MAX_WAITING or self._bytes + size > _MAX_WAITING_BYTES:
                return messages.failed(
                    pending.id,
                    messages.BUSY,
                    f"{len(self._waiting)} calls are already waiting; try again later",
                )
            self._queue(flight)
        return None

    def _submit_task(
        self,
        pending: PendingCall,
        wish: JsonValue,
        tasks: TaskCalls,
        *,
        size: int,
        origin: tuple[Caller, object],
    ) -> JsonObject | None:
        """Take a call that is a task at once, or becomes one when it takes long."""
        client, owner = origin
        quiet = replace(pending, progress_token=None, log_level=None)
        if wish == ALWAYS:
            try:
                running = tasks.create(pending)
            except StorageError as error:
                return messages.failed(pending.id, messages.INTERNAL_ERROR, str(error))
            made = replace(quiet, id=running.task.id, task=running)
            refused = self.submit(made, size=size, client=running, owner=tasks)
            if refused is not None:
                running.finish(refused)
                return refused | {"id": pending.id}
            self._end_with(running, (tasks, made.id))
            client.finish(answer_of(pending.id, running))
            return None
        late = LateTask(tasks, pending, client)
        refused = self.submit(replace(pending, task=late), size=size, client=late, owner=owner)
        seconds = wish.get("after_s") if isinstance(wish, dict) else None
        if refused is None and isinstance(seconds, (int, float)):
            timer = threading.Timer(seconds, self._promote, ((owner, pending.id), late, tasks))
            timer.daemon = True
            timer.start()
        return refused

    def _promote(self, key: tuple[object, RequestId], late: LateTask, tasks: TaskCalls) -> None:
        """Make a task of a call that takes long: its request is over, and its id is free."""
        with self._lock:
            flight = self._known.get(key)
        if flight is None or flight.client is not late:
            return
        if (running := late.promote()) is None:
            return
        with self._lock:
            if self._known.get(key) is flight:
                del self._known[key]
                flight.key = (tasks, running.task.id)
                self._known[flight.key] = flight
        self._end_with(running, flight.key)

    def _end_with(self, running: RunningTask, key: tuple[object, RequestId]) -> None:
        """Let a task's cancellation end its call, which is answered still."""
        flight = self._known.get(key)
        if flight is not None and flight.cancel is not None:
            running.ends(flight.cancel)

    def _queue(self, flight: Flight) -> None:
        self._known[flight.key] = flight
        self._waiting.append(flight)
        self._bytes += flight.size
        if len(self._waiting) <= self._idle:
            self._change.notify()
        else:
            self._begin_thread()

    def _begin_thread(self) -> None:
        if self._threads < self._limit + self._aside:
            self._threads += 1
            threading.Thread(target=self._work, name="vespe-call", daemon=True).start()

    @contextlib.contextmanager
    def _waiting_aside(self, progress: Progress | None) -> Iterator[None]:
        """Let another call run while one waits for a person, and tell of that."""
        with self._change:
            self._aside += 1
            if self._waiting and not self._idle:
                self._begin_thread()
        try:
            with contextlib.nullcontext() if progress is None else progress.asking():
                yield
        finally:
            with self._change:
                self._aside -= 1
                self._change.notify_all()

    def cancel(self, identifier: RequestId, *, owner: object = None) -> None:
        """End a call, and send nothing of it any more; one that is not known is over already."""
        with self._change:
            if (flight := self._known.pop((owner, identifier), None)) is None:
                return
            flight.end()
            if flight in self._waiting:
                self._waiting.remove(flight)
                self._bytes -= flight.size

    @property
    def busy(self) -> bool:
        """Whether a call runs still, though nobody may wait for it any more."""
        return self._threads > self._idle

    def interrupt(self) -> None:
        """End what runs; unlike one that is cancelled, each is answered still."""
        with self._change:
            known = list(self._known.values())
        for flight in known:
            if flight.cancel is not None:
                flight.cancel.set()

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
        if (tasks := calls_of(self._calls)) is not None:
            tasks.look()
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
                if self._stopping or self._threads > self._limit + self._aside:
                    return None
                self._idle += 1
                self._change.wait()
                self._idle -= 1
            flight = self._waiting.popleft()
            self._bytes -= flight.size
            return flight

    def _fly(self, flight: Flight) -> bool:
        """Run one call and answer it, whatever happens; False where it has to wait for a person,
        which it cannot here. An error that nobody foresaw goes on to the thread's end.
        """
        pending = flight.pending
        answer, suspended = None, False
        worked_before = None if flight.cancel is None else time.thread_time()
        flight.started = time.monotonic()
        try:
            if not flight.cancelled:
                answer = self._run(flight)
        except CallSuspended:
            self._asking.add(pending.name)
            suspended = True
        finally:
            if flight.cancel is None or self._calls.in_process(pending.name):
                self._pace.note(
                    pending.name,
                    time.monotonic() - flight.started,
                    worked=None if worked_before is None else time.thread_time() - worked_before,
                )
            if self._known.get(flight.key) is flight:
                self._known.pop(flight.key, None)
            if self._awaited:
                with self._lock:
                    self._change.notify_all()
            if not flight.cancelled and not suspended:
                flight.client.finish(answer or _broken(pending))
        return not suspended

    def _run(self, flight: Flight) -> JsonObject:
        way = OnTheWay(
            notify=flight.tell,
            withdraw=flight.client.tell,
            cancel=flight.cancel,
            aside=partial(self._waiting_aside, flight.progress),
        )
        run = partial(
            tool_call.run,
            flight.pending,
            self._calls,
            way,
            progress=flight.progress,
            transport=self._transport,
        )
        task = flight.pending.task
        if not isinstance(task, RunningTask):
            return run()
        with answered_by(task.ask):
            return run()


def task_wish(calls: object, name: str) -> JsonValue:
    """Return what a tool says of tasks: "always", or after how many seconds; None for neither."""
    tasks = calls_of(calls)
    return None if tasks is None else tasks.wish(name)


def _twice(pending: PendingCall) -> JsonObject:
    return messages.failed(
        None,
        messages.INVALID_REQUEST,
        "a request with this id is still being answered",
        data={"id": pending.id},
    )


def _broken(pending: PendingCall) -> JsonObject:
    return messages.failed(
        pending.id,
        messages.INTERNAL_ERROR,
        f"a bug in Vespe ended the call of {pending.name[:80]!r}",
    )
