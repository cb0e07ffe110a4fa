"""A streamed answer of OpenAI's Responses API, from bytes to events and a message."""

import operator
from collections.abc import Callable
from typing import Final

from vespe.adapters.call_ids import Calls
from vespe.adapters.openai_responses.inbound import assistant_message
from vespe.adapters.stops import finish_reason_of_response, from_responses_usage
from vespe.adapters.streams import outcomes
from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.openai_responses_items import CALLS, GrowingItem
from vespe.adapters.streams.pieces import is_cut, read_documents, shallow
from vespe.http.event_stream import EventStream
from vespe.models import JsonObject, JsonValue

_DELTAS: Final = {
    "response.output_text.delta": ("output_text", "content_index", "message"),
    "response.refusal.delta": ("refusal", "content_index", "message"),
    "response.reasoning_text.delta": ("reasoning_text", "content_index", "reasoning"),
    "response.reasoning.delta": ("reasoning_text", "content_index", "reasoning"),
    "response.reasoning_summary_text.delta": ("summary_text", "summary_index", "reasoning"),
}
"""Deltas of texts: the part that grows, the key of its place, and the item that has it."""
_DONE: Final = {
    "response.output_text.done": ("output_text", "content_index", "text"),
    "response.refusal.done": ("refusal", "content_index", "refusal"),
    "response.reasoning_text.done": ("reasoning_text", "content_index", "text"),
    "response.reasoning.done": ("reasoning_text", "content_index", "text"),
    "response.reasoning_summary_text.done": ("summary_text", "summary_index", "text"),
}
_CALL_DELTAS: Final = {
    "response.function_call_arguments.delta": "function_call",
    "response.custom_tool_call_input.delta": "custom_tool_call",
}
_CALL_DONE: Final = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}
_GOING_ON: Final = ("queued", "in_progress")
_ENDED: Final = ("completed", "incomplete", "failed", "cancelled")
"""What a response's `status` may be."""
_PLACE: Final = operator.attrgetter("index")
_LAST: Final = ("response.completed", "response.incomplete", "response.failed")


class ResponsesStreamingProcessor:
    """Reads one answer of OpenAI's Responses API or of Open Responses, streamed or complete.

    The final version of an item overrides its deltas. Tools that the vendor runs itself are not
    included. `native_message()` returns the Response.

    ```python
    from vespe import ResponsesStreamingProcessor

    answer = ResponsesStreamingProcessor()
    delta = b'{"type": "response.output_text.delta", "output_index": 0, "delta": "Hi."}'
    answer.feed(b"data: " + delta + b"\\n\\n")
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
        self._response: JsonObject = {}
        self._items: list[GrowingItem] = []
        self._places: dict[int, GrowingItem] = {}
        self._order = 0
        self._calls: Calls[None] = Calls()
        self._over = self._ended = False
        self.error: JsonObject | None = None

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped, in OpenAI's chat terms; None if the stream did not say."""
        if not self._over:
            return None
        return finish_reason_of_response(self._response, calls=self.has_tool_calls())

    @property
    def usage(self) -> JsonObject | None:
        """The usage, in the format of chat completions."""
        usage = self._response.get("usage")
        return from_responses_usage(usage) if isinstance(usage, dict) else None

    @property
    def complete(self) -> bool:
        """Whether the answer ended properly, without an error."""
        return self._over and self.error is None

    def has_tool_calls(self) -> bool:
        """Whether the answer contains calls that Vespe has to run."""
        return bool(self.message().get("tool_calls"))

    def get_tool_calls(self) -> list[JsonObject]:
        """Return the calls in the order of the items."""
        return [call for call in self.message().get("tool_calls", ()) if "function" in call]

    def cut_calls(self) -> frozenset[str]:
        """Return the ids of calls whose arguments may be cut off."""
        if self.complete and self._response.get("status") != "incomplete":
            return frozenset()
        return frozenset(
            item.call_id
            for item in self._items
            if item.is_call
            and not (item.done and item.item.get("status") != "incomplete")
            and not item.is_whole()
        )

    def message(self) -> JsonObject:
        """Return the message in the inner format."""
        return assistant_message(
            [
                item.native() | ({"call_id": item.call_id} if item.is_call else {})
                for item in sorted(self._items, key=_PLACE)
            ]
        )

    def native_message(self) -> JsonObject:
        """Return the Response as it would be without streaming; `{}` if none began."""
        if not self._response and not self._items:
            return {}
        return {
            **self._response,
            "output": [item.native() for item in sorted(self._items, key=_PLACE)],
        }

    def _take(self, name: str, payload: bytes, events: list[StreamEvent]) -> None:
        """Gather one event of the stream."""
        if self.error is not None or self._over or not payload:
            return
        if (event := outcomes.read_event(self, payload, events)) is not None:
            self._take_event(str(event.get("type", name)), event, events)

    def _take_event(self, kind: str, event: JsonObject, events: list[StreamEvent]) -> None:
        if (text := _DELTAS.get(kind)) is not None:
            part, place, sort = text
            item = self._item(event, sort)
            if not item.done:
                item.grow(part, event.get(place), event.get("delta"), events)
        elif kind in _CALL_DELTAS:
            item = self._item(event, _CALL_DELTAS[kind])
            piece = event.get("delta")
            if not item.done:
                item.call(piece if shallow(piece) else "<nested too deeply>", events)
        elif not shallow(event):
            self._fail(
                outcomes.failed("the stream contains an event that is nested too deeply"), events
            )
        elif kind == "error" or (event.get("error") and "response" not in event):
            inner = event.get("error")
            self._fail(outcomes.error_object(event if inner else _plain(event)), events)
        elif (take := self._PARTS.get(kind)) is not None:
            take(self, event, events)
        elif isinstance(response := event.get("response"), dict):
            self._take_response(kind, response, events)
        elif event.get("object") == "response" or (
            isinstance(event.get("output"), list) and not kind.startswith("response.")
        ):
            self._take_response("", event, events)
        elif kind in _DONE or kind in _CALL_DONE:
            self._take_done(kind, event, events)

    def _take_done(self, kind: str, event: JsonObject, events: list[StreamEvent]) -> None:
        if kind in _DONE:
            part, place, word = _DONE[kind]
            item = self._item(
                event, "message" if part in ("output_text", "refusal") else "reasoning"
            )
            item.settle_part(part, event.get(place), event.get(word), events)
        else:
            word = _CALL_DONE[kind]
            sort = next(sort for sort, key in CALLS.items() if key == word)
            item = self._item(event, sort)
            if isinstance(event.get("name"), str) and not item.item.get("name"):
                item.item["name"] = event["name"]
            item.settle_call(event.get(word), events)

    def _take_added(self, event: JsonObject, events: list[StreamEvent]) -> None:
        """Take `response.output_item.added`, which may come late, or twice."""
        if not isinstance(given := event.get("item"), dict):
            return
        index = event.get("output_index")
        held = self._places.get(index) if type(index) is int else None
        if held is None or not held.is_of(given):
            held = self._add(given, index)
        elif not held.done:
            held.item, held.announced = {**given, **held.item}, True
        self._begin(held, events)

    def _take_item(self, event: JsonObject, events: list[StreamEvent]) -> None:
        """Take `response.output_item.done`."""
        if isinstance(given := event.get("item"), dict):
            self._finish(given, event.get("output_index"), events)

    def _take_part(self, event: JsonObject, events: list[StreamEvent]) -> None:
        """Take the beginning or the end of a part, which may hold its text."""
        part = event.get("part")
        sort = str(part.get("type")) if isinstance(part, dict) else ""
        if isinstance(part, dict) and sort in ("output_text", "refusal", "reasoning_text"):
            item = self._item(event, "reasoning" if sort == "reasoning_text" else "message")
            text = part.get("refusal" if sort == "refusal" else "text")
            item.settle_part(sort, event.get("content_index"), text, events)
        elif isinstance(part, dict) and sort == "summary_text":
            item = self._item(event, "reasoning")
            item.settle_part(sort, event.get("summary_index"), part.get("text"), events)

    def _take_annotation(self, event: JsonObject, events: list[StreamEvent]) -> None:
        item = self._item(event, "message")
        item.note(event.get("content_index"), event.get("annotation"))

    _PARTS: Final[
        dict[str, Callable[["ResponsesStreamingProcessor", JsonObject, list[StreamEvent]], None]]
    ] = {
        "response.output_item.added": _take_added,
        "response.output_item.done": _take_item,
        "response.content_part.added": _take_part,
        "response.content_part.done": _take_part,
        "response.reasoning_summary_part.added": _take_part,
        "response.reasoning_summary_part.done": _take_part,
        "response.output_text.annotation.added": _take_annotation,
    }

    def _take_response(self, kind: str, given: JsonObject, events: list[StreamEvent]) -> None:
        """Take the Response itself, which comes at the beginning and at the end."""
        self._response.update({key: value for key, value in given.items() if key != "output"})
        status = given.get("status")
        if kind in _LAST and status not in _ENDED:
            status = self._response["status"] = kind.removeprefix("response.")
        elif not kind and status in _GOING_ON:
            why = "it was requested in the background, which Vespe does not support"
            self._fail(outcomes.error_object(f"the response is {status}: {why}"), events)
            return
        elif not kind and status not in _ENDED:  # a whole answer of a server with other words
            status = self._response["status"] = "completed"
        if (kind == "response.failed" or status in ("failed", "cancelled")) or given.get("error"):
            error = given.get("error")
            self._fail(
                outcomes.error_object(error if error else f"the response is {status}"), events
            )
            return
        if kind not in _LAST and (kind or status not in ("completed", "incomplete")):
            return
        output = given.get("output")
        for index, item in enumerate(output if isinstance(output, list) else ()):
            if isinstance(item, dict):
                self._finish(item, index, events)
        self._over = True
        if (usage := self.usage) is not None:
            events.append(StreamEvent("usage", data=usage))
        self._end(events)

    def _end(self, events: list[StreamEvent]) -> None:
        if not self._ended:
            self._ended = True
            for item in self._items:
                item.settle(events)
            events.append(outcomes.done_event(self))

    def _item(self, event: JsonObject, sort: str) -> GrowingItem:
        """Return the item that an event is of; one that never began begins here."""
        index = event.get("output_index")
        item = self._places.get(index) if type(index) is int else None
        if item is not None and (
            not item.done or event.get("item_id") in (None, item.item.get("id"))
        ):
            return item
        if type(index) is not int:
            known = event.get("item_id")
            for item in reversed(self._items):
                if known and item.item.get("id") == known:
                    return item
            last = self._items[-1] if self._items else None
            if last is not None and last.kind == sort and not known and not last.done:
                return last
        start: JsonObject = {"type": sort} | ({"role": "assistant"} if sort == "message" else {})
        if isinstance(event.get("item_id"), str):
            start["id"] = event["item_id"]
        made = self._add(start, index)
        made.announced = False
        return made

    def _add(self, given: JsonObject, index: JsonValue) -> GrowingItem:
        at = index if type(index) is int else len(self._items)
        item = GrowingItem(dict(given), at)
        self._items.append(item)
        self._places[at] = item
        return item

    def _begin(self, item: GrowingItem, events: list[StreamEvent]) -> None:
        self._order += item.begin(self._order, self._response.get("id"), self._calls, events)
        if item.kind in CALLS and isinstance(item.item.get(CALLS[item.kind]), (str, dict)):
            item.settle_call(item.item[CALLS[item.kind]], events)

    def _finish(self, given: JsonObject, index: JsonValue, events: list[StreamEvent]) -> None:
        """Take an item that is over, whichever events told of it before."""
        sort, known = str(given.get("type")), given.get("id")
        held = self._places.get(index) if type(index) is int else None
        if held is None or held.kind != sort or held.is_another_call(given):
            held = next((one for one in self._items if known and one.item.get("id") == known), None)
        if held is None or held.kind != sort:
            held = self._add(given, index)
        held.item = {**held.item, **{k: v for k, v in given.items() if k in ("name", "call_id")}}
        self._begin(held, events)
        held.finish(given, events)

    def _take_stray(self, body: bytes, events: list[StreamEvent]) -> None:
        """Take what came instead of events: a whole answer or an error, where a stream was asked
        for.
        """
        if self.error is not None or self._over or not body.strip():
            return
        before, documents = len(self._items), read_documents(body)
        for document in documents:
            if before == 0 or document.get("error"):
                known = document.get("object") == "response" or "output" in document
                self._take_event("" if known else "error", document, events)
        nothing = not self._items and self.error is None and not self._over
        if nothing and (documents or not is_cut(body)):
            self._fail(outcomes.not_a_stream(body), events)


def _plain(event: JsonObject) -> JsonObject:
    """Return an event that is an error itself, without its own type where it says a code."""
    rest = {key: value for key, value in event.items() if key != "sequence_number"}
    return {**rest, "type": rest.get("code") or "error"}
