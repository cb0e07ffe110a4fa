"""One turn of a model, the same for every provider: the request sent, its answer read, events told
as they come.
"""

import codecs
import itertools
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from vespe.adapters.streams.base import StreamEvent, StreamingProcessor
from vespe.errors import ProviderError
from vespe.features.agents.providers import answers
from vespe.features.agents.providers.base import (
    LLMProvider,
    ModelAnswer,
    OnEvent,
    Reply,
    Tools,
    traits_of,
)
from vespe.models import JsonObject

_OF_EVENTS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
"""With what server-sent events begin, and no JSON."""
_OF_JSON: Final = (b"{", b"[")
_BEGINNING: Final = 6
_DRAINED_S: Final = 0.5
"""How long the end of a body is waited for behind its last word, so that the connection can be
kept.
"""
_LAST_S: Final = 3.0
"""How long more is waited for behind an answer that could be whole: a last usage, Anthropic's next
message.
"""


def create_message(
    self: LLMProvider,
    messages: Iterable[JsonObject],
    tools: Tools | None = None,
    *,
    options: Mapping[str, object] | None = None,
    on_event: OnEvent | None = None,
    cancel: threading.Event | None = None,
) -> JsonObject:
    """Return the model's next message; see `LLMProvider.create_message`."""
    return self.respond(messages, tools, options=options, on_event=on_event, cancel=cancel).message


def respond(
    self: LLMProvider,
    messages: Iterable[JsonObject],
    tools: Tools | None = None,
    *,
    options: Mapping[str, object] | None = None,
    on_event: OnEvent | None = None,
    cancel: threading.Event | None = None,
) -> ModelAnswer:
    """Return the model's answer; see `LLMProvider.respond`."""
    payload = self.payload(messages, tools, options=options, stream=on_event is not None)
    with self.send(payload, cancel=cancel) as reply:
        reply, begins = _begun(reply)
        if (
            traits_of(self).always_streams
            or begins.startswith(_OF_EVENTS)
            or (on_event is not None and not _is_document(reply))
        ):
            return _streamed(self, reply, on_event or _unheard)
        answer = answers.whole(self, reply)
    if on_event is not None:
        retell(answer, on_event)
    return answer


def retell(answer: ModelAnswer, on_event: OnEvent) -> None:
    """Tell the events of an answer that came whole."""
    message = answer.message
    if isinstance(text := message.get("reasoning_content"), str) and text:
        on_event(StreamEvent(type="reasoning", text=text))
    if text := text_of(message.get("content")):
        on_event(StreamEvent(type="text", text=text))
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call.get("function") or call.get("custom") or {}
        start = StreamEvent(
            type="tool_start",
            call_id=call.get("id") or "",
            name=function.get("name") or "",
            index=index,
        )
        on_event(start)
        on_event(
            start._replace(
                type="tool_arguments", text=function.get("arguments") or function.get("input") or ""
            )
        )
    if answer.usage is not None:
        on_event(StreamEvent(type="usage", data=answer.usage))
    on_event(
        StreamEvent(
            type="done", data={"finish_reason": answer.finish_reason, "complete": answer.complete}
        )
    )


def text_of(content: object) -> str:
    """Return a message's content as text: its text parts, one after another."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(
        str(part.get("text") or "")
        for part in parts
        if isinstance(part, dict) and part.get("type") == "text"
    )


def _begun(reply: Reply) -> tuple[Reply, bytes]:
    """Return the reply, and how its body begins: servers stream unasked, and under any content
    type.

    A body that is neither events nor JSON is some page, which an error will quote: it is read
    whole, and without the key, since half a key would not be found in a quote.
    """
    read, begins = b"", b""
    for piece in reply.pieces:
        read += piece
        begins = read.removeprefix(codecs.BOM_UTF8).lstrip()[:_BEGINNING]
        if len(begins) == _BEGINNING or begins.startswith(_OF_JSON):
            break
    rest = itertools.chain([read], reply.pieces)
    if begins and not begins.startswith((*_OF_EVENTS, *_OF_JSON)):
        reply.end_within(_LAST_S)
        rest = itertools.chain(
            [str(reply.redacted(b"".join(rest).decode("utf-8", "replace"))).encode("utf-8")]
        )
    return replace(reply, pieces=rest), begins


def _unheard(_: StreamEvent) -> None:
    return None


def _is_document(reply: Reply) -> bool:
    """Whether an endpoint that was asked for a stream answers with one document all the same."""
    return (
        dict(reply.headers).get("content-type", "").partition(";")[0].strip().lower()
        == "application/json"
    )


def _streamed(provider: LLMProvider, reply: Reply, on_event: OnEvent) -> ModelAnswer:
    processor = provider.processor()
    _read(processor, reply, on_event)
    _tell(processor.close(), reply, on_event)
    if processor.error is not None:
        raise answers.error_within(provider, {"error": processor.error}, reply)
    if not (processor.complete or processor.finish_reason or reply.framed):
        raise ProviderError(
            f"the answer of {provider.name} ended before it was complete",
            request_id=reply.request_id,
            transient=True,
        )
    answer = answers.known_by(answers.gathered(processor), processor.native_message)
    return answers.checked(answer, provider, reply)


def _read(processor: StreamingProcessor, reply: Reply, on_event: OnEvent) -> None:
    """Read a body to its end, or to the answer's: servers leave connections open, and break them,
    behind it.
    """
    over, wait = False, None
    try:
        for piece in reply.pieces:
            events = processor.feed(piece)
            _tell(events, reply, on_event)
            over = (
                over or processor.error is not None or any(event.type == "done" for event in events)
            )
            before, wait = wait, _DRAINED_S if over else _LAST_S if processor.complete else None
            if wait != before or (events and not over):
                reply.end_within(wait)
    except ProviderError:
        if not over:
            raise


def _tell(events: Iterable[StreamEvent], reply: Reply, on_event: OnEvent) -> None:
    for event in events:
        on_event(
            event
            if event.type != "error"
            else event._replace(text=reply.redacted(event.text), data=reply.redacted(event.data))
        )
