"""One message of an Anthropic stream, gathered from its events."""

from typing import Final

from vespe.adapters.anthropic.inbound import to_openai_messages
from vespe.adapters.messages import plain_text
from vespe.adapters.stops import from_anthropic_usage
from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.claude_blocks import GrowingBlock
from vespe.adapters.streams.pieces import call_id
from vespe.models import JsonObject, JsonValue

_SHORTENED: Final = ("max_tokens", "model_context_window_exceeded", "refusal", "pause_turn")
"""Stop reasons that may leave the last block short."""


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
        given = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
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
        block = GrowingBlock(dict(start), at, order=order, call_id=call_id(self._start.get("id"), order, name) if ours else "")
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
        for given in (delta, {key: event[key] for key in ("context_management", "container") if key in event}):
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
        """Give the ids of calls whose arguments may be cut; `broken` where an error ended the stream."""
        short = broken or self.stop_reason is None or self.stop_reason in _SHORTENED
        last = self.blocks[-1] if self.blocks else None
        calls = zip((block for block in self.blocks if block.is_call), self.inner().get("tool_calls", ()), strict=True)
        unsure = [(block, call) for block, call in calls if (block is last and short) or not (block.stopped or self.ended)]
        return {str(call["id"]) for block, call in unsure if not block.is_whole()}

    def native(self) -> JsonObject:
        """Give the Message that Anthropic's SDK would have gathered."""
        content = [block.native() for block in self.blocks]
        usual: JsonObject = {"id": None, "type": "message", "role": "assistant", "model": None, "stop_reason": None, "stop_sequence": None}
        return {**usual, **self._start, **self._stop, "content": content, "usage": self._usage}

    def inner(self) -> JsonObject:
        """Give the message in the inner format, as the adapters translate it; a plain text alone is one, as OpenAI says it."""
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
