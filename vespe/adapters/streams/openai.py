"""A streamed answer of OpenAI's chat API, or of a server that is compatible with it, from bytes to
events and a message.
"""

from typing import Final

from vespe.adapters.streams import outcomes
from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.openai_calls import GrowingCall
from vespe.adapters.streams.openai_choices import ChoiceGathering
from vespe.adapters.streams.pieces import (
    call_id,
    is_cut,
    is_whole_object,
    read_chunk,
    read_documents,
    shallow,
)
from vespe.http.event_stream import EventStream
from vespe.models import JsonObject

_UNKEPT: Final = frozenset(("choices", "usage", "object", "obfuscation", "error"))
_SHORTENED: Final = ("length", "content_filter", "error")
"""Finish reasons that may leave the last arguments short."""


class GptStreamingProcessor:
    """Reads one answer of OpenAI's chat completions, streamed or complete.

    The answer ends with `[DONE]`, which may be missing. It is complete if `[DONE]` or a finish
    reason arrived. Calls after a finish reason count. Nothing is read after an error, because it
    could change what was read before.

    ```python
    from vespe import GptStreamingProcessor

    answer = GptStreamingProcessor()
    piece = b'{"choices": [{"index": 0, "delta": {"content": "Hi."}}]}'
    events = answer.feed(b"data: " + piece + b"\\n\\ndata: [DONE]\\n\\n")
    assert events[0].text == "Hi." and answer.message()["content"] == "Hi."
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
        self._choices: dict[int, ChoiceGathering] = {}
        self._fields: JsonObject = {}
        self._width = self._calls = 0
        self._done = self._ended = False
        self.usage: JsonObject | None = None
        self.error: JsonObject | None = None

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped, in OpenAI's terms; None if the stream did not say."""
        choices = self._in_order()
        return outcomes.openai_words(choices[0].finish) if choices else None

    @property
    def complete(self) -> bool:
        """Whether the answer ended properly, without an error."""
        ended = self._done or (
            bool(self._choices) and all(choice.finish for choice in self._choices.values())
        )
        return ended and self.error is None

    def has_tool_calls(self) -> bool:
        """Whether the answer calls tools."""
        return any(choice.all_calls() for choice in self._choices.values())

    def get_tool_calls(self) -> list[JsonObject]:
        """Return the calls in the order of (choice, index)."""
        return [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.text()},
            }
            for call in self._all_calls()
        ]

    def cut_calls(self) -> frozenset[str]:
        """Return the ids of calls whose arguments may be cut off."""
        cut: set[str] = set()
        for choice in self._choices.values():
            ended = (
                self.error is None
                and (choice.finish or self._done)
                and choice.finish not in _SHORTENED
            )
            cut.update(
                call.id
                for call in choice.all_calls()
                if not ended and not is_whole_object(call.text())
            )
        return frozenset(cut)

    def message(self) -> JsonObject:
        """Return the first choice's message in the inner format."""
        choices = self._in_order()
        return choices[0].message() if choices else {"role": "assistant", "content": None}

    def native_message(self) -> JsonObject:
        """Return the ChatCompletion that OpenAI's SDK would return."""
        made: JsonObject = {
            "id": None,
            "created": None,
            "model": None,
            **self._fields,
            "object": "chat.completion",
        }
        return {
            **made,
            "choices": [choice.native() for choice in self._in_order()],
            "usage": self.usage,
        }

    def _in_order(self) -> list[ChoiceGathering]:
        return [self._choices[index] for index in sorted(self._choices)]

    def _all_calls(self) -> list[GrowingCall]:
        return [call for choice in self._in_order() for call in choice.all_calls()]

    def _take(self, name: str, payload: bytes, events: list[StreamEvent]) -> None:
        """Gather one event of the stream."""
        if self._done or self.error is not None or not payload:
            return
        try:
            chunk = read_chunk(payload)
        except ValueError as error:
            if payload.strip().startswith(b"[DONE]"):
                self._done = True
                self._end(events)
            elif payload.strip():
                self._fail(
                    outcomes.failed(f"the stream contains a chunk that is not JSON: {error}"),
                    events,
                )
            return
        for one in chunk if isinstance(chunk, list) else (chunk,):
            if isinstance(one, dict):
                self._take_chunk(name, one, events)

    def _take_chunk(self, name: str, chunk: JsonObject, events: list[StreamEvent]) -> None:
        choices = chunk.get("choices")
        if len(chunk) != self._width or not choices or chunk.get("usage"):
            self._width = len(chunk)
            self._take_fields(chunk)
        for place, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, dict):
                index = choice.get("index")
                index = index if type(index) is int else place
                gathering = self._choices.get(index)
                if gathering is None:
                    gathering = self._choices[index] = ChoiceGathering(index)
                self._calls = gathering.take(choice, events, self._calls)
                if choice.get("usage") or choice.get("error"):
                    self._take_outcome(name, choice, events)
        self._take_outcome(name, chunk, events)

    def _take_fields(self, chunk: JsonObject) -> None:
        """Keep what the chunk says of the whole answer: the first that says something, of the
        fingerprint the last.
        """
        for key, value in chunk.items():
            if (
                key not in _UNKEPT
                and (not self._fields.get(key) or (key == "system_fingerprint" and value))
                and shallow(value)
            ):
                self._fields[key] = value

    def _take_outcome(self, name: str, given: JsonObject, events: list[StreamEvent]) -> None:
        """Take the usage and the error that a chunk, or a choice in it, says."""
        usage = given.get("usage") or (
            groq.get("usage") if isinstance(groq := given.get("x_groq"), dict) else None
        )
        if isinstance(usage, dict) and usage != self.usage and shallow(usage):
            self.usage = usage
            events.append(StreamEvent("usage", data=usage))
        if given.get("error") or name == "error" or given.get("object") == "error":
            self._fail(outcomes.error_object(given), events)

    def _take_stray(self, body: bytes, events: list[StreamEvent]) -> None:
        """Take what came beside the events: a whole answer, an error, or lines of JSON, where a
        stream was asked for.
        """
        if self._done or self.error is not None or not body.strip():
            return
        before, documents = len(events), read_documents(body)
        for document in documents:
            if "choices" in document or document.get("error"):
                self._take_chunk("", document, events)
            elif not self._choices:
                self._fail(outcomes.error_object(document), events)
        if len(events) == before and not self._choices and (documents or not is_cut(body)):
            self._fail(outcomes.not_a_stream(body), events)

    def _end(self, events: list[StreamEvent]) -> None:
        """Tell what was held back, give ids to the calls that have none, and say that it is over;
        once.
        """
        if self._ended:
            return
        self._ended = True
        for choice in self._in_order():
            choice.end(events)
        for call in self._all_calls():
            stamp = (self._fields.get("id"), self._fields.get("created"), self.usage)
            call.id = call.id or call_id(*stamp, call.order, call.name, call.text())
        events.append(outcomes.done_event(self))
