"""One item of a Responses stream, gathered from its events."""

from typing import Final

from vespe.adapters import arguments as adapter_arguments
from vespe.adapters.call_ids import Calls, unique_id
from vespe.adapters.messages import said
from vespe.adapters.streams.base import EventType, StreamEvent
from vespe.adapters.streams.pieces import Growing, call_id, is_whole_object, sayable
from vespe.models import JsonObject, JsonValue

_new: Final = tuple.__new__
CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""The types of items that are ours to run, each with the key of what it is called with."""
_PARTS: Final = {
    "output_text": ("content", "text"),
    "refusal": ("content", "refusal"),
    "reasoning_text": ("content", "text"),
    "summary_text": ("summary", "text"),
}
"""The parts of items that grow: the list that each stands in, and the key of its text."""
_EVENTS: Final[dict[str, EventType]] = {
    "output_text": "text",
    "refusal": "text",
    "reasoning_text": "reasoning",
    "summary_text": "reasoning",
}
_IDS: Final = ("id", "call_id")
_UNCALLED: Final = -1


class GrowingItem:
    """An item while it arrives. `order` is a call's place among those that are ours to run,
    `announced` says whether an event told of it before its deltas.
    """

    __slots__ = (
        "_json",
        "_notes",
        "_texts",
        "announced",
        "call_id",
        "done",
        "index",
        "item",
        "kind",
        "name",
        "order",
    )

    def __init__(self, item: JsonObject, index: int) -> None:
        self.item, self.index = item, index
        self.kind = str(item.get("type"))
        self.name = self.call_id = ""
        self.order = _UNCALLED
        self.done, self.announced = False, True
        self._texts: dict[tuple[str, int], Growing] = {}
        self._notes: dict[int, list[JsonValue]] = {}
        self._json = Growing()

    @property
    def is_call(self) -> bool:
        """Whether the item is a call that is ours to run, and says of what."""
        return self.order != _UNCALLED

    def is_of(self, given: JsonObject) -> bool:
        """Whether an item that is announced in this one's place is this one."""
        same = any(given.get(key) and given[key] == self.item.get(key) for key in _IDS)
        return given.get("type") == self.kind and (same or not self.announced)

    def is_another_call(self, given: JsonObject) -> bool:
        """Whether this is a call, and what is given in its place is one with another id."""
        own, other = self.item.get("call_id"), given.get("call_id")
        return self.kind in CALLS and bool(own and other) and own != other

    def begin(
        self, order: int, seed: JsonValue, calls: Calls[None], events: list[StreamEvent]
    ) -> bool:
        """Tell a call once it says what it calls; gives whether it took the place `order`. `seed`
        makes the id of one that has none, and one that `calls` have already is made another.
        """
        name = self.item.get("name")
        if self.is_call or self.kind not in CALLS or not isinstance(name, str) or not name:
            return False
        given = self.item.get("call_id") or self.item.get("id")
        self.name, self.order = said(name), order
        own = isinstance(given, str) and given
        self.call_id = unique_id(str(given) if own else call_id(seed, order, name), calls)
        events.append(StreamEvent("tool_start", "", self.call_id, self.name, order))
        if before := self._json.text():
            events.append(StreamEvent("tool_arguments", before, self.call_id, self.name, order))
        return True

    def call(self, piece: JsonValue, events: list[StreamEvent]) -> None:
        """Take a piece of what a call is called with."""
        if isinstance(piece, (dict, list)):  # as a compatible server may send it
            piece = adapter_arguments.to_arguments(sayable(piece))
        if (
            isinstance(piece, str)
            and piece
            and (piece := self._json.add(piece))
            and self.order >= 0
        ):
            events.append(
                _new(
                    StreamEvent,
                    ("tool_arguments", piece, self.call_id, self.name, self.order, None),
                )
            )

    def grow(
        self, kind: str, place: JsonValue, piece: JsonValue, events: list[StreamEvent]
    ) -> None:
        """Put a text behind a part's own."""
        if not isinstance(piece, str):
            return
        key = (kind, place if isinstance(place, int) else 0)
        growing = self._texts.get(key)
        if growing is None:
            growing = self._texts[key] = Growing()
        if piece and (piece := growing.add(piece)):
            data = {"refusal": True} if kind == "refusal" else None
            events.append(_new(StreamEvent, (_EVENTS[kind], piece, "", "", self.index, data)))

    def note(self, place: JsonValue, annotation: JsonValue) -> None:
        """Take an annotation of a text."""
        self._notes.setdefault(place if isinstance(place, int) else 0, []).append(annotation)

    def settle_part(
        self, kind: str, place: JsonValue, whole: JsonValue, events: list[StreamEvent]
    ) -> None:
        """Take a part that is over: tells what of it no delta said."""
        growing = self._texts.get((kind, place if isinstance(place, int) else 0))
        if isinstance(whole, str):
            self.grow(kind, place, _rest(whole, growing.text() if growing else ""), events)

    def settle_call(self, whole: JsonValue, events: list[StreamEvent]) -> None:
        """Take what a call is called with, whole: tells what of it no delta said."""
        if isinstance(whole, (dict, list)):
            whole = adapter_arguments.to_arguments(sayable(whole))
        if isinstance(whole, str):
            self.call(_rest(whole, self._json.text()), events)

    def finish(self, item: JsonObject, events: list[StreamEvent]) -> None:
        """Take the item as it is in the end, which counts over what was gathered of it."""
        self.item, self.done = {**self.item, **item}, True
        if self.kind in CALLS:
            self.settle_call(self.item.get(CALLS[self.kind]), events)
            return
        for key in ("summary", "content"):
            held = self.item.get(key)
            for place, part in enumerate(held if isinstance(held, list) else ()):
                kind = str(part.get("type")) if isinstance(part, dict) else ""
                if kind in _PARTS and _PARTS[kind][0] == key:
                    self.settle_part(kind, place, part.get(_PARTS[kind][1]), events)

    def settle(self, events: list[StreamEvent]) -> None:
        """Tell what was held back."""
        for (kind, _), growing in self._texts.items():
            if rest := growing.end():
                data = {"refusal": True} if kind == "refusal" else None
                events.append(StreamEvent(_EVENTS[kind], rest, index=self.index, data=data))
        if (rest := self._json.end()) and self.is_call:
            events.append(StreamEvent("tool_arguments", rest, self.call_id, self.name, self.order))

    def arguments(self) -> str:
        """Return what a call is called with: what the item says in the end, or else the deltas."""
        given = self.item.get(CALLS.get(self.kind, "arguments"))
        if isinstance(given, (dict, list)):
            return adapter_arguments.to_arguments(sayable(given))
        grown = self._json.text()
        return (
            said(given) if isinstance(given, str) and given and (self.done or not grown) else grown
        )

    def is_whole(self) -> bool:
        """Whether the arguments are one whole object, which nothing that was cut is."""
        return self.kind == "function_call" and is_whole_object(self.arguments())

    def native(self) -> JsonObject:
        """Return the item as the API gives it without a stream."""
        made = dict(self.item)
        if self.kind in CALLS:
            made[CALLS[self.kind]] = self.arguments()
        if self.done:
            return made
        for kind, place in self._texts:
            key, word = _PARTS[kind]
            held = made.get(key)
            parts = list(held) if isinstance(held, list) else []
            parts += [{"type": kind, word: ""} for _ in range(place + 1 - len(parts))][:1]
            at = min(place, len(parts) - 1)
            before = parts[at] if isinstance(parts[at], dict) else {}
            parts[at] = {**before, "type": kind, word: self._texts[kind, place].text()}
            if kind == "output_text":
                parts[at].setdefault("annotations", self._notes.get(place, []))
            made[key] = parts
        return made


def _rest(whole: str, before: str) -> str:
    """Return what of a whole text was not said before; "" where it goes on otherwise."""
    return whole[len(before) :] if whole.startswith(before) else ""
