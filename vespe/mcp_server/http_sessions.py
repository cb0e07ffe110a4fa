"""Sessions of the older revisions: what the SDK keeps for one is some 40 KiB, so that it keeps only few of those that are idle.

One that sleeps is what its client said to open it, which is said to the SDK again when the client comes back.
"""

import asyncio
from typing import Final

from vespe.mcp_server.http_gate import GONE, MESSAGE, App, Receive, Scope, Send, replayed

MAX_SESSIONS: Final = 1000
"""Sessions at once; where there are more, the one that slept longest is forgotten, and its client shakes hands again."""
_AWAKE: Final = 32
_MAX_KEPT_BYTES: Final = 8 * 1024
"""A session with more than that to say again never sleeps."""
_KEPT: Final = ("notifications/initialized", "logging/setLevel")
"""What changes a session, in the order in which it is said again."""
_ID: Final = b"mcp-session-id"
_OF_REQUEST: Final = frozenset((_ID, b"content-length", b"content-type", b"accept", b"last-event-id"))


class _Session:
    """`own` is the id that the SDK has for it now, None while it sleeps; `kept` what opened and changed it, by method."""

    __slots__ = ("busy", "kept", "own", "waking")

    def __init__(self, own: bytes, handshake: bytes) -> None:
        self.own: bytes | None = own
        self.kept = {"initialize": handshake}
        self.waking = asyncio.Lock()
        self.busy = 0


class Sessions:
    """The ASGI application around the SDK's; of sessions without a request under way (an open stream is one) `awake` are kept by it."""

    def __init__(self, app: App, *, limit: int = MAX_SESSIONS, awake: int = _AWAKE) -> None:
        self._app, self._limit, self._awake = app, limit, awake
        self._known: dict[bytes, _Session] = {}
        self._idle: dict[_Session, None] = {}
        """Those that are awake and may sleep, the one that was used last at the end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request that the gate let in."""
        body, message = scope[MESSAGE]
        said = message.get("method") if isinstance(message, dict) else None
        name = dict(scope["headers"]).get(_ID)
        if name in self._known:
            return await self._served(name, scope, receive, send, said=(said, body))
        opened = _Answered(send)
        await self._app(scope, receive, opened)
        if said == "initialize" and opened.session is not None and opened.status == 200:
            self._known[opened.session] = _Session(opened.session, body)
            await self._rest(self._known[opened.session], scope)

    async def _served(self, name: bytes, scope: Scope, receive: Receive, send: Send, *, said: tuple[str | None, bytes]) -> None:
        session = self._known[name]
        session.busy += 1
        self._idle.pop(session, None)
        answered = _Answered(send, name)
        try:
            async with session.waking:
                if session.own is None:
                    session.own = await self._woken(session, scope)
            headers = [(key, session.own or value) if key == _ID else (key, value) for key, value in scope["headers"]]
            await self._app({**scope, "headers": headers}, receive, answered)
        finally:
            session.busy -= 1
        if answered.status == 404 or (scope["method"] == "DELETE" and answered.status == 200):
            self._known.pop(name, None)
        elif said[0] in _KEPT:
            session.kept[said[0]] = said[1]
        await self._rest(session, scope)

    async def _woken(self, session: _Session, scope: Scope) -> bytes | None:
        """Open a session with the SDK again; return the id that it has there, None where it is refused."""
        own = (await self._asked(scope, "POST", None, session.kept["initialize"])).session
        for method in _KEPT:
            if own is not None and method in session.kept:
                await self._asked(scope, "POST", own, session.kept[method])
        return own

    async def _rest(self, session: _Session, scope: Scope) -> None:
        """Take note that a session has been used, let those sleep that were used longest ago, and forget whom there is no room for."""
        if not session.busy and session.own is not None and sum(map(len, session.kept.values())) <= _MAX_KEPT_BYTES:
            self._idle[session] = None
        while len(self._idle) > self._awake:
            oldest = next(iter(self._idle))
            del self._idle[oldest]
            own, oldest.own = oldest.own, None
            await self._asked(scope, "DELETE", own)
        if len(self._known) > self._limit:
            asleep = next((name for name, one in self._known.items() if one.own is None and not one.busy), None)
            if asleep is not None:
                del self._known[asleep]

    async def _asked(self, scope: Scope, method: str, own: bytes | None, body: bytes = b"") -> "_Answered":
        """Ask the SDK as the client of a request could; return its answer."""
        kept = [(key, value) for key, value in scope["headers"] if key not in _OF_REQUEST]
        plain = [(b"content-type", b"application/json"), (b"accept", b"application/json, text/event-stream")]
        known = [] if own is None else [(_ID, own)]
        gone, answered = asyncio.Event(), _Answered(None)
        headers = [*kept, *plain, *known, (b"content-length", b"%d" % len(body))]
        await self._app({**scope, "method": method, "headers": headers, GONE: gone}, replayed(body, gone), answered)
        return answered


class _Answered:
    """Sends an answer on, with `name` as the session that it is of, and notes its status and the session that the SDK said."""

    def __init__(self, send: Send | None, name: bytes | None = None) -> None:
        self._send, self._name = send, name
        self.status, self.session = 0, None

    async def __call__(self, message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))  # type: ignore[call-overload]  # as ASGI has them
            self.status, self.session = int(str(message["status"])), dict(headers).get(_ID)
            if self._name is not None:
                headers = [(key, self._name if key == _ID else value) for key, value in headers]
            message = {**message, "headers": headers}
        if self._send is not None:
            await self._send(message)
