"""One content block of an Anthropic stream, grown by its deltas."""

from typing import Final

from vespe.adapters import arguments as adapter_arguments
from vespe.adapters.calls import decode_id, utf8_id
from vespe.adapters.messages import said
from vespe.adapters.streams.base import EventType, StreamEvent
from vespe.adapters.streams.pieces import Growing, is_whole_object, sayable, shallow
from vespe.models import JsonObject, JsonValue

_new: Final = tuple.__new__
_GROWS: Final = {"text_delta": ("text", "text"), "thinking_delta": ("thinking", "thinking")}
"""Deltas that put a text behind a block's own: the key of both, and the type of block that has it."""
_EVENTS: Final[dict[str, EventType]] = {"text": "text", "thinking": "reasoning"}
_CALLING: Final = ("tool_use", "server_tool_use", "mcp_tool_use")


class GrowingBlock:
    """A block while it arrives. `order` is a call's place among those that are ours to run, -1 for any other block."""

    __slots__ = ("_citations", "_json", "_start", "_texts", "call_id", "index", "kind", "name", "order", "stopped")

    def __init__(self, start: JsonObject, index: int, *, order: int, call_id: str = "") -> None:
        self._start, self.index, self.order = start, index, order
        self.kind = str(start.get("type"))
        name = start.get("name")
        self.name = said(name) if isinstance(name, str) else ""
        given = start.get("id")
        self.call_id = decode_id(utf8_id(given)) if isinstance(given, str) and given else call_id
        self.stopped = False
        self._texts: dict[str, Growing] = {}
        self._json = Growing()
        self._citations: list[JsonValue] = []

    @property
    def is_call(self) -> bool:
        """Whether the block is a call that is ours to run."""
        return self.order >= 0

    def begin(self, events: list[StreamEvent]) -> None:
        """Tell what the block says from its start."""
        if self.is_call:
            events.append(StreamEvent("tool_start", "", self.call_id, self.name, self.order))
        for key, kind in _EVENTS.items():
            if self.kind == key and isinstance(text := self._start.get(key), str) and text:
                self._texts[key] = growing = Growing()
                if told := growing.add(text):
                    events.append(StreamEvent(kind, told, index=self.index))

    def take(self, delta: JsonObject, events: list[StreamEvent]) -> None:
        """Grow by one delta; one that is unknown, or meant for another type of block, says nothing."""
        kind = str(delta.get("type"))
        if kind == "input_json_delta":
            piece = delta.get("partial_json")
            if isinstance(piece, (dict, list)):  # as a compatible server may send it; left out, the call would run without
                piece = adapter_arguments.to_arguments(sayable(piece)) if shallow(piece) else "<nested too deeply>"
            if isinstance(piece, str) and piece and self.kind in _CALLING:
                piece = self._json.add(piece)
                if self.order >= 0 and piece:
                    events.append(_new(StreamEvent, ("tool_arguments", piece, self.call_id, self.name, self.order, None)))
        elif kind in _GROWS:
            key, wanted = _GROWS[kind]
            piece = delta.get(key)
            if isinstance(piece, str) and self.kind == wanted:
                self._grow(key, piece, events)
        elif kind == "signature_delta" and self.kind == "thinking":
            self._start["signature"] = delta.get("signature")
        elif kind == "citations_delta" and self.kind == "text":
            self._citations += [citation] if shallow(citation := delta.get("citation")) else []
        elif kind == "compaction_delta" and self.kind == "compaction" and shallow(delta):
            self._start["content"] = delta.get("content")

    def stop(self, events: list[StreamEvent]) -> None:
        """Say that the block is over: tells what was held back, and arguments that came at its start and in no delta."""
        first, self.stopped = not self.stopped, True
        self.settle(events)
        if first and self.is_call and not self._json.pieces and (rest := self.arguments()):
            events.append(StreamEvent("tool_arguments", rest, self.call_id, self.name, self.order))

    def settle(self, events: list[StreamEvent]) -> None:
        """Tell what was held back."""
        for key, growing in self._texts.items():
            if rest := growing.end():
                events.append(StreamEvent(_EVENTS[key], rest, index=self.index))
        if (rest := self._json.end()) and self.is_call:
            events.append(StreamEvent("tool_arguments", rest, self.call_id, self.name, self.order))

    def arguments(self) -> str:
        """Give a call's arguments as they came: what the deltas say or else the input at the start; `""` where neither says any."""
        text = self._json.text()
        if text or not self._start.get("input"):
            return text
        return adapter_arguments.to_arguments(sayable(self._start["input"]))

    def is_whole(self) -> bool:
        """Whether the arguments are one whole object, which nothing that was cut is."""
        return is_whole_object(self.arguments())

    def native(self) -> JsonObject:
        """Give the block as the API gives it without a stream; an input that is no JSON object stands under the adapters' key."""
        made: JsonObject = dict(self._start)
        made.update({key: growing.text() for key, growing in self._texts.items()})
        if self._citations:
            before = made.get("citations")
            made["citations"] = [*(before if isinstance(before, list) else ()), *self._citations]
        if self.kind in _CALLING:
            text = self._json.text()
            made["input"] = adapter_arguments.to_input(text) if text else sayable(made.get("input") or {})
        return made

    def _grow(self, key: str, piece: str, events: list[StreamEvent]) -> None:
        growing = self._texts.get(key)
        if growing is None:
            growing = self._texts[key] = Growing()
        if piece and (piece := growing.add(piece)):
            events.append(_new(StreamEvent, (_EVENTS[key], piece, "", "", self.index, None)))
