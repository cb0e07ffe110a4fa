"""One message of an Anthropic stream, gathered from its events."""

from typing import Final

from vespe.adapters import arguments as adapter_arguments
from vespe.adapters.anthropic.inbound import to_openai_messages
from vespe.adapters.call_ids import decode_id, utf8_id
from vespe.adapters.messages import plain_text, said
from vespe.adapters.stops import from_anthropic_usage
from vespe.adapters.streams.base import EventType, StreamEvent
from vespe.adapters.streams.pieces import Growing, call_id, is_whole_object, sayable, shallow
from vespe.models import JsonObject, JsonValue

_SHORTENED: Final = ("max_tokens", "model_context_window_exceeded", "refusal", "pause_turn")
"""Stop reasons that may leave the last block short."""


_new: Final = tuple.__new__
_GROWS: Final = {"text_delta": ("text", "text"), "thinking_delta": ("thinking", "thinking")}
"""Deltas that put a text behind a block's own: the key of both, and the type of block that has
it.
"""
_EVENTS: Final[dict[str, EventType]] = {"text": "text", "thinking": "reasoning"}
_CALLING: Final = ("tool_use", "server_tool_use", "mcp_tool_use")


class GrowingBlock:
    """A block while it arrives. `order` is a call's place among those that are ours to run, -1 for
    any other block.
    """

    __slots__ = (
        "_citations",
        "_json",
        "_start",
        "_texts",
        "call_id",
        "index",
        "kind",
        "name",
        "order",
        "stopped",
    )

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
        """Grow by one delta; one that is unknown, or meant for another type of block, says
        nothing.
        """
        kind = str(delta.get("type"))
        if kind == "input_json_delta":
            piece = delta.get("partial_json")
            # as a compatible server may send it; left out, the call would run without
            if isinstance(piece, (dict, list)):
                piece = (
                    adapter_arguments.to_arguments(sayable(piece))
                    if shallow(piece)
                    else "<nested too deeply>"
                )
            if isinstance(piece, str) and piece and self.kind in _CALLING:
                piece = self._json.add(piece)
                if self.order >= 0 and piece:
                    events.append(
                        _new(
                            StreamEvent,
                            ("tool_arguments", piece, self.call_id, self.name, self.order, None),
                        )
                    )
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
        """Say that the block is over: tells what was held back, and arguments that came at its
        start and in no delta.
        """
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
        """Return a call's arguments as they came: what the deltas say or else the input at the
        start; `""` where neither says any.
        """
        text = self._json.text()
        if text or not self._start.get("input"):
            return text
        return adapter_arguments.to_arguments(sayable(self._start["input"]))

    def is_whole(self) -> bool:
        """Whether the arguments are one whole object, which nothing that was cut is."""
        return is_whole_object(self.arguments())

    def native(self) -> JsonObject:
        """Return the block as the API gives it without a stream; an input that is no JSON object
        stands under the adapters' key.
        """
        made: JsonObject = dict(self._start)
        made.update({key: growing.text() for key, growing in self._texts.items()})
        if self._citations:
            before = made.get("citations")
            made["citations"] = [*(before if isinstance(before, list) else ()), *self._citations]
        if self.kind in _CALLING:
            text = self._json.text()
            made["input"] = (
                adapter_arguments.to_input(text) if text else sayable(made.get("input") or {})
            )
        return made

    def _grow(self, key: str, piece: str, events: list[StreamEvent]) -> None:
        growing = self._texts.get(key)
        if growing is None:
            growing = self._texts[key] = Growing()
        if piece and (piece := growing.add(piece)):
            events.append(_new(StreamEvent, (_EVENTS[key], piece, "", "", self.index, None)))


class MessageGathering:
    """A message while it arrives; `first` is the order of its first call in the stream."""

    def __init__(self, start: JsonObject, first: int, events: list[StreamEvent]) -> None:
        self._start = start
        usage = start.get("usage")
        self._usage: JsonObject = dict(usage) if isinstance(usage, dict) else {}
        self._stop: JsonObject = {}
        self.blocks: list[GrowingBlock] = []
        self._open: dict[int, GrowingBlock] = {}
        self.stopped = False
        self.next_order = first
        content = start.get("content")
        given = (
            [{"type": "text", "text": content}] if isinstance(content, str) and content else content
        )
        for index, block in enumerate(given if isinstance(given, list) else ()):
            if isinstance(block, dict):
                self.begin_block(block, index, events)
                self.end_block(index, events)

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped, in Anthropic's words."""
        given = self._stop.get("stop_reason") or self._start.get("stop_reason")
        return given if isinstance(given, str) else None

    @property
    def ended(self) -> bool:
        """Whether the message said that it is over."""
        return self.stopped or self.stop_reason is not None

    @property
    def usage(self) -> JsonObject | None:
        """What was used, in OpenAI's shape."""
        return from_anthropic_usage(self._usage) if self._usage else None

    def begin_block(self, start: JsonObject, index: JsonValue, events: list[StreamEvent]) -> None:
        """Take `content_block_start`."""
        at = index if type(index) is int else len(self.blocks)
        name = start.get("name")
        ours = start.get("type") == "tool_use" and isinstance(name, str) and bool(name)
        order = self.next_order if ours else -1
        self.next_order += ours
        block = GrowingBlock(
            dict(start),
            at,
            order=order,
            call_id=call_id(self._start.get("id"), order, name) if ours else "",
        )
        self.blocks.append(block)
        self._open[at] = block
        block.begin(events)

    def grow_block(self, index: JsonValue, delta: JsonObject, events: list[StreamEvent]) -> None:
        """Take `content_block_delta`; a text or thinking whose block never began begins one."""
        block = self._block(index)
        if block is None:
            kind = {"text_delta": "text", "thinking_delta": "thinking"}.get(str(delta.get("type")))
            if kind is None:
                return
            self.begin_block({"type": kind, kind: ""}, index, events)
            block = self.blocks[-1]
        block.take(delta, events)

    def end_block(self, index: JsonValue, events: list[StreamEvent]) -> None:
        """Take `content_block_stop`."""
        if (block := self._block(index)) is not None:
            block.stop(events)

    def change(self, event: JsonObject, events: list[StreamEvent]) -> None:
        """Take `message_delta`: why it stopped, and counts, which are totals."""
        delta, usage = event.get("delta"), event.get("usage")
        for given in (
            delta,
            {key: event[key] for key in ("context_management", "container") if key in event},
        ):
            if isinstance(given, dict):
                self._stop.update({key: value for key, value in given.items() if value is not None})
        if isinstance(usage, dict):
            self._usage.update({key: value for key, value in usage.items() if value is not None})
            events.append(StreamEvent("usage", data=self.usage))

    def end(self, events: list[StreamEvent]) -> None:
        """Tell what the blocks held back."""
        for block in self.blocks:
            block.settle(events)

    def cut_calls(self, *, broken: bool) -> set[str]:
        """Return the ids of calls whose arguments may be cut; `broken` where an error ended the
        stream.
        """
        short = broken or self.stop_reason is None or self.stop_reason in _SHORTENED
        last = self.blocks[-1] if self.blocks else None
        calls = zip(
            (block for block in self.blocks if block.is_call),
            self.inner().get("tool_calls", ()),
            strict=True,
        )
        unsure = [
            (block, call)
            for block, call in calls
            if (block is last and short) or not (block.stopped or self.ended)
        ]
        return {str(call["id"]) for block, call in unsure if not block.is_whole()}

    def native(self) -> JsonObject:
        """Return the Message that Anthropic's SDK would have gathered."""
        content = [block.native() for block in self.blocks]
        usual: JsonObject = {
            "id": None,
            "type": "message",
            "role": "assistant",
            "model": None,
            "stop_reason": None,
            "stop_sequence": None,
        }
        return {**usual, **self._start, **self._stop, "content": content, "usage": self._usage}

    def inner(self) -> JsonObject:
        """Return the message in the inner format, as the adapters translate it; a plain text alone
        is one, as OpenAI says it.
        """
        content = [
            block.native() | ({"id": block.call_id} if block.is_call else {})
            for block in self.blocks
            if block.is_call or block.kind != "tool_use"
        ]
        made = to_openai_messages([{"role": "assistant", "content": content}])
        if not made:
            return {"role": "assistant", "content": None}
        parts = made[0]["content"]
        text = plain_text(parts) if isinstance(parts, list) else None
        return made[0] if text is None else {**made[0], "content": text}

    def _block(self, index: JsonValue) -> GrowingBlock | None:
        if type(index) is int:
            return self._open.get(index)
        return self.blocks[-1] if self.blocks else None
