"""The HTTP server itself: its socket, its patience with slow clients, and its end. Owns uvicorn."""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import ClassVar, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from vespe.errors import StorageError
from vespe.mcp_server.calls_in_flight import MAX_CALLS
from vespe.mcp_server.http_gate import Gate, Policy
from vespe.mcp_server.http_handlers import Handlers, Served

HEADERS_S: Final = 5.0
"""How long a client may take for the headers of a request."""
MAX_UNDECIDED: Final = 128
"""Connections that have not said a whole request yet; one more, and the oldest of them is closed."""
_KEEP_ALIVE_S: Final = 5
_HEADER_BYTES: Final = 64 * 1024
_FAREWELL_S: Final = 0.35
_BACKLOG: Final = 512


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises StorageError with the operating system's reason."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only where the protocol is said: without it each answer's end waits 40 ms for a delayed ACK.
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
        self._tell(f"{record.name}: {record.getMessage()}" + (f": {type(error).__name__}: {error}"[:500] if error else ""))


def serve_http(
    tools: Served,
    listener: socket.socket,
    policy: Policy,
    *,
    stateless: bool = False,
    max_calls: int = MAX_CALLS,
    tell: Callable[[str], None],
) -> None:
    """Serve until a signal ends it: then every call ends with its processes, and the signal is raised again.

    `tell` takes a line about each failure that no client is to blame for.
    """
    for name in ("mcp", "uvicorn", "sse_starlette", "starlette", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(_Told(tell))
        logger.propagate = False
    handlers = Handlers(tools, stateless=stateless, max_calls=max_calls)
    manager = handlers.manager()
    config = uvicorn.Config(
        Gate(manager.handle_request, policy, running=manager.run),  # type: ignore[arg-type]  # ASGI's own types are uvicorn's
        http=_PatientProtocol,
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
    _Server(config, handlers).run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, handlers: Handlers) -> None:
        super().__init__(config)
        self._handlers = handlers

    async def main_loop(self) -> None:
        """Run until a signal comes, with the watch beside it."""
        watching = asyncio.ensure_future(self._handlers.watch())
        try:
            await super().main_loop()
        finally:
            watching.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the calls first: what they answer then still reaches their clients."""
        self._handlers.stop()
        closing = asyncio.ensure_future(asyncio.to_thread(self._handlers.close))
        await super().shutdown(sockets)
        await closing
        for _ in range(40):
            if not self._handlers.busy:
                return
            await asyncio.sleep(0.01)


class _PatientProtocol(H11Protocol):
    """Closes a connection that takes too long to say what it wants, and the oldest of too many such."""

    _undecided: ClassVar[dict["_PatientProtocol", asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn says BaseTransport
        super().connection_made(transport)
        self._decide()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._decide()

    def connection_lost(self, exc: Exception | None) -> None:
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
        self.transport.abort()

    def _forget(self) -> None:
        if (timer := self._undecided.pop(self, None)) is not None:
            timer.cancel()
