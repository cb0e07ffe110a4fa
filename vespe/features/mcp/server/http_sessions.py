"""Sessions of the older revisions over HTTP: what is known of each client between two requests."""

import os
from collections.abc import Iterator
from typing import Final

from vespe.features.mcp.server.http_exchange import Exchange
from vespe.features.mcp.server.messages import RequestId
from vespe.features.mcp.server.protocol import ProtocolSession

MAX_SESSIONS: Final = 1000
"""Sessions at once; where there are more, the one that was used longest ago is forgotten, and its
client shakes hands again.
"""


class HttpSession:
    """One client: `protocol` is what it said, `calls` are its requests under way, and `stream` is
    the one that it keeps open for what belongs to no request.
    """

    __slots__ = ("calls", "protocol", "stream")

    def __init__(self, protocol: ProtocolSession) -> None:
        self.protocol = protocol
        self.calls: dict[RequestId, Exchange] = {}
        self.stream: Exchange | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is under way."""
        return self.stream is None and not self.calls


class HttpSessions:
    """The sessions by their ids, the one that was used last at the end."""

    def __init__(self, *, limit: int = MAX_SESSIONS) -> None:
        self._limit = limit
        self._known: dict[str, HttpSession] = {}

    def __iter__(self) -> Iterator[HttpSession]:
        return iter(tuple(self._known.values()))

    def __len__(self) -> int:
        return len(self._known)

    def opened(self, protocol: ProtocolSession) -> str | None:
        """Keep the session of a client that shook hands, and return its id; None where all that
        there is room for have something under way.
        """
        if len(self._known) >= self._limit:
            idle = next((name for name, one in self._known.items() if one.is_idle), None)
            if idle is None:
                return None
            del self._known[idle]
        name = os.urandom(16).hex()
        self._known[name] = HttpSession(protocol)
        return name

    def used(self, name: str | None) -> HttpSession | None:
        """Return the session of an id, which counts as used now; None where there is none."""
        found = None if name is None else self._known.pop(name, None)
        if found is not None and name is not None:
            self._known[name] = found
        return found

    def ended(self, name: str) -> None:
        """Forget a session."""
        self._known.pop(name, None)
