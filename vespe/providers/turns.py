"""One turn of a model, the same for every provider: the request sent, its answer read, events told as they come."""

import threading
from collections.abc import Iterable, Mapping
from typing import Final

from vespe import documents
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
    return respond(self, messages, tools, options=options, on_event=on_event, cancel=cancel).message


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
        return _whole(self, reply) if on_event is None else _streamed(self, reply, on_event)


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
    return provider.answer(document)


def _streamed(provider: LLMProvider, reply: Reply, on_event: OnEvent) -> Answer:
    processor = provider.processor()
    for piece in reply.pieces:
        _tell(processor.feed(piece), reply, on_event)
    _tell(processor.close(), reply, on_event)
    if processor.error is not None:
        raise _told(provider, {"error": processor.error}, reply)
    if not (processor.complete or processor.finish_reason or reply.framed):
        raise ProviderError(f"the answer of {provider.name} broke off before it was whole", request_id=reply.request_id, transient=True)
    return Answer(
        message=processor.message(),
        finish_reason=processor.finish_reason,
        usage=processor.usage,
        complete=processor.complete,
        cut_calls=processor.cut_calls(),
    )


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
