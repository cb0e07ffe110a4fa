"""A streamed answer of Gemini's Interactions, from bytes to events and a message."""

import operator
from typing import Final

from vespe.adapters.call_ids import Calls
from vespe.adapters.gemini_interactions.inbound import assistant_message, last_turn
from vespe.adapters.stops import from_interactions_usage
from vespe.adapters.streams import outcomes
from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.gemini_interactions_steps import GrowingStep
from vespe.adapters.streams.pieces import is_cut, read_documents, shallow
from vespe.http.event_stream import EventStream
from vespe.models import JsonObject, JsonValue

_FINISH: Final = {
    "completed": "stop",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "length",
}
"""By an interaction's status, why the model stopped, in the words of chat."""
_TOO_DEEP: Final = "the stream contains an event that is nested too deeply"
_PLACE: Final = operator.attrgetter("index")
_BROKEN: Final = ("failed", "cancelled")
_SHORT: Final = ("incomplete", "budget_exceeded")
_STEP_OF: Final = {
    "arguments_delta": "function_call",
    "thought_signature": "thought",
    "thought_summary": "thought",
}
"""By a delta's type, the step that it is of where none began."""


class InteractionsStreamingProcessor:
    """Reads one answer of Gemini's Interactions, streamed or complete.

    Tools that the vendor runs itself are not included. An interaction that `requires_continuation`
    is incomplete, and none of its calls may run. `native_message()` returns the Interaction.

    ```python
    from vespe import InteractionsStreamingProcessor

    answer = InteractionsStreamingProcessor()
    delta = b'{"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Hi."}}'
    answer.feed(b"data: " + delta + b"\\n\\n")
    answer.close()
    assert answer.message()["content"] == "Hi."
    ```
    """

    feed = outcomes.feed
    close = outcomes.close
    update_response = outcomes.update_response
    _fail = outcomes.fail

    def __init__(self) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Reset the processor for another body."""
        self._stream = EventStream()
        self._interaction: JsonObject = {}
        self._steps: list[GrowingStep] = []
        self._places: dict[int, GrowingStep] = {}
        self._order = 0
        self._calls: Calls[None] = Calls()
        self._over = self._ended = False
        self.error: JsonObject | None = None

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped, in OpenAI's chat terms; None if the stream did not say."""
        if not self._over:
            return None
        status = str(self._interaction.get("status"))
        if status in ("completed", "requires_action"):
            return "tool_calls" if self.has_tool_calls() else "stop"
        return _FINISH.get(status)

    @property
    def usage(self) -> JsonObject | None:
        """The usage, in the format of chat completions."""
        usage = self._interaction.get("usage")
        return from_interactions_usage(usage) if isinstance(usage, dict) else None

    @property
    def complete(self) -> bool:
        """Whether the answer ended properly, without an error, and needs no continuation."""
        status = self._interaction.get("status")
        return self._over and self.error is None and status != "requires_continuation"

    def has_tool_calls(self) -> bool:
        """Whether the answer contains calls that Vespe has to run."""
        return any(step.is_call for step in self._steps)

    def get_tool_calls(self) -> list[JsonObject]:
        """Return the calls in the order of the steps."""
        return [call for call in self.message().get("tool_calls", ()) if "function" in call]

    def cut_calls(self) -> frozenset[str]:
        """Return the ids of calls whose arguments may be cut off; these are all calls if the answer
        requires a continuation.
        """
        calls = [step for step in self._steps if step.is_call]
        if self._interaction.get("status") == "requires_continuation":
            return frozenset(step.call_id for step in calls)
        if self.complete and self._interaction.get("status") not in _SHORT:
            return frozenset()
        return frozenset(step.call_id for step in calls if not (step.stopped or step.is_whole()))

    def message(self) -> JsonObject:
        """Return the message in the inner format."""
        return assistant_message(
            [
                step.native() | ({"id": step.call_id} if step.is_call else {})
                for step in sorted(self._steps, key=_PLACE)
            ]
        )

    def native_message(self) -> JsonObject:
        """Return the Interaction as it would be without streaming; `{}` if none began."""
        if not self._interaction and not self._steps:
            return {}
        return {
            **self._interaction,
            "steps": [step.native() for step in sorted(self._steps, key=_PLACE)],
        }

    def _take(self, name: str, payload: bytes, events: list[StreamEvent]) -> None:
        """Gather one event of the stream."""
        if self.error is not None or self._over or not payload:
            return
        if (event := outcomes.read_event(self, payload, events)) is not None:
            self._take_event(str(event.get("event_type", name)), event, events)

    def _take_event(self, kind: str, event: JsonObject, events: list[StreamEvent]) -> None:
        if kind == "step.delta" and isinstance(delta := event.get("delta"), dict):
            held = self._places.get(index) if type(index := event.get("index")) is int else None
            held = held or self._step(index, delta)
            if delta.get("type") == "arguments_delta" and type(delta.get("arguments")) is str:
                held.call(delta["arguments"], events)
            elif shallow(delta):
                held.take(delta, events)
            else:
                self._fail(outcomes.failed(_TOO_DEEP), events)
        elif not shallow(event):
            self._fail(outcomes.failed(_TOO_DEEP), events)
        elif kind == "error" or event.get("error"):
            self._fail(outcomes.error_object(event), events)
        elif kind == "step.start":
            if isinstance(step := event.get("step"), dict):
                self._start(step, event.get("index"), events)
        elif kind == "step.stop":
            if (held := self._known(event.get("index"))) is not None:
                held.stop(events)
        elif isinstance(interaction := event.get("interaction"), dict):
            self._take_interaction(interaction, events, over=kind == "interaction.completed")
        elif event.get("object") == "interaction" or (
            isinstance(event.get("steps"), list) and "event_type" not in event
        ):
            self._take_interaction(event, events, over=event.get("status") != "in_progress")
        elif kind == "interaction.status_update":
            keys = ("status", "usage", "continuation_token")
            told = {key: event[key] for key in keys if key in event}
            self._take_interaction(told, events, over=False)

    def _take_interaction(
        self, given: JsonObject, events: list[StreamEvent], *, over: bool
    ) -> None:
        """Take the Interaction itself, which comes at the beginning and at the end."""
        self._interaction.update({key: given[key] for key in given if key != "steps"})
        status = self._interaction.get("status")
        if status in _BROKEN:
            errors = given.get("errors")
            first = errors[0] if isinstance(errors, list) and errors else None
            self._fail(
                outcomes.error_object(first if first else f"the interaction {status}"), events
            )
            return
        if not over:
            return
        if status in (None, "in_progress", "queued"):
            self._interaction["status"] = "completed"
        steps = given.get("steps")
        if not self._steps:
            for index, step in enumerate(last_turn(steps if isinstance(steps, list) else ())):
                self._add(step, index, events).stop(events)
        if status not in (*_SHORT, "requires_continuation"):
            for held in self._steps:
                held.stop(events)
        self._over = True
        if (usage := self.usage) is not None:
            events.append(StreamEvent("usage", data=usage))
        self._end(events)

    def _end(self, events: list[StreamEvent]) -> None:
        if not self._ended:
            self._ended = True
            for step in self._steps:
                step.settle(events)
            events.append(outcomes.done_event(self))

    def _start(self, given: JsonObject, index: JsonValue, events: list[StreamEvent]) -> None:
        """Take `step.start`, which may come late, or twice."""
        held = self._places.get(index) if type(index) is int else None
        if held is None or not held.is_of(given):
            self._add(given, index, events)
        elif not held.announced:
            held.announced, held.step = True, {**given, **held.step}
            self._order += held.begin(self._order, self._interaction.get("id"), self._calls, events)

    def _known(self, index: JsonValue) -> GrowingStep | None:
        if type(index) is int:
            return self._places.get(index)
        return self._steps[-1] if self._steps else None

    def _step(self, index: JsonValue, delta: JsonObject) -> GrowingStep:
        """Return the step that a delta is of; one that never began begins here."""
        held = self._known(index)
        if held is not None:
            return held
        kind = str(delta.get("type"))
        made = self._add({"type": _STEP_OF.get(kind, "model_output")}, index, [])
        made.announced = False
        return made

    def _add(self, given: JsonObject, index: JsonValue, events: list[StreamEvent]) -> GrowingStep:
        at = index if type(index) is int else len(self._steps)
        step = GrowingStep(dict(given), at)
        self._steps.append(step)
        self._places[at] = step
        self._order += step.begin(self._order, self._interaction.get("id"), self._calls, events)
        return step

    def _take_stray(self, body: bytes, events: list[StreamEvent]) -> None:
        """Take what came instead of events: a whole answer or an error, where a stream was asked
        for.
        """
        if self.error is not None or self._over or not body.strip():
            return
        before, documents = len(self._steps), read_documents(body)
        for document in documents:
            if before == 0 or document.get("error"):
                known = isinstance(document.get("steps"), list) or "status" in document
                self._take_event("" if known else "error", document, events)
        nothing = not self._steps and self.error is None and not self._over
        if nothing and (documents or not is_cut(body)):
            self._fail(outcomes.not_a_stream(body), events)
