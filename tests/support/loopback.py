"""A real HTTP server on loopback that behaves as its paths say, badly too, and keeps the bytes that
it was sent.
"""

import contextlib
import gzip
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from typing import Self

Handler = Callable[["Exchange"], bool]
"""Answers one request; True keeps the connection for the next."""


class Exchange:
    """One request as it came (`raw`), and the socket to answer on."""

    def __init__(self, server: "Loopback", connection: socket.socket, raw: bytes) -> None:
        self.server, self.connection, self.raw = server, connection, raw
        head, _, self.body = raw.partition(b"\r\n\r\n")
        request_line, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = request_line.split(" ")
        self.headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def reply(
        self, body: bytes, *headers: str, status: int = 200, kind: str = "application/json"
    ) -> bool:
        lines = [
            f"HTTP/1.1 {status} Status",
            f"Content-Length: {len(body)}",
            f"Content-Type: {kind}",
            *headers,
        ]
        self.send(
            "\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if self.method == "HEAD" else body)
        )
        return True

    def trickle(self, piece: bytes, every_s: float) -> bool:
        """Send a piece again and again, until the server stops or the client has gone."""
        while not self.server.stopping.wait(every_s):
            self.send(piece)
        return False


def echo(exchange: Exchange) -> bool:
    said = {
        "method": exchange.method,
        "target": exchange.target,
        "headers": exchange.headers,
        "body": exchange.body.decode(),
    }
    return exchange.reply(json.dumps(said).encode())


def redirect(exchange: Exchange) -> bool:
    """`/redirect/STATUS/LOCATION`, the location as it is."""
    _, _, status, location = exchange.target.split("/", 3)
    return exchange.reply(b"moved", f"Location: {location}", status=int(status))


def status(exchange: Exchange) -> bool:
    return exchange.reply(
        b'{"error": "as asked"}', "Retry-After: 7", status=int(exchange.target.rsplit("/", 1)[1])
    )


def drip(exchange: Exchange) -> bool:
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    return exchange.trickle(b"x", 0.05)


def slow_headers(exchange: Exchange) -> bool:
    exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    return exchange.trickle(b"x", 0.05)


def endless_hints(exchange: Exchange) -> bool:
    return exchange.trickle(b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.001)


def huge_header(exchange: Exchange) -> bool:
    exchange.send(
        b"HTTP/1.1 200 OK\r\nX-Huge: " + b"x" * 1_000_000 + b"\r\nContent-Length: 0\r\n\r\n"
    )
    return False


def chunked_forever(exchange: Exchange) -> bool:
    exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not exchange.server.stopping.is_set():
        exchange.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")
    return False


def bomb(exchange: Exchange) -> bool:
    """About 65 kB that decompress to 64 MiB."""
    return exchange.reply(gzip.compress(bytes(64 * 1024 * 1024), 9), "Content-Encoding: gzip")


def compressed(exchange: Exchange) -> bool:
    return exchange.reply(
        gzip.compress(b'{"ok": ') + gzip.compress(b"true}"), "Content-Encoding: gzip"
    )


def strange_coding(exchange: Exchange) -> bool:
    return exchange.reply(b"\x8b\x00", "Content-Encoding: br")


def reset(exchange: Exchange) -> bool:
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def short(exchange: Exchange) -> bool:
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
    return False


def garbage(exchange: Exchange) -> bool:
    exchange.send(b"SSH-2.0-OpenSSH\r\n\r\n")
    return False


def silence(exchange: Exchange) -> bool:
    exchange.server.stopping.wait()
    return False


def once(exchange: Exchange) -> bool:
    """Answers the first request of each connection, and hangs up on the second, as servers do whose
    patience ended.
    """
    if exchange.server.answered.get(exchange.connection):
        return False
    exchange.server.answered[exchange.connection] = True
    return exchange.reply(b'"first"')


_PLAIN = (echo, redirect, status, compressed, strange_coding, once)
_ENDLESS = (drip, slow_headers, endless_hints, huge_header, chunked_forever, bomb, silence)
_BROKEN = (reset, short, garbage)
ROUTES: dict[str, Handler] = {
    handler.__name__: handler for handler in (*_PLAIN, *_ENDLESS, *_BROKEN)
}


class Loopback:
    """The server: the path's first part chooses the handler of ROUTES, or `answer` takes every
    request.

    `requests` are the raw bytes of each, in order; `connections` counts the connections that were
    opened.
    """

    def __init__(self, answer: Handler | None = None, *, tls: ssl.SSLContext | None = None) -> None:
        self._answer, self._tls = answer, tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self.requests: list[bytes] = []
        self.connections = 0
        self.stopping = threading.Event()
        self.answered: dict[socket.socket, bool] = {}

    def url(self, path: str = "/echo", *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)

    def _start(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open.append(connection)
                self._start(lambda connection=connection: self._serve(connection))  # type: ignore[misc]  # binds this one

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            served = stack.enter_context(
                self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
            )
            self._open.append(served)
            while raw := _read_request(served):
                self.requests.append(raw)
                exchange = Exchange(self, served, raw)
                handler = self._answer or ROUTES[exchange.target.split("/")[1].split("?")[0]]
                if not handler(exchange):
                    return


def _read_request(connection: socket.socket) -> bytes:
    data = bytearray()
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece or not (data or piece[:1].isalpha()):
            return b""
        data += piece
    head = bytes(data).partition(b"\r\n\r\n")[0]
    length = next(
        (
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    while len(data) < len(head) + 4 + length and (piece := connection.recv(65536)):
        data += piece
    return bytes(data)
