"""A server of HTTP: its socket, its patience with slow clients, and its end. Owns uvicorn."""

import asyncio
import logging
import socket
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from functools import partial
from typing import Any, ClassVar, Final, Protocol

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from vespe.errors import StorageError
from vespe.http import short_requests
from vespe.http.short_requests import Answering, ShortRequest

HEADERS_S: Final = 5.0
"""How long a client may take for the headers of a request."""
MAX_UNDECIDED: Final = 128
"""Connections that have not said a whole request yet; one more, and the oldest of them is
closed.
"""
_KEEP_ALIVE_S: Final = 5
_HEADER_BYTES: Final = 64 * 1024
_FAREWELL_S: Final = 0.35
_BACKLOG: Final = 512


class Life(Protocol):
    """What goes on beside the requests of a server, and how it ends."""

    def watch(self) -> Coroutine[Any, Any, None]:
        """Do what is to be done as long as the server lives."""
        ...

    def stop(self) -> None:
        """End every call that runs, with its processes."""
        ...

    def close(self) -> None:
        """End what calls have in common, and wait for that: not in the thread of the event loop."""
        ...

    @property
    def busy(self) -> bool:
        """Whether a call runs still."""
        ...


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises StorageError with the operating system's reason."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only where the protocol is said: without it each answer's end waits
    # 40 ms for a delayed ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise StorageError("listen on", f"{host}:{port}", error) from error
    return listener


class _Told(logging.Handler):
    """What the libraries log as an error, in a line."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._tell(
            f"{record.name}: {record.getMessage()}"
            + (f": {type(error).__name__}: {error}"[:500] if error else "")
        )


def serve(
    app: Any,
    listener: socket.socket,
    *,
    life: Life,
    tell: Callable[[str], None],
    answering: Answering | None = None,
) -> None:
    """Serve an ASGI application until a signal ends it: then every call ends with its processes,
    and the signal is raised again.

    `tell` takes a line about each failure that no client is to blame for. `answering` is asked
    first about what comes as a ShortRequest: what it answers is past uvicorn, h11 and a task of its
    own, which take several times as long as a quick call.
    """
    for name in ("mcp", "uvicorn", "sse_starlette", "starlette", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(_Told(tell))
        logger.propagate = False
    config = uvicorn.Config(
        app,
        http=partial(_PatientProtocol, answering),  # type: ignore[arg-type]  # it is called, and no more
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_FAREWELL_S,  # type: ignore[arg-type]  # waited for as a float
        h11_max_incomplete_event_size=_HEADER_BYTES,
    )
    _Server(config, life).run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, life: Life) -> None:
        super().__init__(config)
        self._life = life

    async def main_loop(self) -> None:
        """Run until a signal comes, with the watch beside it."""
        watching = asyncio.ensure_future(self._life.watch())
        try:
            await super().main_loop()
        finally:
            watching.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the calls first: what they answer then still reaches their clients."""
        self._life.stop()
        closing = asyncio.ensure_future(asyncio.to_thread(self._life.close))
        await super().shutdown(sockets)
        await closing
        for _ in range(40):
            if not self._life.busy:
                return
            await asyncio.sleep(0.01)


class _PatientProtocol(H11Protocol):
    """Closes a connection that takes too long to say what it wants, and the oldest of too many
    such.
    """

    _undecided: ClassVar[dict["_PatientProtocol", asyncio.TimerHandle]] = {}

    def __init__(self, answering: Answering | None, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._answering = answering
        self._held: tuple[bytes, ShortRequest] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn says BaseTransport
        super().connection_made(transport)
        self._decide()

    def data_received(self, data: bytes) -> None:
        # What follows may be answered past uvicorn, which stops this clock only where it reads.
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
            self.timeout_keep_alive_task = None
        if (
            self._answering is None
            or not self._is_at_rest()
            or not self._short(data, self._answering)
        ):
            self._read(data)

    def _read(self, data: bytes) -> None:
        """Let h11 read, first what is held."""
        held, self._held = self._held, None
        super().data_received(held[0] + data if held else data)
        self._decide()

    def _is_at_rest(self) -> bool:
        """Say whether nothing of an earlier request is under way, and h11 has nothing of the
        next.
        """
        conn, cycle = self.conn, self.cycle
        quiet = (
            conn.their_state is h11.IDLE
            and conn.our_state is h11.IDLE
            and not conn.trailing_data[0]
        )
        return (
            quiet
            and (cycle is None or cycle.response_complete)
            and not self.flow.write_paused
            and not self.transport.is_closing()
        )

    def _short(self, data: bytes, answering: Answering) -> bool:
        """Answer a short request, or hold its first part, since many clients send the body apart;
        False where it is h11's to read.
        """
        request = (
            short_requests.completed(self._held[1], data)
            if self._held
            else short_requests.read(data)
        )
        if request is not None and request.missing:
            self._held = data, request
            self._decide()
            return True
        if request is None:
            return False
        answer: bytes | None = b""
        try:
            # A context of its own, as a task has: what a tool sets there is not there for the next
            # call.
            answer = copy_context().run(answering, request)
        finally:
            if answer == b"":  # the event loop tells of the error, and closes the connection
                self.transport.write(
                    b"HTTP/1.1 500 Internal Server Error\r\nconnection: "
                    b"close\r\ncontent-length: 0\r\n\r\n"
                )
        if answer is None:
            return False
        self._held = None
        self._forget()
        self.transport.write(short_requests.answered(answer, self.server_state.default_headers))
        self.on_response_complete()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._held = None
        self._forget()
        super().connection_lost(exc)

    def _decide(self) -> None:
        """Start the clock where a request has yet to come whole, stop it where one has."""
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            return self._forget()
        if self not in self._undecided:
            if len(self._undecided) >= MAX_UNDECIDED:
                next(iter(self._undecided))._give_up()
            self._undecided[self] = self.loop.call_later(HEADERS_S, self._give_up)
        return None

    def _give_up(self) -> None:
        self._forget()
        if self._held:  # its head is whole: how long a body may take is for the application to say
            self._read(b"")
        else:
            self.transport.abort()

    def _forget(self) -> None:
        if (timer := self._undecided.pop(self, None)) is not None:
            timer.cancel()
