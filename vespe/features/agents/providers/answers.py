"""Answers as an endpoint gave them: read leniently, judged for saying something, errors within them
raised.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vespe.adapters.messages import plain_text, quote
from vespe.adapters.streams.base import StreamingProcessor
from vespe.calls import tracing
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, ProviderError
from vespe.features.agents.providers.base import LLMProvider, ModelAnswer, Reply
from vespe.models import JsonObject

_EXCERPT: Final = 600
_BEGINNING: Final = 120


def whole(provider: LLMProvider, reply: Reply) -> ModelAnswer:
    """Read an answer that was not streamed; raises ProviderError for an error, and for what is no
    answer of the API's.
    """
    document = _read(provider, reply)
    if document.get("error"):
        raise error_within(provider, document, reply)
    try:
        answer = known_by(provider.answer(document), lambda: document)
        return checked(answer, provider, reply, body=strict_json.compact_json(document))
    except InvalidDocument as error:
        raise _unreadable(provider, reply, error.message) from None


def of_document(read: StreamingProcessor, document: JsonObject) -> ModelAnswer:
    """Return a body that was not streamed as the answer that it is, read by the rules of a stream,
    so that both give the same message. It came whole, whether it says why the model stopped or not.
    """
    read.feed(strict_json.compact_json(document).encode("utf-8"))
    read.close()
    answer = gathered(read)
    return answer if answer.finish_reason else replace(answer, complete=True, cut_calls=frozenset())


def gathered(read: StreamingProcessor) -> ModelAnswer:
    """Return what a processor has read as an answer."""
    return ModelAnswer(
        message=read.message(),
        finish_reason=read.finish_reason,
        usage=read.usage,
        complete=read.complete,
        cut_calls=read.cut_calls(),
    )


def known_by(answer: ModelAnswer, read: Callable[[], JsonObject]) -> ModelAnswer:
    """Return an answer with the model and the id that its vendor's document says, which `read`
    gives; as it is where nobody listens to traces.
    """
    if tracing.telemetry() is None:
        return answer
    document = read()
    model, identifier = document.get("model"), document.get("id")
    return replace(
        answer,
        model=model if isinstance(model, str) else "",
        response_id=identifier if isinstance(identifier, str) else "",
    )


def checked(
    answer: ModelAnswer, provider: LLMProvider, reply: Reply, *, body: str = ""
) -> ModelAnswer:
    """Return an answer, its content as a text where it is one plain text, as OpenAI says it.

    Raises ProviderError for one that says nothing: neither a text, nor a call, nor why it stopped;
    it quotes the `body`.
    """
    message = answer.message
    content = message.get("content")
    if answer.finish_reason is None and not content and not message.keys() - {"role", "content"}:
        quote = f": {str(reply.redacted(body))[:_EXCERPT]}" if body else ""
        why = (
            f"{provider.name} returned an empty answer, without text, calls or a reason why it "
            f"stopped{quote}"
        )
        raise ProviderError(why, status=reply.status, request_id=reply.request_id, transient=True)
    text = plain_text(content) if isinstance(content, list) else None
    return answer if text is None else replace(answer, message={**message, "content": text})


def error_within(provider: LLMProvider, document: JsonObject, reply: Reply) -> ProviderError:
    """Return the error that an answer holds though its status was a success, as gateways send
    it.
    """
    error = reply.redacted(document["error"])
    told = error if isinstance(error, dict) else {"message": error}
    code = told.get("code") or told.get("type")
    return ProviderError(
        f"{provider.name} answered with an error: "
        f"{told.get('message') or strict_json.compact_json(error)}",
        vendor_code=str(code) if code else "",
        request_id=reply.request_id,
        transient=code in ("overloaded_error", "api_error", "server_error", "rate_limit_exceeded"),
    )


def _read(provider: LLMProvider, reply: Reply) -> JsonObject:
    """Read a body as leniently as a stream is read: models say lone surrogates, and servers some
    keys twice.
    """
    body = b"".join(reply.pieces)
    if not body.strip():
        raise _unreadable(provider, reply, "it is empty")
    try:
        document = json.loads(body.decode("utf-8-sig"), parse_constant=lambda name: None)
    except UnicodeDecodeError as error:
        raise _unreadable(
            provider, reply, f"it is not UTF-8: byte 0x{body[error.start]:02x}"
        ) from None
    except (ValueError, RecursionError) as error:
        # without the key before it is cut, since half a key would not be found
        begins = str(reply.redacted(body.decode("utf-8", "replace")))[:_BEGINNING]
        raise _unreadable(
            provider, reply, f"it is not JSON: {error}; it begins {quote(begins)}"
        ) from None
    if isinstance(document, list) and len(document) == 1:  # as Gemini's endpoint wraps it
        document = document[0]
    if not isinstance(document, dict):
        raise _unreadable(provider, reply, "it is not a JSON object")
    return document


def _unreadable(provider: LLMProvider, reply: Reply, why: str) -> ProviderError:
    told = f"the answer of {provider.name} cannot be read: {reply.redacted(why)}"
    return ProviderError(told, status=reply.status, request_id=reply.request_id)
