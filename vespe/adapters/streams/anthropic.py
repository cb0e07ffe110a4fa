"""A streamed answer of Anthropic's Messages API, from bytes to events and a message."""

from vespe.adapters.stops import to_finish_reason
from vespe.adapters.streams import outcomes
from vespe.adapters.streams.anthropic_messages import MessageGathering
from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.pieces import is_cut, read_documents, shallow
from vespe.http.event_stream import EventStream
from vespe.models import JsonObject, JsonValue


class ClaudeStreamingProcessor:
    """Reads one answer of Anthropic's Messages API, streamed or complete.

    A body may contain several messages. The calls of all of them are reported and listed.
    `message()` and `native_message()` return the last one, and only its calls still need answers.
    Tools that the vendor runs itself (`server_tool_use`, `mcp_tool_use`) are not included. The
    event `done` comes with `close()`.

    ```python
    from vespe import ClaudeStreamingProcessor

    answer = ClaudeStreamingProcessor()
    block = b'{"type": "text", "text": "Hi."}'
    start = b'{"type": "content_block_start", "index": 0, "content_block": ' + block + b"}"
    answer.feed(b"data: " + start + b"\\n\\n")
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
        self._messages: list[MessageGathering] = []
        self._ended = False
        self.error: JsonObject | None = None

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped, in OpenAI's terms; None if the stream did not say."""
        reason = self._messages[-1].stop_reason if self._messages else None
        finish: str | None = to_finish_reason(reason)["finish_reason"]
        return finish

    @property
    def usage(self) -> JsonObject | None:
        """The usage of the last message, in OpenAI's format."""
        return self._messages[-1].usage if self._messages else None

    @property
    def complete(self) -> bool:
        """Whether the last message ended properly, without an error."""
        return bool(self._messages) and self._messages[-1].ended and self.error is None

    def has_tool_calls(self) -> bool:
        """Whether the answer contains calls that Vespe has to run."""
        return any(block.is_call for message in self._messages for block in message.blocks)

    def get_tool_calls(self) -> list[JsonObject]:
        """Return the calls of all messages, in order of arrival."""
        return [
            {"id": call["id"], "type": "function", "function": call["function"]}
            for message in self._messages
            for call in message.inner().get("tool_calls", ())
            if "function" in call
        ]

    def cut_calls(self) -> frozenset[str]:
        """Return the ids of calls whose arguments may be cut off."""
        broken = self.error is not None
        return frozenset().union(*(message.cut_calls(broken=broken) for message in self._messages))

    def message(self) -> JsonObject:
        """Return the last message in the inner format."""
        return (
            self._messages[-1].inner() if self._messages else {"role": "assistant", "content": None}
        )

    def native_message(self) -> JsonObject:
        """Return the last Message as Anthropic's SDK would return it; `{}` if none began."""
        return self._messages[-1].native() if self._messages else {}

    def _take(self, name: str, payload: bytes, events: list[StreamEvent]) -> None:
        """Gather one event of the stream."""
        if self.error is not None or not payload:
            return
        if (event := outcomes.read_event(self, payload, events)) is not None:
            self._take_event(event.get("type", name), event, events)

    def _take_event(self, kind: JsonValue, event: JsonObject, events: list[StreamEvent]) -> None:
        if kind == "content_block_start" and not self._messages:
            # whose beginning a gateway left out
            self._messages.append(MessageGathering({}, 0, events))
        message = self._messages[-1] if self._messages else None
        if kind == "content_block_delta":
            if message is not None and isinstance(delta := event.get("delta"), dict):
                message.grow_block(event.get("index"), delta, events)
        elif not shallow(event):
            self._fail(
                outcomes.failed("the stream contains an event that is nested too deeply"), events
            )
        elif kind == "error" or event.get("error"):
            self._fail(outcomes.error_object(event), events)
        elif kind in ("message_start", "message"):
            given = event.get("message") if kind == "message_start" else event
            first = message.next_order if message is not None else 0
            self._messages.append(
                MessageGathering(dict(given) if isinstance(given, dict) else {}, first, events)
            )
            if kind == "message" and (usage := self._messages[-1].usage):
                events.append(StreamEvent("usage", data=usage))
        elif message is not None:
            self._take_part(str(kind), event, message, events=events)

    def _take_part(
        self, kind: str, event: JsonObject, message: MessageGathering, *, events: list[StreamEvent]
    ) -> None:
        if kind == "content_block_start" and isinstance(block := event.get("content_block"), dict):
            message.begin_block(block, event.get("index"), events)
        elif kind == "content_block_stop":
            message.end_block(event.get("index"), events)
        elif kind == "message_delta":
            message.change(event, events)
        elif kind == "message_stop":
            message.stopped = True

    def _end(self, events: list[StreamEvent]) -> None:
        if not self._ended:
            self._ended = True
            for message in self._messages:
                message.end(events)
            events.append(outcomes.done_event(self))

    def _take_stray(self, body: bytes, events: list[StreamEvent]) -> None:
        """Take what came instead of events: a whole answer or an error, where a stream was asked
        for.
        """
        if self.error is not None or not body.strip():
            return
        before, documents = len(self._messages), read_documents(body)
        for document in documents:
            if before == 0 or document.get("error"):
                known = isinstance(document.get("type"), str) or document.get("error")
                self._take_event(document.get("type") if known else "error", document, events)
        if not self._messages and (documents or not is_cut(body)):
            self._fail(outcomes.not_a_stream(body), events)
