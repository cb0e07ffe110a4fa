"""Sessions of the older revisions: what the SDK keeps for one is some 40 KiB, so that it keeps only
few of those that are idle.

One that sleeps is what its client said to open it, which is said to the SDK again when the client
comes back.
"""

import asyncio
from typing import Final

from vespe.features.mcp.server import revisions
from vespe.features.mcp.server.http_gate import GONE, MESSAGE, App, Receive, Scope, Send, replayed

MAX_SESSIONS: Final = 1000
"""Sessions at once; where there are more, the one that slept longest is forgotten, and its client
shakes hands again.
"""
_AWAKE: Final = 32
_MAX_KEPT_BYTES: Final = 8 * 1024
"""A session with more than that to say again is left to the SDK."""
_KEPT: Final = ("notifications/initialized", "logging/setLevel")
"""What changes a session, in the order in which it is said again."""
_ID: Final = b"mcp-session-id"
_REVISION: Final = b"mcp-protocol-version"
_OF_REQUEST: Final = frozenset(
    (_ID, b"content-length", b"content-type", b"accept", b"last-event-id", _REVISION)
)


class _Session:
    """`own` is the id that the SDK has for it now, None while it sleeps; `kept` what opened and
    changed it, by method.
    """

    __slots__ = ("busy", "kept", "own", "waking")

    def __init__(self, own: bytes, handshake: bytes) -> None:
        self.own: bytes | None = own
        self.kept = {"initialize": handshake}
        self.waking = asyncio.Lock()
        self.busy = 0


class HttpSessions:
    """The ASGI application around the SDK's; of sessions without a request under way (an open
    stream is one) `awake` are kept by it.
    """

    def __init__(self, app: App, *, limit: int = MAX_SESSIONS, awake: int = _AWAKE) -> None:
        self._app, self._limit, self._awake = app, limit, awake
        self._known: dict[bytes, _Session] = {}
        """By the id that the client has; those that sleep stand in the order in which they fell
        asleep.
        """
        self._idle: dict[bytes, _Session] = {}
        """Those that are awake and may sleep, the one that was used last at the end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request that the gate let in."""
        body, message = scope[MESSAGE]
        said = message.get("method") if isinstance(message, dict) else None
        headers = dict(scope["headers"])
        name, revision = headers.get(_ID), headers.get(_REVISION)
        if name in self._known and (
            revision is None or revision.decode("latin-1") in revisions.HANDSHAKE
        ):
            return await self._served(name, scope, send)
        opened = _Answered(send)
        await self._app(scope, receive, opened)
        if (
            said == "initialize"
            and opened.session is not None
            and opened.status == 200
            and len(body) <= _MAX_KEPT_BYTES
        ):
            self._known[opened.session] = session = _Session(opened.session, body)
            await self._rest(opened.session, session, scope)

    async def _served(self, name: bytes, scope: Scope, send: Send) -> None:
        session, status = self._known[name], 0
        session.busy += 1
        self._idle.pop(name, None)
        try:
            status = await self._answered(name, session, scope, send)
        finally:
            session.busy -= 1
            self._note(name, session, scope, status)
            await self._rest(name, session, scope)

    async def _answered(self, name: bytes, session: _Session, scope: Scope, send: Send) -> int:
        """Let the SDK answer, and return the status; a session that it had ended for being idle is
        opened again, once.

        With 404 it says that it took nothing of the request, so that nothing is done twice.
        """
        while True:
            async with session.waking:
                was_awake = session.own is not None
                own = session.own = session.own or await self._woken(session, scope)
            headers = [
                (key, own or value) if key == _ID else (key, value)
                for key, value in scope["headers"]
            ]
            answered = _Answered(send, name, unsent=404 if was_awake else None)
            await self._app(
                {**scope, "headers": headers}, replayed(scope[MESSAGE][0], scope[GONE]), answered
            )
            if answered.status != 404 or not was_awake:
                return answered.status
            if session.own == own:
                session.own = None

    def _note(self, name: bytes, session: _Session, scope: Scope, status: int) -> None:
        """Take note of what a request that was answered so has changed."""
        body, message = scope[MESSAGE]
        said = message.get("method") if isinstance(message, dict) else None
        if status == 404 or (scope["method"] == "DELETE" and status == 200):
            self._known.pop(name, None)
            session.own = None
        elif said in _KEPT and status in (200, 202):
            session.kept[said] = body
            if sum(map(len, session.kept.values())) > _MAX_KEPT_BYTES:
                self._known.pop(name, None)

    async def _woken(self, session: _Session, scope: Scope) -> bytes | None:
        """Open a session with the SDK again; return the id that it has there, None where it is
        refused.
        """
        own = (await self._asked(scope, "POST", None, session.kept["initialize"])).session
        for method in _KEPT:
            if own is not None and method in session.kept:
                await self._asked(scope, "POST", own, session.kept[method])
        return own

    async def _rest(self, name: bytes, session: _Session, scope: Scope) -> None:
        """Take note that a session has been used, let those sleep that were used longest ago, and
        forget whom there is no room for.
        """
        if not session.busy and session.own is not None and self._known.get(name) is session:
            self._idle[name] = session
        while len(self._idle) > self._awake:
            name = next(iter(self._idle))
            del self._idle[name]
            oldest = self._known[name] = self._known.pop(name)
            own, oldest.own = oldest.own, None
            await self._asked(scope, "DELETE", own)
        if len(self._known) > self._limit:
            asleep = next(
                (name for name, one in self._known.items() if one.own is None and not one.busy),
                None,
            )
            if asleep is not None:
                del self._known[asleep]

    async def _asked(
        self, scope: Scope, method: str, own: bytes | None, body: bytes = b""
    ) -> "_Answered":
        """Ask the SDK as the client of a request could; return its answer."""
        kept = [(key, value) for key, value in scope["headers"] if key not in _OF_REQUEST]
        plain = [
            (b"content-type", b"application/json"),
            (b"accept", b"application/json, text/event-stream"),
        ]
        known = [] if own is None else [(_ID, own)]
        gone, answered = asyncio.Event(), _Answered(None)
        headers = [*kept, *plain, *known, (b"content-length", b"%d" % len(body))]
        await self._app(
            {**scope, "method": method, "headers": headers, GONE: gone},
            replayed(body, gone),
            answered,
        )
        return answered


class _Answered:
    """Sends an answer on, with `name` as the session that it is of, and notes its status and the
    session that the SDK said.

    One of the status `unsent` is only noted.
    """

    def __init__(
        self, send: Send | None, name: bytes | None = None, *, unsent: int | None = None
    ) -> None:
        self._send, self._name, self._unsent = send, name, unsent
        self.status, self.session = 0, None

    async def __call__(self, message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))  # type: ignore[call-overload]  # as ASGI has them
            self.status, self.session = int(str(message["status"])), dict(headers).get(_ID)
            if self._name is not None:
                headers = [(key, self._name if key == _ID else value) for key, value in headers]
            message = {**message, "headers": headers}
        if self._send is not None and self.status != self._unsent:
            await self._send(message)
