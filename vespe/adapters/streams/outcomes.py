"""What the processors of all vendors say alike: errors as objects, the end of a stream, and an
answer filled in.
"""

from typing import Final, Protocol

from vespe.adapters.messages import quote
from vespe.adapters.streams.base import StreamEvent, StreamingProcessor
from vespe.adapters.streams.pieces import is_cut, read_chunk, shallow
from vespe.documents import strict_json
from vespe.http.event_stream import EventStream
from vespe.models import JsonObject, JsonValue

_IGNORED: Final = (b"", b"[DONE]")
"""What gateways add to a stream, what ends one of Open Responses, and what is no event."""
_LONGEST: Final = 2000
_SENTENCES: Final = ("message", "detail", "error_message", "msg", "error", "errors")
_FINISH: Final = {
    **{word: word for word in ("stop", "length", "tool_calls", "content_filter", "function_call")},
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "max_tokens": "length",
    "max_length": "length",
    "model_length": "length",
    "tool_use": "tool_calls",
    "tool_call": "tool_calls",
    "safety": "content_filter",
}


def error_object(given: JsonValue) -> JsonObject:
    """Return a server's error as an object with a `message` that is a string: the server's
    sentence, or what it sent instead of one.
    """
    if not shallow(given):
        return failed("the server sent an error that is nested too deeply")
    if not isinstance(given, dict):
        return {"message": _sentence(given)}
    inner = given.get("error")
    if isinstance(inner, dict) and inner:
        return {**inner, "message": _sentence(inner)}
    others = {} if inner else given
    return {**others, "message": _sentence(given)}


def _sentence(given: JsonValue) -> str:
    for _ in range(4):
        if not isinstance(given, dict):
            break
        given = next((given[key] for key in _SENTENCES if given.get(key)), None) or quote(given)
    text = given if isinstance(given, str) else quote(given)
    text = strict_json.repair_surrogates(text)
    return (
        text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    ) or "an error without a message"


def failed(reason: str) -> JsonObject:
    """Return an error of the stream itself."""
    return {"message": reason, "type": "stream_error"}


def not_a_stream(body: bytes) -> JsonObject:
    """Return the error for a body that is neither a stream nor an answer: a page of a proxy,
    say.
    """
    return failed(
        "the body is not a stream of a model's answer: "
        f"{quote(body.decode('utf-8', 'replace').strip())}"
    )


def error_event(error: JsonObject) -> StreamEvent:
    """Return the event that tells an error."""
    return StreamEvent("error", str(error["message"]), data=error)


class Failing(Protocol):
    """A processor that keeps the first error."""

    error: JsonObject | None


class Feeding(Protocol):
    """A processor of server-sent events."""

    _stream: EventStream

    def _take(self, name: str, payload: bytes, events: list[StreamEvent]) -> None: ...

    def _take_stray(self, body: bytes, events: list[StreamEvent]) -> None: ...

    def _end(self, events: list[StreamEvent]) -> None: ...

    def _fail(self, error: JsonObject, events: list[StreamEvent]) -> None: ...


def fail(self: Failing, error: JsonObject, events: list[StreamEvent]) -> None:
    """Keep the first error, and tell it."""
    if self.error is None:
        self.error = error
        events.append(error_event(error))


def feed(self: Feeding, data: bytes) -> list[StreamEvent]:
    """Read the next bytes of the body, and return the events that they complete."""
    events: list[StreamEvent] = []
    for name, payload in self._stream.feed(data):
        self._take(name, payload, events)
    if self._stream.fault is not None:
        self._fail(failed(self._stream.fault.message), events)
    return events


def close(self: Feeding) -> list[StreamEvent]:
    """Mark the end of the body, and return the remaining events and `done`."""
    events: list[StreamEvent] = []
    for name, payload in self._stream.close():
        if not is_cut(payload):
            self._take(name, payload, events)
    self._take_stray(self._stream.stray(), events)
    self._end(events)
    return events


def read_event(self: Feeding, payload: bytes, events: list[StreamEvent]) -> JsonObject | None:
    """Return what an event holds; None for what is no event, which is told where it is no JSON."""
    try:
        event = read_chunk(payload)
    except ValueError as error:
        if payload.strip() not in _IGNORED:
            self._fail(failed(f"the stream contains an event that is not JSON: {error}"), events)
        return None
    return event if isinstance(event, dict) else None


def done_event(processor: StreamingProcessor) -> StreamEvent:
    """Return the event that ends an answer."""
    return StreamEvent(
        "done", data={"finish_reason": processor.finish_reason, "complete": processor.complete}
    )


def openai_words(finish_reason: str | None) -> str | None:
    """Return a compatible server's finish reason in OpenAI's words, where it is known; others as
    they came.
    """
    return None if finish_reason is None else _FINISH.get(finish_reason.lower(), finish_reason)


def update_response(self: StreamingProcessor, standard_response: JsonObject) -> None:
    """Set `content`, `tool_calls` (`[]` without calls), `finish_reason`, `usage` and `error` of a
    dictionary to the values read so far.
    """
    standard_response["content"] = self.message().get("content")
    standard_response["tool_calls"] = self.get_tool_calls()
    standard_response["finish_reason"] = self.finish_reason
    standard_response["usage"] = self.usage
    standard_response["error"] = self.error
