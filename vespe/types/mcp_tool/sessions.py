"""Sessions with MCP servers that are kept between calls, in a process that lives: who owns them,
and when each ends.
"""

import threading
import time
from collections.abc import Hashable
from types import TracebackType
from typing import TYPE_CHECKING, Final

from vespe.errors import Interrupted
from vespe.models import JsonObject
from vespe.processes.kept_contexts import KeptContexts

if TYPE_CHECKING:
    from vespe.types.mcp_tool import channel as mcp_channel
    from vespe.types.mcp_tool.exchange import Answer, Server, Surroundings

MAX_SESSIONS: Final = 8
IDLE_S: Final = 300.0
_FAREWELL_S: Final = 0.3
_CLOSE_S: Final = 1.2


class Sessions:
    """One session for each server as its tools see it, opened at the first call; safe to share
    between threads.

    A session that nobody used for `idle_s` seconds ends, and at most `most` are kept beside those
    that are in use. Whoever makes one of these closes it: `close`, or as a context manager.
    `contexts` are left when they have ended.
    """

    def __init__(self, *, most: int = MAX_SESSIONS, idle_s: float = IDLE_S) -> None:
        from vespe.types.mcp_tool import channel as mcp_channel

        self.contexts = KeptContexts()
        self._most, self._idle_s = most, idle_s
        self._lock = threading.Lock()
        self._kept: dict[Hashable, mcp_channel.Channel] = {}
        self._retired: list[mcp_channel.Channel] = []
        self._closed = False

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
    ) -> "Answer":
        """Make a call in the session with this server; otherwise as `mcp_exchange.ask`, and
        SessionEnded.

        Where a session turns out to be over before the call was sent, another is opened: no call is
        ever sent twice.
        """
        from vespe.types.mcp_tool import channel as mcp_channel
        from vespe.types.mcp_tool import exchange

        until = time.monotonic() + surroundings.timeout_s
        patience = mcp_channel.Patience(
            until=until,
            timeout_s=surroundings.timeout_s,
            cancel=surroundings.cancel,
            name=name,
            kit=kit,
        )
        while True:
            channel, fresh = self._taken(server, surroundings, name)
            try:
                with exchange.telling():
                    return channel.ask(request, patience)
            except mcp_channel.Unsent as lost:
                self._retire(channel)
                if fresh:
                    with exchange.telling():
                        raise lost.error from None
            finally:
                channel.leave()

    def close(self) -> None:
        """End every session with all its processes, and wait for that; calls that are on their way
        fail, and none is made any more.
        """
        with self._lock:
            self._closed = True
            channels = [*self._kept.values(), *self._retired]
        for channel in channels:
            channel.close(farewell_s=_FAREWELL_S)
        until = time.monotonic() + _CLOSE_S
        for channel in channels:
            channel.wait(max(until - time.monotonic(), 0))
        self.contexts.close()

    def _taken(
        self, server: "Server", surroundings: "Surroundings", name: str
    ) -> "tuple[mcp_channel.Channel, bool]":
        """Return the session for a call, reserved, and whether it is new; the one that was used
        last stands last.
        """
        from vespe.types.mcp_tool import channel as mcp_channel

        key = _key(server, surroundings)
        with self._lock:
            if self._closed:
                raise Interrupted(f"{name} was not called: the sessions of this process are closed")
            channel = self._kept.pop(key, None)
            if channel is not None and channel.take():
                self._kept[key] = channel
                return channel, False
            if channel is not None:
                self._retired.append(channel)
            self._tidy()
            channel = mcp_channel.Channel(server, surroundings, idle_s=self._idle_s)
            channel.take()
            self._kept[key] = channel
            return channel, True

    def _tidy(self) -> None:
        """Make room for one more, and forget those of which nothing is left."""
        self._retired = [channel for channel in self._retired if not channel.wait(0)]
        for key, channel in list(self._kept.items()):
            if len(self._kept) < self._most:
                return
            if channel.retire(idle_only=True):
                self._retired.append(self._kept.pop(key))

    def _retire(self, channel: "mcp_channel.Channel") -> None:
        """Make no more calls in a session; those that are on their way in it go on."""
        channel.retire()
        with self._lock:
            self._kept = {key: kept for key, kept in self._kept.items() if kept is not channel}
            if channel not in self._retired:
                self._retired.append(channel)


def _key(server: "Server", surroundings: "Surroundings") -> Hashable:
    """Return what makes two servers one."""
    return (
        server.command,
        server.url,
        tuple(sorted(server.headers.items())),
        surroundings.directory,
        tuple(sorted(surroundings.environment.items())),
        surroundings.allow_hosts,
        surroundings.sandbox and (surroundings.sandbox.level, surroundings.sandbox.stated),
    )
