"""What a stream of a model's answer becomes: events as it arrives, and a processor that holds what
was gathered.
"""

from typing import Literal, NamedTuple, Protocol

from vespe.models import JsonObject

EventType = Literal[
    "text", "reasoning", "tool_start", "tool_arguments", "tool_result", "usage", "done", "error"
]


class StreamEvent(NamedTuple):
    """One event of a stream. It is a tuple, because a long answer has a hundred thousand of them.

    `text` is the new part of a `text`, `reasoning` or `tool_arguments` event, and the message of an
    `error`. `index` is the position of the call in order of arrival for tool events, and the choice
    or block for others. `call_id` is "" until it is known, and `name` is the function's name.
    `data` is the usage (in OpenAI's format), the error, a result, or for `done` `{"finish_reason",
    "complete"}`.
    """

    type: EventType
    text: str = ""
    call_id: str = ""
    name: str = ""
    index: int = 0  # type: ignore[assignment]  # a tuple's own `index` is of no use here
    data: JsonObject | None = None

    def as_json(self) -> JsonObject:
        """Return the event as a dictionary, without empty fields."""
        made = {key: value for key, value in self._asdict().items() if value not in ("", None)}
        if not self.type.startswith("tool_") and not self.index:
            del made["index"]
        return made


class StreamingProcessor(Protocol):
    """Gathers one answer, from raw bytes cut anywhere to events and a message; never raises for
    what a server sends.

    What is wrong in the stream becomes an `error` event and stands in `error`; what was gathered
    stays. A body past its caps, and whatever follows it, is not kept.
    """

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped, in OpenAI's terms; None if the stream did not say."""

    @property
    def usage(self) -> JsonObject | None:
        """What was used, in OpenAI's shape; None where the stream did not say."""

    @property
    def error(self) -> JsonObject | None:
        """The first error that the stream held, `{"message", …}` with the server's own fields; else
        None.
        """

    @property
    def complete(self) -> bool:
        """Whether the stream ended as its protocol says, without an error; False until then, and
        for a stream that was cut.
        """

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Take the next bytes of the body, and give the events that they complete; linear in the
        bytes however they are cut.
        """

    def close(self) -> list[StreamEvent]:
        """Say that the body is over: an event without its end counts, and `done` comes where it has
        not come yet.
        """

    def has_tool_calls(self) -> bool:
        """Whether the answer contains calls that Vespe has to run."""

    def get_tool_calls(self) -> list[JsonObject]:
        """Return `{"id", "type": "function", "function": {"name", "arguments": str}}` for each
        call, in order of (choice, index).

        A call that has no id gets one when the stream is over. Arguments that are not JSON stay as
        they came.
        """

    def cut_calls(self) -> frozenset[str]:
        """Return the ids of calls whose arguments the end of the stream may have cut: never run
        these.

        A call is none of them where the stream said that it was over, or where its arguments are a
        whole JSON object, which no longer text begins with. So `""` and `{"a": 1` are cut in a
        stream that is not `complete`, `{"a": 1}` is not.
        """

    def message(self) -> JsonObject:
        """Return the assistant's message in the inner format: OpenAI's, with the documented fields
        beside (docs/adapters.md).
        """

    def native_message(self) -> JsonObject:
        """Return what the vendor's SDK would have gathered: a ChatCompletion, a Message, or a
        ChatResponse, as an object.
        """

    def update_response(self, standard_response: JsonObject) -> None:
        """Set `content`, `tool_calls`, `finish_reason`, `usage` and `error` of an object to what
        was gathered.
        """

    def cleanup(self) -> None:
        """Reset the processor for another body."""
