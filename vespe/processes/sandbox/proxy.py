"""The proxy of one sandboxed process: its listening socket comes out of the process's own network,
and leads to stated hosts alone.
"""

import contextlib
import select
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from vespe.errors import VespeError
from vespe.lazy import socket

if TYPE_CHECKING:
    from socket import socket as Socket

Connect = Callable[[str, int], "Socket"]
"""Opens a connection to a host and a port, or raises VespeError: what may be reached is decided
there.
"""
_MAX_HEAD: Final = 64 * 1024
_HEAD_S: Final = 30.0
_CHUNK: Final = 64 * 1024
_MOST: Final = 256
"""Connections at a time."""
_DESCRIPTOR: Final = 4
"""The size of a C int."""


class Proxy:
    """Answers CONNECT, and requests with a whole http URL, for as long as the process runs;
    everything else is refused.

    `theirs` is the end of a Unix socket that the process passes its listening socket through.
    """

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._ours, other = socket.socketpair()
        self.theirs = other.detach()
        self._free = threading.Semaphore(_MOST)
        self._lock = threading.Lock()
        self._open: set[Socket] = {self._ours}
        self._closed = False
        threading.Thread(target=self._serve, name="vespe-proxy", daemon=True).start()

    def close(self) -> None:
        """End every connection; no other is taken."""
        with self._lock:
            self._closed = True
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def _kept(self, one: "Socket") -> "Socket":
        with self._lock:
            self._open.add(one)
            if self._closed:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        return one

    def _done(self, one: "Socket") -> None:
        with self._lock:
            self._open.discard(one)
        one.close()

    def _serve(self) -> None:
        """Take the listening socket, then connections, until this is closed."""
        descriptor = _received(self._ours)
        self._done(self._ours)
        if descriptor < 0:
            return
        listening = self._kept(socket.socket(fileno=descriptor))
        with contextlib.suppress(OSError):
            while not self._closed:
                self._free.acquire()
                one = self._kept(listening.accept()[0])
                threading.Thread(
                    target=self._answer, args=(one,), name="vespe-proxied", daemon=True
                ).start()
        self._done(listening)

    def _answer(self, one: "Socket") -> None:
        try:
            with contextlib.suppress(OSError, ValueError):
                self._pass_on(one)
        finally:
            self._done(one)
            self._free.release()

    def _pass_on(self, one: "Socket") -> None:
        one.settimeout(_HEAD_S)
        head, rest = _head(one)
        method, target, fields = _parsed(head)
        host, port, sent = _wanted(method, target, fields)
        if not host:
            return one.sendall(_refusal(400, "only CONNECT and whole http:// URLs are passed on"))
        try:
            other = self._kept(self._connect(host, port))
        except VespeError as error:
            return one.sendall(_refusal(403, str(error)))
        try:
            if method == "CONNECT":
                one.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            other.sendall(sent + rest)
            _pump(one, other)
        finally:
            self._done(other)
        return None


def _received(connection: "Socket") -> int:
    """Return the descriptor that comes through a Unix socket; -1 where none does.

    A program that is started meanwhile must not inherit it. `socket.recv_fds` drops the flag that
    says so; macOS has no such flag, and no sandbox that passes a socket.
    """
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    try:
        _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_LEN(_DESCRIPTOR), flags)
    except OSError:
        return -1
    return next((int.from_bytes(item[:_DESCRIPTOR], sys.byteorder) for *_, item in ancillary), -1)


def _head(one: "Socket") -> tuple[bytes, bytes]:
    """Read a request's head; returns it, and what came after it. Raises ValueError where there is
    none.
    """
    data = b""
    while b"\r\n\r\n" not in data:
        more = one.recv(_CHUNK)
        if not more or len(data) > _MAX_HEAD:
            raise ValueError("no request")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    if any(byte in head.replace(b"\r\n", b"") for byte in (b"\r", b"\n", b"\0")):
        raise ValueError("a line that some end elsewhere")
    return head, rest


def _parsed(head: bytes) -> tuple[str, str, list[bytes]]:
    first, *fields = head.split(b"\r\n")
    method, target, _ = first.decode("ascii").split(" ")
    return method, target, fields


def _wanted(method: str, target: str, fields: list[bytes]) -> tuple[str, int, bytes]:
    """Return the host and the port that a request is for, and the request as that host gets it; ""
    for what is none.
    """
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        return (host.strip("[]").lower(), int(port), b"") if _is_port(port) else ("", 0, b"")
    if not target.lower().startswith("http://"):
        return "", 0, b""
    authority, slash, path = target[len("http://") :].partition("/")
    host, _, port = (
        authority.rpartition(":")
        if authority.rpartition(":")[2].isdigit()
        else (authority, "", "80")
    )
    if not _is_port(port):
        return "", 0, b""
    # Its Host is the one that was judged, and what follows on the connection goes to nobody else.
    kept = [
        line
        for line in fields
        if line.partition(b":")[0].strip().lower()
        not in (b"host", b"connection", b"proxy-connection")
    ]
    kept = [line for line in kept if not line.lower().startswith(b"proxy-")]
    lines = [
        f"{method} /{path if slash else ''} HTTP/1.1".encode(),
        b"Host: " + authority.encode(),
        b"Connection: close",
        *kept,
    ]
    return host.strip("[]").lower(), int(port), b"\r\n".join(lines) + b"\r\n\r\n"


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536


def _refusal(status: int, why: str) -> bytes:
    body = f"{why}\n".encode("utf-8", "replace")
    reason = {400: "Bad Request", 403: "Forbidden"}[status]
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; "
        f"charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def _pump(one: "Socket", other: "Socket") -> None:
    """Carry bytes both ways until one side has nothing more to say."""
    for each in (one, other):
        each.settimeout(None)
    poll = select.poll()
    ways = {one.fileno(): (one, other), other.fileno(): (other, one)}
    for descriptor in ways:
        poll.register(descriptor, select.POLLIN)
    while ways:
        for descriptor, _ in poll.poll():
            source, target = ways[descriptor]
            data = source.recv(_CHUNK)
            if data:
                target.sendall(data)
                continue
            poll.unregister(descriptor)
            del ways[descriptor]
            with contextlib.suppress(OSError):
                target.shutdown(socket.SHUT_WR)
