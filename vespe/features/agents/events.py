"""Events by name between the loop and whatever drives or watches it: a GUI, another process, a
test.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from vespe import defaults
from vespe.adapters.tool_errors import IS_ERROR
from vespe.calls import outcomes
from vespe.calls.arguments import itself
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.errors import Interrupted, TimedOut, ToolExecutionError, VespeError
from vespe.features.agents.limits import Stop
from vespe.models import Call, Execution, JsonObject, JsonValue, Outcome, Tool
from vespe.tool_types import Context

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
    """What runs calls: the one call path, or an EventSystem in its place."""

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call of a tool to its Outcome; raises a VespeError where there is no call to
        make.
        """
        ...


class EventSystem:
    """Events and their subscribers. Requests to run tools are matched with their responses by
    `request_id`. Thread-safe.

    A subscriber to `execute_tool_request` {"request_id", "tool_name", "tool_input"} runs the tool
    and publishes `tool_execution_response` {"request_id", "result", "is_error"?}, from any thread,
    within the tool's `limits.timeout_s`, or otherwise within `timeout_s` seconds. The usual checks
    apply: trust, arguments, output schema, size, log. Without a subscriber, `runner` runs the call
    in this process. While a call is awaited, `gui_update_request` is published in the waiting
    thread. `tool_definitions_request` {"request_id"} is answered with `tool_definitions_response`
    {"request_id", "tools"} from `definitions`, which an agent sets.

    If a subscriber raises an exception, others are not affected, and `subscriber_error` {"event",
    "error"} is published.

    ```python
    from vespe import EventSystem

    events, heard = EventSystem(), []
    events.subscribe("tool_execution_response", heard.append)
    events.publish("tool_execution_response", {"request_id": "1", "result": 3})
    assert heard[0]["result"] == 3
    ```
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
        """Call `subscriber` with the data of each `event`, in the publisher's thread. Returns a
        function that unsubscribes it.
        """
        with self._lock:
            self._subscribers.setdefault(event, []).append(subscriber)
        return lambda: self.unsubscribe(event, subscriber)

    def unsubscribe(self, event: str, subscriber: Subscriber) -> None:
        """Remove a subscriber. Removing an unknown subscriber is not an error."""
        with self._lock:
            held = self._subscribers.get(event, [])
            if subscriber in held:
                held.remove(subscriber)

    def publish(self, event: str, data: JsonObject | None = None) -> int:
        """Call every subscriber of `event`, in the order of subscription. Returns how many did not
        raise.
        """
        with self._lock:
            subscribers = tuple(self._subscribers.get(event, ()))
        return sum(self._told(event, subscriber, dict(data or {})) for subscriber in subscribers)

    def execute(
        self, tool_name: str, tool_input: JsonObject, *, cancel: threading.Event | None = None
    ) -> JsonValue:
        """Ask the subscribers to run a tool, and return its result, or `ERROR: Timeout executing
        NAME` if there is none in time.

        Raises Interrupted if `cancel` is set first.
        """
        try:
            return self.requested(tool_name, tool_input, cancel=cancel)
        except _Failed as error:
            return error.result
        except (TimedOut, ToolExecutionError) as error:
            return error.message

    def requested(
        self,
        tool_name: str,
        tool_input: JsonObject,
        *,
        timeout_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> JsonValue:
        """Do the same as `execute`, but raise TimedOut if there is no result in time, and
        ToolExecutionError if the result is an error.
        """
        data, taken = self._exchange(
            REQUEST,
            {"tool_name": tool_name, "tool_input": tool_input},
            timeout_s=timeout_s,
            cancel=cancel,
        )
        if not taken:
            raise ToolExecutionError(f"ERROR: Nobody executes {tool_name}")
        if data is None:
            raise _NoResponse(tool_name, self.timeout_s if timeout_s is None else timeout_s)
        result = data.get("result")
        if data.get(IS_ERROR) is True:
            raise _Failed(result)
        return result

    def is_subscribed(self, event: str) -> bool:
        """Whether an event has a subscriber."""
        with self._lock:
            return bool(self._subscribers.get(event))

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call, with the subscribers to requests if there are any, otherwise with the
        runner. Takes the place of a call path.
        """
        return self.bound(self.runner).run_tool(tool, call, cancel=cancel)

    def beside(
        self, work: Callable[[threading.Event, Tell], T], *, cancel: threading.Event | None = None
    ) -> T:
        """Do `work` in this thread. If a GUI has subscribed to `gui_update_request`, do it in
        another thread and keep the GUI responsive.

        `work` gets an event that tells it to stop, which is set with `cancel`, and a function that
        runs something in this thread. Its exceptions are raised here; Interrupted if it does not
        stop.
        """
        ending = Stop(cancel)
        if not self.is_subscribed(GUI_UPDATE):
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

    def bound(self, runner: Runner | None) -> Runner:
        """Return a runner that uses these events, and `runner` if there is no subscriber and this
        system has no runner of its own.
        """
        return _Bound(self, self.runner or runner)

    def tool_definitions(self, *, timeout_s: float | None = None) -> list[JsonObject]:
        """Request the definitions of tools, in OpenAI's format, with `tool_definitions_request`; []
        if there is no answer in time.
        """
        with self._lock:
            alone = len(self._subscribers[DEFINITIONS_REQUEST]) == 1
        if alone and self.definitions is None:
            return []
        data, taken = self._exchange(DEFINITIONS_REQUEST, {}, timeout_s=timeout_s)
        definitions = data.get("tools") if taken and data is not None else None
        return definitions if isinstance(definitions, list) else []

    def _exchange(
        self,
        event: str,
        data: JsonObject,
        *,
        timeout_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> tuple[JsonObject | None, bool]:
        """Publish a request and wait for its response: (the response or None, whether any
        subscriber took the request).
        """
        slot = _Slot()
        with self._lock:
            self._count += 1
            request_id = f"request-{self._count}"
            self._waiting[request_id] = slot
        try:
            taken = self.publish(event, {"request_id": request_id} | data)
            if not taken and slot.data is None:
                return None, False
            self._wait(
                slot.there,
                time.monotonic() + (self.timeout_s if timeout_s is None else timeout_s),
                cancel,
            )
            return slot.data, True
        finally:
            with self._lock:
                self._waiting.pop(request_id, None)

    def _serve(self, told: "queue.SimpleQueue[Callable[[], object] | None]", ending: Stop) -> None:
        """Do what work in another thread wants done here, with a beat for the window in between,
        until it is done or told to end.
        """
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

    def _wait(
        self, there: threading.Event, until: float | None, cancel: threading.Event | None
    ) -> None:
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
            self.publish(
                DEFINITIONS_RESPONSE,
                {"request_id": data.get("request_id"), "tools": self.definitions()},
            )

    def _arrived(self, data: JsonObject) -> None:
        """Take a response; one that nobody waits for, or waits for no more, is passed over, and the
        first one counts.
        """
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
                self.publish(
                    SUBSCRIBER_ERROR, {"event": event, "error": f"{type(error).__name__}: {error}"}
                )
            return False
        return True


class _Failed(ToolExecutionError):
    """A response says that its result is an error's."""

    def __init__(self, result: JsonValue) -> None:
        super().__init__(result if isinstance(result, str) else str(result))
        self.result = result


class _NoResponse(TimedOut):
    """Whoever subscribed to requests did not respond in time."""

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__(f"the tool {name!r}", seconds=seconds)
        self.message, self.hint = f"ERROR: Timeout executing {name}", ""


class _Subscribed(ToolRegistry):
    """The subscribers to requests, as what implements every tool."""

    def __init__(self, events: EventSystem) -> None:
        super().__init__()
        self._events = events

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        stated = tool.timeout_s is not None or context.timeout_s != defaults.TIMEOUT_S
        timeout_s = context.timeout_s if stated else None
        return Execution(
            result=self._events.requested(
                tool.name, inputs, timeout_s=timeout_s, cancel=context.cancel
            )
        )


class _Bound:
    """An EventSystem with the runner of whoever uses it; without one, calls that subscribers run
    are neither logged nor trusted.
    """

    def __init__(self, events: EventSystem, runner: Runner | None) -> None:
        self._events, self.runner = events, runner
        subscribed = _Subscribed(events)
        self._by_event: Runner = (
            replace(runner, registry=subscribed)
            if isinstance(runner, CallPath)
            else _Pathless(subscribed)
        )

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        runner = self.runner
        if runner is None or self._events.is_subscribed(REQUEST):
            return self._by_event.run_tool(tool, call, cancel=cancel)
        return self._events.beside(
            lambda ending, _: runner.run_tool(tool, call, cancel=ending), cancel=cancel
        )


class _Pathless:
    """Runs calls by subscribers where there is no project."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        began = time.perf_counter()
        timeout_s = call.timeout_s or tool.timeout_s
        context = Context(
            project_root="", directory="", timeout_s=timeout_s or defaults.TIMEOUT_S, cancel=cancel
        )
        try:
            tool, inputs = itself(tool, call.arguments)
            execution = self._registry.execute(tool, inputs, context)
            return outcomes.finished(
                tool, execution.result, secrets=(), started=began, beside=execution
            )
        except VespeError as error:
            return outcomes.failed(tool, error, started=began)


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
