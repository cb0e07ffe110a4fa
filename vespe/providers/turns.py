"""One turn of a model, the same for every provider: the request sent, its answer read, events told as they come."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from vespe import documents
from vespe.adapters.inner import plain_text
from vespe.conversation.stream_base import StreamEvent
from vespe.errors import InvalidDocument, ProviderError
from vespe.models import JsonObject
from vespe.providers.base import Answer, LLMProvider, OnEvent, Reply, Tools

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The most bytes of one answer, decompressed."""


def create_message(
    self: LLMProvider,
    messages: Iterable[JsonObject],
    tools: Tools | None = None,
    *,
    options: Mapping[str, object] | None = None,
    on_event: OnEvent | None = None,
    cancel: threading.Event | None = None,
) -> JsonObject:
    """Give the model's next message; see `LLMProvider.create_message`, which each provider has from here."""
    return self.respond(messages, tools, options=options, on_event=on_event, cancel=cancel).message


def respond(
    self: LLMProvider,
    messages: Iterable[JsonObject],
    tools: Tools | None = None,
    *,
    options: Mapping[str, object] | None = None,
    on_event: OnEvent | None = None,
    cancel: threading.Event | None = None,
) -> Answer:
    """Give the model's answer; see `LLMProvider.respond`, which each provider has from here."""
    payload = self.payload(messages, tools, options=options, stream=on_event is not None)
    with self.send(payload, cancel=cancel) as reply:
        if on_event is not None and (self.api == "ollama" or not _is_document(reply)):
            return _streamed(self, reply, on_event)
        answer = _whole(self, reply)
    if on_event is not None:
        retell(answer, on_event)
    return answer


def retell(answer: Answer, on_event: OnEvent) -> None:
    """Tell the events of an answer that came whole."""
    message = answer.message
    if isinstance(text := message.get("reasoning_content"), str) and text:
        on_event(StreamEvent(type="reasoning", text=text))
    if isinstance(text := message.get("content"), str) and text:
        on_event(StreamEvent(type="text", text=text))
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call.get("function") or call.get("custom") or {}
        start = StreamEvent(type="tool_start", call_id=call.get("id") or "", name=function.get("name") or "", index=index)
        on_event(start)
        on_event(start._replace(type="tool_arguments", text=function.get("arguments") or function.get("input") or ""))
    if answer.usage is not None:
        on_event(StreamEvent(type="usage", data=answer.usage))
    on_event(StreamEvent(type="done", data={"finish_reason": answer.finish_reason, "complete": answer.complete}))


def _is_document(reply: Reply) -> bool:
    """Whether an endpoint that was asked for a stream answers with one document all the same."""
    return dict(reply.headers).get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _whole(provider: LLMProvider, reply: Reply) -> Answer:
    body = b"".join(reply.pieces)
    try:
        document = documents.parse_object(body, limit=MAX_ANSWER_BYTES)
    except InvalidDocument as error:
        raise ProviderError(
            f"the answer of {provider.name} cannot be read: it {error.reason}", status=reply.status, request_id=reply.request_id
        ) from None
    if document.get("error"):
        raise _told(provider, document, reply)
    return _plain(provider.answer(document))


def _streamed(provider: LLMProvider, reply: Reply, on_event: OnEvent) -> Answer:
    processor = provider.processor()
    for piece in reply.pieces:
        _tell(processor.feed(piece), reply, on_event)
    _tell(processor.close(), reply, on_event)
    if processor.error is not None:
        raise _told(provider, {"error": processor.error}, reply)
    if not (processor.complete or processor.finish_reason or reply.framed):
        raise ProviderError(f"the answer of {provider.name} broke off before it was whole", request_id=reply.request_id, transient=True)
    answer = Answer(
        message=processor.message(),
        finish_reason=processor.finish_reason,
        usage=processor.usage,
        complete=processor.complete,
        cut_calls=processor.cut_calls(),
    )
    return _plain(answer)


def _plain(answer: Answer) -> Answer:
    """Give an answer whose content, where it is one plain text, is that text, as OpenAI says it; Anthropic makes a list of it."""
    content = answer.message.get("content")
    text = plain_text(content) if isinstance(content, list) else None
    return answer if text is None else replace(answer, message={**answer.message, "content": text})


def _tell(events: Iterable[StreamEvent], reply: Reply, on_event: OnEvent) -> None:
    for event in events:
        on_event(event if event.type != "error" else event._replace(text=reply.redacted(event.text), data=reply.redacted(event.data)))


def _told(provider: LLMProvider, document: JsonObject, reply: Reply) -> ProviderError:
    """Give the error that an answer holds though its status was a success, as gateways send it."""
    error = reply.redacted(document["error"])
    told = error if isinstance(error, dict) else {"message": error}
    code = told.get("code") or told.get("type")
    return ProviderError(
        f"{provider.name} answered with an error: {told.get('message') or documents.compact_json(error)}",
        vendor_code=str(code) if code else "",
        request_id=reply.request_id,
        transient=code in ("overloaded_error", "api_error", "server_error", "rate_limit_exceeded"),
    )
