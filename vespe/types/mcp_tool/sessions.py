"""Sessions with MCP servers that are kept between calls, in a process that lives."""

import functools
import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Final

from vespe.errors import Interrupted
from vespe.models import JsonObject
from vespe.processes.keeper import Closed, Keeper, Terms

if TYPE_CHECKING:
    from vespe.types.mcp_tool.channel import Channel
    from vespe.types.mcp_tool.exchange import Server, SessionAnswer, Surroundings

MAX_SESSIONS: Final = 8
IDLE_S: Final = 300.0


class Sessions:
    """One session for each server as its tools see it, opened at the first call; safe to share
    between threads.

    A session that nobody used for `idle_s` seconds ends, and at most `most` are kept beside those
    that are in use. Whoever makes one of these closes it: `close`, or as a context manager.
    """

    def __init__(self, *, most: int = MAX_SESSIONS, idle_s: float = IDLE_S) -> None:
        self._kept: Keeper[Channel] = Keeper(most=most, use="shared")
        self._terms = Terms(max_idle_s=idle_s)

    def __enter__(self) -> "Sessions":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def ask(
        self,
        server: "Server",
        request: JsonObject,
        surroundings: "Surroundings",
        *,
        name: str,
        kit: str,
    ) -> "SessionAnswer":
        """Make a call in the session with this server; otherwise as `mcp_exchange.ask`, and
        SessionEnded.

        Where a session turns out to be over before the call was sent, another is opened: no call is
        ever sent twice.
        """
        from vespe.types.mcp_tool import channel as mcp_channel
        from vespe.types.mcp_tool import exchange

        patience = mcp_channel.CallPatience(
            until=time.monotonic() + surroundings.timeout_s,
            timeout_s=surroundings.timeout_s,
            cancel=surroundings.cancel,
            questions=surroundings.questions,
            name=name,
            kit=kit,
        )
        key, is_new = _key(server, surroundings), False
        make = functools.partial(mcp_channel.Channel, server, surroundings)
        while True:
            try:
                lent = self._kept.borrow(key, make, terms=self._terms)
                with lent as (channel, is_new), exchange.telling():
                    return channel.ask(request, patience)
            except Closed:
                raise Interrupted(
                    f"{name} was not called: the sessions of this process are closed"
                ) from None
            except mcp_channel.Unsent as lost:
                if is_new:
                    with exchange.telling():
                        raise lost.error from None

    def enter(self, key: Hashable, make: Callable[[], AbstractContextManager[str]]) -> str:
        """Return what the context of a key gave: entered once, and left when the sessions have been
        closed.
        """
        return self._kept.enter(key, make)

    def close(self) -> None:
        """End every session with all its processes, and wait for that; calls that are on their way
        fail, and none is made any more.
        """
        self._kept.close(for_good=True)


def _key(server: "Server", surroundings: "Surroundings") -> Hashable:
    """Return what makes two servers one."""
    return (
        server.command,
        server.url,
        tuple(sorted(server.headers.items())),
        server.handshake,
        surroundings.directory,
        tuple(sorted(surroundings.environment.items())),
        surroundings.allow_hosts,
        # a server is told once whether anybody can be asked
        surroundings.questions is not None,
        surroundings.sandbox and (surroundings.sandbox.level, surroundings.sandbox.stated),
    )
