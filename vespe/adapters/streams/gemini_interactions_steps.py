"""One step of an Interactions stream, gathered from its events."""

from typing import Any, Final

from vespe.adapters import arguments as adapter_arguments
from vespe.adapters.call_ids import Calls, unique_id
from vespe.adapters.messages import said
from vespe.adapters.streams.base import EventType, StreamEvent
from vespe.adapters.streams.pieces import Growing, call_id, is_whole_object, sayable
from vespe.models import JsonObject, JsonValue

_new: Final = tuple.__new__
_LISTS: Final[dict[str, tuple[str, EventType]]] = {
    "model_output": ("content", "text"),
    "thought": ("summary", "reasoning"),
}
"""The steps that hold texts: the key of their list, and the event of its texts."""
_UNCALLED: Final = -1


class GrowingStep:
    """A step while it arrives. `order` is a call's place among those that are ours to run,
    `announced` says whether it began before its deltas.
    """

    __slots__ = (
        "_json",
        "_parts",
        "announced",
        "call_id",
        "index",
        "kind",
        "name",
        "order",
        "step",
        "stopped",
    )

    def __init__(self, step: JsonObject, index: int) -> None:
        self.step, self.index = step, index
        self.kind = str(step.get("type"))
        self.name = self.call_id = ""
        self.order = _UNCALLED
        self.stopped, self.announced = False, True
        self._parts: list[Any] = []
        self._json = Growing()

    @property
    def is_call(self) -> bool:
        """Whether the step is a call that is ours to run."""
        return self.order != _UNCALLED

    def is_of(self, given: JsonObject) -> bool:
        """Whether a step that begins in this one's place is this one."""
        same = bool(given.get("id")) and given["id"] == self.step.get("id")
        return given.get("type") == self.kind and (same or not self.announced)

    def begin(
        self, order: int, seed: JsonValue, calls: Calls[None], events: list[StreamEvent]
    ) -> bool:
        """Tell what the step says from its start; gives whether it is a call, which takes the place
        `order`. `seed` makes the id of one that has none, and one that `calls` have already is made
        another.
        """
        if self.kind in _LISTS:
            held = self.step.pop(_LISTS[self.kind][0], None)
            for part in held if isinstance(held, list) else ():
                self.take_part(part, events)
            return False
        name = self.step.get("name")
        if self.kind != "function_call" or not isinstance(name, str) or not name:
            return False
        given = self.step.get("id")
        self.name, self.order = said(name), order
        own = isinstance(given, str) and given
        self.call_id = unique_id(str(given) if own else call_id(seed, order, name), calls)
        events.append(StreamEvent("tool_start", "", self.call_id, self.name, order))
        return True

    def take_part(self, part: JsonValue, events: list[StreamEvent]) -> None:
        """Put a part behind the step's own; a text grows the last one."""
        if not isinstance(part, dict):
            return
        if part.get("type") != "text" or not isinstance(part.get("text"), str):
            self._parts.append(part)
            return
        rest = {key: value for key, value in part.items() if key != "text"}
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, list) or len(rest) > 1:
            self._parts.append(last := [rest, Growing()])
        if (piece := part["text"]) and (piece := last[1].add(piece)):
            kind = _LISTS[self.kind][1]
            events.append(_new(StreamEvent, (kind, piece, "", "", self.index, None)))

    def take(self, delta: JsonObject, events: list[StreamEvent]) -> None:
        """Grow by one delta; one that is meant for another type of step says nothing."""
        kind = delta.get("type")
        if kind == "arguments_delta":
            self.call(delta.get("arguments"), events)
        elif kind == "thought_signature" and self.kind == "thought":
            self.step["signature"] = delta.get("signature")
        elif kind == "thought_summary" and self.kind == "thought":
            self.take_part(delta.get("content"), events)
        elif kind == "text_annotation_delta":
            self._note(delta.get("annotations"))
        elif kind == self.kind:
            self.step.update(delta)
        elif self.kind == "model_output":
            self.take_part(delta, events)

    def call(self, piece: JsonValue, events: list[StreamEvent]) -> None:
        """Take a piece of what a call is called with."""
        if isinstance(piece, (dict, list)):  # as a compatible server may send it
            piece = adapter_arguments.to_arguments(sayable(piece))
        if not isinstance(piece, str) or not piece or self.kind != "function_call":
            return
        if (piece := self._json.add(piece)) and self.order >= 0:
            events.append(
                _new(
                    StreamEvent,
                    ("tool_arguments", piece, self.call_id, self.name, self.order, None),
                )
            )

    def stop(self, events: list[StreamEvent]) -> None:
        """Say that the step is over: tells what was held back, and arguments that came at its
        start and in no delta.
        """
        first, self.stopped = not self.stopped, True
        self.settle(events)
        if first and self.is_call and not self._json.pieces and (rest := self.arguments()):
            events.append(StreamEvent("tool_arguments", rest, self.call_id, self.name, self.order))

    def settle(self, events: list[StreamEvent]) -> None:
        """Tell what was held back."""
        for part in self._parts:
            if isinstance(part, list) and (rest := part[1].end()):
                events.append(StreamEvent(_LISTS[self.kind][1], rest, index=self.index))
        if (rest := self._json.end()) and self.is_call:
            events.append(StreamEvent("tool_arguments", rest, self.call_id, self.name, self.order))

    def arguments(self) -> str:
        """Return what a call is called with: what the deltas say or else the start; `""` where
        neither says any.
        """
        text = self._json.text()
        given = self.step.get("arguments")
        if text or not given:
            return text
        return given if isinstance(given, str) else adapter_arguments.to_arguments(sayable(given))

    def is_whole(self) -> bool:
        """Whether the arguments are one whole object, which nothing that was cut is."""
        return is_whole_object(self.arguments())

    def native(self) -> JsonObject:
        """Return the step as the API gives it without a stream; arguments that are no JSON object
        stand under the adapters' key.
        """
        made = dict(self.step)
        if self.kind == "function_call":
            text = self._json.text()
            given = made.get("arguments")
            text = text or (given if isinstance(given, str) else "")
            made["arguments"] = adapter_arguments.to_input(text) if text else sayable(given or {})
        if self.kind in _LISTS and self._parts:
            made[_LISTS[self.kind][0]] = [
                {**part[0], "text": part[1].text()} if isinstance(part, list) else part
                for part in self._parts
            ]
        return made

    def _note(self, annotations: JsonValue) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, list) and isinstance(annotations, list):
            last[0]["annotations"] = [*last[0].get("annotations", ()), *annotations]
