"""Handlers for a loopback server that answers like an endpoint of models, badly too; and providers
that ask it.
"""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.loopback import Exchange, Handler, Loopback
from vespe.features.agents.providers.anthropic import AnthropicProvider
from vespe.features.agents.providers.base import LLMProvider
from vespe.features.agents.providers.gemini import GeminiProvider
from vespe.features.agents.providers.ollama import OllamaProvider
from vespe.features.agents.providers.openai import OpenAIProvider
from vespe.features.agents.providers.openai_responses import OpenAIResponsesProvider
from vespe.features.agents.providers.retries import Patience

KEY = "sk-never-to-be-seen-0123456789"
QUICK = Patience(connect_s=5, stall_s=20, total_s=20, retries=2, backoff_s=0.001)
USER = [{"role": "user", "content": "Hi"}]
CLASSES: dict[str, Any] = {
    "openai": OpenAIProvider,
    "openai-responses": OpenAIResponsesProvider,
    "anthropic": AnthropicProvider,
    "gemini": GeminiProvider,
    "ollama": OllamaProvider,
}
KINDS = {
    "openai": "text/event-stream",
    "openai-responses": "text/event-stream",
    "anthropic": "text/event-stream",
    "gemini": "text/event-stream",
    "ollama": "application/x-ndjson",
}
HELLO = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}
_HEAD = b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
CHUNKS = (
    _HEAD
    + b'{"role":"assistant","content":"Hel"}}]}\n\n'
    + _HEAD
    + b'{"content":"lo"},"finish_reason":"stop"}]}\n\n'
    + b"data: [DONE]\n\n"
)


@contextmanager
def asking(
    answer: Handler, api: str = "openai", **options: Any
) -> Iterator[tuple[LLMProvider, Loopback]]:
    """Give a provider of `api` and the server that it asks."""
    with Loopback(answer) as server:
        given = {"base_url": server.url(""), "api_key": KEY, "patience": QUICK} | options
        provider = CLASSES[api]("m", **given)
        try:
            yield provider, server
        finally:
            provider.close()


def sent(server: Loopback) -> tuple[str, dict[str, str], Any]:
    """Give the target, headers and body of the last request."""
    head, _, body = server.requests[-1].partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return (
        first.split(" ")[1],
        {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)},
        json.loads(body),
    )


def said(document: Any, *headers: str, status: int = 200) -> Handler:
    """Answer with one JSON document."""
    return lambda exchange: exchange.reply(json.dumps(document).encode(), *headers, status=status)


def stream(body: bytes, kind: str = "text/event-stream") -> Handler:
    """Answer with a body of known length."""
    return lambda exchange: exchange.reply(body, kind=kind)


def chunked(body: bytes, kind: str = "text/event-stream", *, size: int = 7) -> Handler:
    """Answer in chunks of `size` bytes."""

    def answer(exchange: Exchange) -> bool:
        exchange.send(
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: "
            "chunked\r\n\r\n".encode()
        )
        for start in range(0, len(body), size):
            piece = body[start : start + size]
            exchange.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        exchange.send(b"0\r\n\r\n")
        return True

    return answer


def compressed(body: bytes, kind: str = "text/event-stream") -> Handler:
    """Answer compressed, though nobody asked for it."""
    return lambda exchange: exchange.reply(gzip.compress(body), "Content-Encoding: gzip", kind=kind)


def unframed(body: bytes, kind: str = "text/event-stream") -> Handler:
    """Answer with a body that ends as the connection does."""

    def answer(exchange: Exchange) -> bool:
        exchange.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + body)
        return False

    return answer


def cut(body: bytes, at: int, kind: str = "text/event-stream") -> Handler:
    """Announce a body, and break off behind its first `at` bytes."""

    def answer(exchange: Exchange) -> bool:
        exchange.send(
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: "
            f"{len(body)}\r\n\r\n".encode()
            + body[:at]
        )
        return False

    return answer


def stalled(body: bytes, at: int, kind: str = "text/event-stream") -> Handler:
    """Announce a body, and say no more behind its first `at` bytes."""

    def answer(exchange: Exchange) -> bool:
        exchange.send(
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: "
            f"{len(body)}\r\n\r\n".encode()
            + body[:at]
        )
        exchange.server.stopping.wait()
        return False

    return answer


def kept_open(body: bytes, kind: str = "text/event-stream", *, trickle: bytes = b"") -> Handler:
    """Answer with a body and never end it: nothing more comes, or `trickle` again and again."""

    def answer(exchange: Exchange) -> bool:
        exchange.send(
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: "
            "chunked\r\n\r\n".encode()
        )
        exchange.send(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        if trickle:
            return exchange.trickle(f"{len(trickle):x}\r\n".encode() + trickle + b"\r\n", 0.05)
        exchange.server.stopping.wait()
        return False

    return answer


def in_turn(*answers: Handler) -> Handler:
    """Answer each request by the next handler, and all further ones by the last."""
    left = list(answers)
    return lambda exchange: (left.pop(0) if len(left) > 1 else left[0])(exchange)


def hang_up(_: Exchange) -> bool:
    """End the connection without an answer."""
    return False
