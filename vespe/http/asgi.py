"""What the servers of ASGI here have in common: how a request's headers and body are read, and how
a client's leaving is noticed.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeAlias

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

TWICE: Final = "\0"
"""The value of a header that came twice: no header has it, so that it is as good as none."""
BODY_S: Final = 20.0
_THROWN: Final = 16
"""Of a body that is too large, at most so many times what is allowed is read and thrown away."""
_LULL_S: Final = 0.5


class BodyRefused(Exception):
    """A body that is not taken: the status that says so, and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def single(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, str]:
    """Return the headers by their names in lower case, as ASGI has them; of those that came twice,
    only that.
    """
    found: dict[bytes, str] = {}
    for name, value in headers:
        found[name] = value.decode("latin-1") if name not in found else TWICE
    return found


async def read_body(
    receive: Receive, *, declared: int, limit: int, waits: bool = False, seconds: float = BODY_S
) -> bytes:
    """Read a body of at most `limit` bytes, within some seconds in all; raises BodyRefused.

    `declared` is how many bytes the client says that it has, 0 where it says nothing; `waits` is
    for one that asks whether to send them.
    """
    if declared > limit:
        raise await _too_large(receive, limit, waits=waits)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > limit:
                    raise await _too_large(receive, limit, waits=not message.get("more_body"))
                if message["type"] == "http.disconnect":
                    # what came so far may be a whole request that nobody meant
                    raise BodyRefused(400, "the body ended early")
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise BodyRefused(408, f"the body did not come within {seconds:g} s") from None


async def _too_large(receive: Receive, limit: int, *, waits: bool) -> BodyRefused:
    """Return the refusal, once what is on its way is thrown away: who is cut off while still
    sending never reads the answer. `waits` says that the client sends nothing more.
    """
    thrown = 0
    with contextlib.suppress(TimeoutError):
        while not waits and thrown < _THROWN * limit:
            async with asyncio.timeout(_LULL_S):
                message = await receive()
            thrown += len(message.get("body", b""))
            waits = not message.get("more_body")
    return BodyRefused(413, f"a body is at most {limit} bytes")


async def hung_up(receive: Receive) -> None:
    """Wait until the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def live(receive: Receive, send: Send) -> None:
    """Answer for the life of a server: nothing is to be done when it begins or ends."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})
