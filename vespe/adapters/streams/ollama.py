"""A streamed answer of Ollama's chat API, lines of JSON, from bytes to events and a message."""

from typing import Any, Final

from vespe.adapters import arguments
from vespe.adapters.messages import said
from vespe.adapters.ollama.messages import to_openai_messages
from vespe.adapters.stops import finish_reason_of_done, from_ollama_usage
from vespe.adapters.streams import outcomes
from vespe.adapters.streams.base import EventType, StreamEvent
from vespe.adapters.streams.pieces import (
    Growing,
    call_id,
    is_cut,
    read_chunk,
    read_documents,
    shallow,
)
from vespe.errors import InvalidDocument
from vespe.http.event_stream import Lines
from vespe.models import JsonObject, JsonValue

_TEXTS: Final[dict[str, EventType]] = {"thinking": "reasoning", "content": "text"}
_COUNTS: Final = ("prompt_eval_count", "eval_count")


class OllamaStreamingProcessor:
    """Reads one answer of Ollama's `/api/chat`, streamed or complete.

    Ollama sends calls complete, so none is ever cut off. A call without an id gets one at once. The
    answer ends with the line that contains `done`.

    ```python
    from vespe import OllamaStreamingProcessor

    answer = OllamaStreamingProcessor()
    answer.feed(b'{"message": {"role": "assistant", "content": "Hi."}, "done": true}\\n')
    assert answer.message()["content"] == "Hi."
    ```
    """

    update_response = outcomes.update_response
    _fail = outcomes.fail

    def __init__(self) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Reset the processor for another body."""
        self._lines = Lines()
        self._unread: list[bytes] = []
        self._fields: JsonObject = {}
        self._texts: dict[str, Growing] = {}
        self._lists: dict[str, list[Any]] = {}
        self._calls: list[JsonObject] = []
        self._created = ""
        self._done = self._ended = False
        self.usage: JsonObject | None = None
        self.error: JsonObject | None = None

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped, in OpenAI's terms; None if the stream did not say."""
        return (
            finish_reason_of_done(self._fields.get("done_reason"), calls=bool(self._calls))
            if self._done
            else None
        )

    @property
    def complete(self) -> bool:
        """Whether the stream ended with `done`, without an error."""
        return self._done and self.error is None

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Read the next bytes of the body, and return the events that they complete."""
        events: list[StreamEvent] = []
        for line in self._lines.feed(data):
            self._take(line, events)
        if self._lines.fault is not None:
            self._fail(outcomes.failed(self._lines.fault.message), events)
        return events

    def close(self) -> list[StreamEvent]:
        """Mark the end of the body, and return the remaining events, with `done` if it has not come
        yet.
        """
        events: list[StreamEvent] = []
        for line in self._lines.close():
            if self._unread or not is_cut(line):
                self._take(line, events)
        body = b"\n".join(self._unread)
        if body and self.error is None:
            for document in read_documents(body):
                self._take_line(document, events)
            if not self._fields and not is_cut(body):
                self._fail(outcomes.not_a_stream(body), events)
        self._end(events)
        return events

    def has_tool_calls(self) -> bool:
        """Whether the answer calls tools."""
        return bool(self._calls)

    def get_tool_calls(self) -> list[JsonObject]:
        """Return the calls in order of arrival."""
        calls = self.message().get("tool_calls", ())
        return [
            {"id": call["id"], "type": "function", "function": call["function"]}
            for call in calls
            if "function" in call
        ]

    def cut_calls(self) -> frozenset[str]:
        """Return the ids of calls whose arguments may be cut off: none, because Ollama sends calls
        complete.
        """
        return frozenset()

    def message(self) -> JsonObject:
        """Return the message in the inner format."""
        given = {key: text.text() for key, text in self._texts.items()}
        images = (
            {"images": images}
            if (
                images := [
                    image for image in self._lists.get("images", ()) if isinstance(image, str)
                ]
            )
            else {}
        )
        made = to_openai_messages(
            [{"role": "assistant", **given, **images, "tool_calls": self._calls}]
        )
        return made[0] if made else {"role": "assistant", "content": None}

    def native_message(self) -> JsonObject:
        """Return the ChatResponse that Ollama would return without streaming: the fields of the
        last line, with the complete message.
        """
        message: JsonObject = {"role": "assistant", "content": ""} | {
            key: text.text() for key, text in self._texts.items()
        }
        return {
            **self._fields,
            "message": message | {key: list(given) for key, given in self._lists.items()},
        }

    def _take(self, line: bytes, events: list[StreamEvent]) -> None:
        """Gather one line."""
        line = line.removeprefix(b"data:").strip()
        if self._unread:
            self._unread.append(line)
        if self._unread or not line or line == b"[DONE]" or self._done or self.error is not None:
            return
        try:
            value = read_chunk(line)
        except ValueError as error:
            if self._fields:
                self._fail(
                    outcomes.failed(f"the stream contains a line that is not JSON: {error}"), events
                )
            else:
                self._unread.append(line)
            return
        if isinstance(value, dict):
            self._take_line(value, events)

    def _take_line(self, line: JsonObject, events: list[StreamEvent]) -> None:
        if self._done or self.error is not None:
            return
        if isinstance(created := line.get("created_at"), str):
            self._created = created
        message = line.get("message")
        if isinstance(message, dict):
            for key, value in message.items():
                if key in _TEXTS and isinstance(value, str):
                    self._say(key, value, events)
                elif isinstance(value, list) and not shallow(value):
                    self._fail(
                        outcomes.failed("the stream contains a line that is nested too deeply"),
                        events,
                    )
                elif isinstance(value, list):
                    self._lists.setdefault(key, []).extend(value)
                    if key == "tool_calls":
                        self._call(value, events)
        if line.get("error") or (message is None and not {"done", "model"} & line.keys()):
            self._fail(outcomes.error_object(line), events)
            return
        self._fields.update(
            {key: value for key, value in line.items() if key != "message" and shallow(value)}
        )
        if line.get("done"):
            self._done = True
            if any(key in line for key in _COUNTS):
                self.usage = from_ollama_usage(line)
                events.append(StreamEvent("usage", data=self.usage))
            self._end(events)

    def _say(self, key: str, piece: str, events: list[StreamEvent]) -> None:
        text = self._texts.setdefault(key, Growing())
        if piece and (piece := text.add(piece)):
            events.append(StreamEvent(_TEXTS[key], piece))

    def _call(self, calls: list[JsonValue], events: list[StreamEvent]) -> None:
        for call in calls:
            function = call.get("function") if isinstance(call, dict) else None
            name = function.get("name") if isinstance(function, dict) else None
            if not isinstance(function, dict) or not isinstance(name, str) or not name:
                continue
            order, (given, text) = len(self._calls), _read_arguments(function.get("arguments"))
            own = call.get("id")
            identifier = (
                own if isinstance(own, str) and own else call_id(self._created, order, name, text)
            )
            self._calls.append({"id": identifier, "function": {"name": name, "arguments": given}})
            events.append(StreamEvent("tool_start", "", said(identifier), said(name), order))
            events.append(StreamEvent("tool_arguments", text, said(identifier), said(name), order))

    def _end(self, events: list[StreamEvent]) -> None:
        if self._ended:
            return
        self._ended = True
        for key, text in self._texts.items():
            if rest := text.end():
                events.append(StreamEvent(_TEXTS[key], rest))
        events.append(outcomes.done_event(self))


def _read_arguments(given: JsonValue) -> tuple[JsonValue, str]:
    """Return a call's arguments, as the adapters are to translate them, and as text."""
    if isinstance(given, str):
        return given, said(given)
    try:
        return given, arguments.to_text({} if given is None else given)
    except InvalidDocument as error:
        return f"<{error}>", f"<{error}>"
