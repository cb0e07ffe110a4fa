"""Events by name between the loop and whatever drives or watches it: a GUI, another process, a test."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from vespe.agents.limits import Stop
from vespe.errors import Interrupted
from vespe.models import Call, Failure, JsonObject, JsonValue, Outcome, Tool

REQUEST: Final = "execute_tool_request"
RESPONSE: Final = "tool_execution_response"
DEFINITIONS_REQUEST: Final = "tool_definitions_request"
DEFINITIONS_RESPONSE: Final = "tool_definitions_response"
GUI_UPDATE: Final = "gui_update_request"
SUBSCRIBER_ERROR: Final = "subscriber_error"
TIMEOUT_S: Final = 30.0
_BEAT_S: Final = 0.05

T = TypeVar("T")
Subscriber: TypeAlias = Callable[[JsonObject], object]
Tell: TypeAlias = Callable[[Callable[[], object]], object]
"""Takes something to do, and has it done in the thread that waits."""


class Runner(Protocol):
    """What runs calls in this process where nobody subscribed to requests: the one call path."""

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call of a tool to its Outcome."""
        ...


class EventSystem:
    """Subscribers by event; requests for tools, correlated with their responses by `request_id`. Thread-safe.

    Whoever subscribes to `execute_tool_request` {"request_id", "tool_name", "tool_input"} executes it and publishes
    `tool_execution_response` {"request_id", "result", "is_error"?}, from whichever thread, within `timeout_s` seconds. Where
    nobody subscribed, `runner` runs the call in this process. While it waits, `gui_update_request` is published, in the
    waiting thread. `tool_definitions_request` {"request_id"} is answered by `definitions`, where an agent or anybody else has set
    it, with `tool_definitions_response` {"request_id", "tools"}.

    A subscriber that raises harms no other: `subscriber_error` {"event", "error"} says so.
    """

    def __init__(self, runner: Runner | None = None, *, timeout_s: float = TIMEOUT_S) -> None:
        self.runner, self.timeout_s = runner, timeout_s
        self.definitions: Callable[[], list[JsonObject]] | None = None
        self._lock = threading.Lock()
        self._subscribers: dict[str, list[Subscriber]] = {}
        self._waiting: dict[str, _Slot] = {}
        self._count = 0
        self.subscribe(RESPONSE, self._arrived)
        self.subscribe(DEFINITIONS_RESPONSE, self._arrived)
        self.subscribe(DEFINITIONS_REQUEST, self._define)

    def subscribe(self, event: str, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with the data of each `event`, in the publisher's thread; gives what unsubscribes it again."""
        with self._lock:
            self._subscribers.setdefault(event, []).append(subscriber)
        return lambda: self.unsubscribe(event, subscriber)

    def unsubscribe(self, event: str, subscriber: Subscriber) -> None:
        """Take a subscriber out; one that is not there is no error."""
        with self._lock:
            held = self._subscribers.get(event, [])
            if subscriber in held:
                held.remove(subscriber)

    def publish(self, event: str, data: JsonObject | None = None) -> int:
        """Call every subscriber of `event`, in the order in which they came; gives how many took it without raising."""
        with self._lock:
            subscribers = tuple(self._subscribers.get(event, ()))
        return sum(self._told(event, subscriber, dict(data or {})) for subscriber in subscribers)

    def execute(self, tool_name: str, tool_input: JsonObject, *, cancel: threading.Event | None = None) -> JsonValue:
        """Ask the subscribers to run a tool, and give its result; `ERROR: Timeout executing NAME` where none came in time.

        Raises Interrupted where `cancel` is set first.
        """
        return self._requested(tool_name, tool_input, cancel)[0]

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None, runner: Runner | None = None) -> Outcome:
        """Run one call: by the subscribers to requests where there are any, else by the runner. It stands in for a call path."""
        runner = self.runner or runner
        if runner is not None and not self._has(REQUEST):
            return self.beside(lambda ending, _: runner.run_tool(tool, call, cancel=ending), cancel=cancel)
        began = time.perf_counter()
        inputs = call.arguments if isinstance(call.arguments, dict) else {}
        try:
            result, failure = self._requested(tool.name, inputs, cancel)
        except Interrupted as error:
            result, failure = None, Failure(code=error.code, message=str(error))
        duration_ms = (time.perf_counter() - began) * 1000
        return Outcome(tool=tool.name, uid=tool.uid, result=None if failure else result, error=failure, duration_ms=duration_ms)

    def beside(self, work: Callable[[threading.Event, Tell], T], *, cancel: threading.Event | None = None) -> T:
        """Do `work` in this thread, or in another one where a window subscribed to `gui_update_request` and is kept alive meanwhile.

        `work` is given the event that ends it, set once `cancel` is, and what has something done in this thread. Whatever it
        raises is raised here; Interrupted where it does not end although it was told to.
        """
        ending = Stop(cancel)
        if not self._has(GUI_UPDATE):
            return work(ending, lambda act: act())
        held: _Held[T] = _Held()
        told: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()

        def run() -> None:
            try:
                held.value, held.done = work(ending, told.put), True
            except Exception as error:
                held.error = error
            finally:
                told.put(None)

        worker = threading.Thread(target=run, daemon=True, name="vespe-beside")
        worker.start()
        try:
            self._serve(told, ending)
        finally:
            ending.set()
            worker.join(self.timeout_s)
        return held.given()

    def bound(self, runner: Runner) -> "Runner":
        """Return what runs calls by these events, and by `runner` where nobody subscribed and this system has no runner of its own."""
        return _Bound(self, runner)

    def tool_definitions(self, *, timeout_s: float | None = None) -> list[JsonObject]:
        """Ask for the definitions of tools, in OpenAI's shape, by `tool_definitions_request`; [] where nobody answers in time."""
        with self._lock:
            alone = len(self._subscribers[DEFINITIONS_REQUEST]) == 1
        if alone and self.definitions is None:
            return []
        data, taken = self._exchange(DEFINITIONS_REQUEST, {}, timeout_s=timeout_s)
        definitions = data.get("tools") if taken and data is not None else None
        return definitions if isinstance(definitions, list) else []

    def _requested(self, name: str, inputs: JsonObject, cancel: threading.Event | None) -> tuple[JsonValue, Failure | None]:
        data, taken = self._exchange(REQUEST, {"tool_name": name, "tool_input": inputs}, cancel=cancel)
        if not taken:
            message = f"ERROR: Nobody executes {name}"
            return message, Failure(code="tool_error", message=message)
        if data is None:
            message = f"ERROR: Timeout executing {name}"
            return message, Failure(code="timed_out", message=message)
        result = data.get("result")
        failed = data.get("is_error") is True
        return result, Failure(code="tool_error", message=result if isinstance(result, str) else str(result)) if failed else None

    def _exchange(
        self, event: str, data: JsonObject, *, timeout_s: float | None = None, cancel: threading.Event | None = None
    ) -> tuple[JsonObject | None, bool]:
        """Publish a request and wait for its response: (the response or None, whether any subscriber took the request)."""
        slot = _Slot()
        with self._lock:
            self._count += 1
            request_id = f"request-{self._count}"
            self._waiting[request_id] = slot
        try:
            taken = self.publish(event, {"request_id": request_id} | data)
            if not taken and slot.data is None:
                return None, False
            self._wait(slot.there, time.monotonic() + (self.timeout_s if timeout_s is None else timeout_s), cancel)
            return slot.data, True
        finally:
            with self._lock:
                self._waiting.pop(request_id, None)

    def _serve(self, told: "queue.SimpleQueue[Callable[[], object] | None]", ending: Stop) -> None:
        """Do what work in another thread wants done here, with a beat for the window in between, until it is done or told to end."""
        beat = time.monotonic() + _BEAT_S
        while not ending.is_set():
            with contextlib.suppress(queue.Empty):
                act = told.get(timeout=max(0.0, beat - time.monotonic()))
                if act is None:
                    return
                act()
            if time.monotonic() >= beat:
                self.publish(GUI_UPDATE)
                beat = time.monotonic() + _BEAT_S

    def _wait(self, there: threading.Event, until: float | None, cancel: threading.Event | None) -> None:
        while not there.is_set():
            left = _BEAT_S if until is None else min(_BEAT_S, until - time.monotonic())
            if left <= 0:
                return
            if cancel is not None and cancel.is_set():
                raise Interrupted("the call was cancelled")
            if not there.wait(left):
                self.publish(GUI_UPDATE)

    def _define(self, data: JsonObject) -> None:
        if self.definitions is not None:
            self.publish(DEFINITIONS_RESPONSE, {"request_id": data.get("request_id"), "tools": self.definitions()})

    def _has(self, event: str) -> bool:
        with self._lock:
            return bool(self._subscribers.get(event))

    def _arrived(self, data: JsonObject) -> None:
        """Take a response; one that nobody waits for, or waits for no more, is passed over, and the first one counts."""
        with self._lock:
            slot = self._waiting.get(str(data.get("request_id")))
            if slot is not None and slot.data is None:
                slot.data = data
                slot.there.set()

    def _told(self, event: str, subscriber: Subscriber, data: JsonObject) -> bool:
        try:
            subscriber(data)
        except Exception as error:
            if event != SUBSCRIBER_ERROR:
                self.publish(SUBSCRIBER_ERROR, {"event": event, "error": f"{type(error).__name__}: {error}"})
            return False
        return True


class _Bound:
    """An EventSystem with the runner of whoever uses it."""

    def __init__(self, events: EventSystem, runner: Runner) -> None:
        self._events, self.runner = events, events.runner or runner

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        return self._events.run_tool(tool, call, cancel=cancel, runner=self.runner)


class _Slot:
    """Where a response is put, and the event that says that it is there."""

    def __init__(self) -> None:
        self.there = threading.Event()
        self.data: JsonObject | None = None


class _Held(Generic[T]):
    """What work in another thread ended with."""

    value: T
    error: Exception | None = None
    done = False

    def given(self) -> T:
        if self.error is not None:
            raise self.error
        if not self.done:
            raise Interrupted("it was cancelled, and has not ended yet")
        return self.value
