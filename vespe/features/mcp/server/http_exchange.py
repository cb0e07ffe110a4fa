"""One request over HTTP on its way to its answer: JSON where the answer comes soon and alone, else
a stream of events that ends with it.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from vespe.features.mcp.server import messages
from vespe.features.mcp.server.stdio_io import encoded
from vespe.models import JsonObject

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

JSON_S: Final = 0.02
"""How long an answer may take and still be plain JSON."""
PING_S: Final = 15.0
"""A proxy closes a stream on which nothing comes: so often comes a comment."""
_PING: Final = b": ping\n\n"
_MAX_HELD_BYTES: Final = 1024 * 1024
"""What a client has not read yet of a stream."""
_PATIENCE_S: Final = 5.0
"""How long a call waits for a client that does not read; then the message is lost."""
_STREAM: Final[Headers] = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Exchange:
    """What is said to a client in answer to one request. `tell` and `finish` are for every thread,
    `deliver` is for that of the event loop.
    """

    def __init__(self) -> None:
        self._loop, self._own = asyncio.get_running_loop(), threading.get_ident()
        self._event = asyncio.Event()
        self._room = threading.Condition()
        self._held: deque[bytes] = deque()
        self._bytes = 0
        self._answer: JsonObject | None = None
        self.over = False

    def tell(self, message: JsonObject) -> None:
        """Send a notification before the answer; it is lost where the client reads nothing, or has
        gone.
        """
        data = _event(message)
        with self._room:
            if self._own != threading.get_ident():
                self._room.wait_for(self._has_room, _PATIENCE_S)
            if not self._has_room() or self.over:
                return
            self._held.append(data)
            self._bytes += len(data)
        self._wake()

    def finish(self, answer: JsonObject | None) -> None:
        """Send the answer, after everything that was told; None ends the stream without one."""
        if answer is not None and self._answer is None:
            self._answer = answer
        else:
            self.over = True
        self._wake()

    def leave(self) -> None:
        """Send nothing more: the client has gone."""
        with self._room:
            self.over = True
            self._room.notify_all()
        self._wake()

    async def deliver(
        self,
        send: Send,
        headers: Headers,
        *,
        status: Callable[[JsonObject], int],
        at_once: bool,
        json_s: float = JSON_S,
    ) -> None:
        """Send everything that there is to say. `at_once` opens the stream before there is
        anything; else the answer alone is JSON, with the status that `status` says, unless it takes
        longer than `json_s`.
        """
        if not at_once:
            await self._awaited(json_s)
        if self._answer is not None and not self._held:
            text = encoded(self._answer)[:-1]
            return await answer_whole(send, text, headers, status(self._answer))
        if self.over:
            return None
        await _begin(send, headers)
        while True:
            answer = self._answer
            for data in self._taken():
                await _piece(send, data)
            if answer is not None:
                return await _piece(send, _event(answer), more=False)
            if self.over:
                return await _piece(send, b"", more=False)
            if not await self._awaited(PING_S):
                await _piece(send, _PING)

    def _has_room(self) -> bool:
        return self.over or self._bytes < _MAX_HELD_BYTES

    def _wake(self) -> None:
        if self._own == threading.get_ident():
            self._event.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._event.set)

    async def _awaited(self, within_s: float) -> bool:
        """Wait until there is something to send; False where that takes longer."""
        try:
            async with asyncio.timeout(within_s):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True

    def _taken(self) -> list[bytes]:
        with self._room:
            taken, self._bytes = list(self._held), 0
            self._held.clear()
            self._room.notify_all()
        return taken


async def answer_whole(send: Send, body: bytes, headers: Headers, status: int) -> None:
    """Send a whole answer of JSON."""
    own = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": own + headers})
    await send({"type": "http.response.body", "body": body})


async def answer_empty(send: Send, status: int, headers: Headers | None = None) -> None:
    """Send an answer without a body."""
    own = [(b"content-length", b"0"), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": own})
    await send({"type": "http.response.body", "body": b""})


async def answer_refusal(
    send: Send, status: int, reason: str, *, code: int = messages.INVALID_REQUEST
) -> None:
    """Refuse a request by an error that is for no request of the protocol's."""
    body = encoded(messages.failed(None, code, reason))[:-1]
    await answer_whole(send, body, [], status)


async def _begin(send: Send, headers: Headers) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _STREAM + headers})


async def _piece(send: Send, data: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": more})


def _event(message: JsonObject) -> bytes:
    return b"event: message\ndata: " + encoded(message) + b"\n"
