"""A server's socket: what it refuses, and how soon it answers. What it does to slow clients:
tests/features/mcp/server/test_http_server.py.
"""

import asyncio
import contextvars
import functools
import logging
import socket
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from vespe.errors import StorageError
from vespe.http import server
from vespe.http.short_requests import ShortRequest


def test_a_port_that_is_taken_is_a_sentence() -> None:
    with server.bind("127.0.0.1", 0) as first, pytest.raises(StorageError, match="listen on"):
        server.bind("127.0.0.1", first.getsockname()[1])


def test_what_is_answered_is_sent_at_once_and_waits_for_no_acknowledgement() -> None:
    async def accepted() -> int:
        listener, opened = server.bind("127.0.0.1", 0), asyncio.get_running_loop().create_future()
        async with await asyncio.start_server(
            lambda _, writer: opened.set_result(writer), sock=listener
        ):
            _, client = await asyncio.open_connection(*listener.getsockname())
            writer: asyncio.StreamWriter = await opened
            known: int = writer.get_extra_info("socket").getsockopt(
                socket.IPPROTO_TCP, socket.TCP_NODELAY
            )
            writer.close()
            client.close()
            return known

    assert asyncio.run(accepted())


HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"
LAST = HEAD.replace(b"Host", b"Connection: close\r\nHost")
SEEN: contextvars.ContextVar[bytes] = contextvars.ContextVar("SEEN", default=b"")


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what came, in the long way."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-length", b"%d" % (len(body) + 5))],
        }
    )
    await send({"type": "http.response.body", "body": b"long " + body})


def short(request: ShortRequest) -> bytes | None:
    if request.body == b"bad!":
        raise ValueError("a bug")
    seen = SEEN.get()
    SEEN.set(request.body)
    return None if request.body == b"long" else b"short " + request.body + seen


def exchanged(*pieces: bytes, answering: Callable[[ShortRequest], bytes | None] = short) -> bytes:
    """Send the pieces, each once the one before it is read, and the last request; return what a
    server says until it hangs up.
    """

    async def talk() -> bytes:
        config = uvicorn.Config(app, log_config=None, access_log=False)
        config.load()
        made = functools.partial(
            server._PatientProtocol,
            answering,
            config=config,
            server_state=ServerState(),
            app_state={},
        )
        listener = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        async with listener:
            reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname())
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for piece in (*pieces, LAST + b"last"):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.02)
            said = await reader.read()
            writer.close()
            return said

    return asyncio.run(talk())


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ((HEAD + b"once",), [b"short once"]),
        ((HEAD, b"once"), [b"short once"]),
        ((HEAD + b"on", b"ce", HEAD + b"more"), [b"short once", b"short more"]),
        ((HEAD, b"on", b"ce", HEAD + b"more"), [b"long once", b"short more"]),
        ((HEAD[:9], HEAD[9:] + b"once", HEAD, b"more"), [b"long once", b"short more"]),
        (
            (HEAD + b"long", HEAD, b"long", HEAD + b"once"),
            [b"long long", b"long long", b"short once"],
        ),
        (
            (HEAD + b"once" + HEAD + b"more", HEAD + b"then"),
            [b"long once", b"long more", b"short then"],
        ),
        (
            (HEAD + b"once", HEAD + b"more" + HEAD, b"then"),
            [b"short once", b"long more", b"long then"],
        ),
        ((HEAD, b"once" + HEAD + b"more"), [b"long once", b"long more"]),
    ],
)
def test_each_request_is_answered_once_and_in_order_however_it_comes(
    pieces: tuple[bytes, ...], said: list[bytes]
) -> None:
    answers = exchanged(*pieces).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [one.partition(b"\r\n\r\n")[2] for one in answers] == [*said, b"long last"]


def test_a_bug_in_what_answers_at_once_is_an_answer_too_and_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "asyncio"):
        assert exchanged(HEAD + b"bad!").startswith(b"HTTP/1.1 500 ")
    assert "a bug" in caplog.text


def test_a_body_that_does_not_come_is_the_applications_to_wait_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "HEADERS_S", 0.001)
    assert b"\r\n\r\nlong once" in exchanged(HEAD + b"o", b"nce")
