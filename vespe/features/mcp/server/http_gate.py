"""What an HTTP request must be before anything reads what it says: from this machine, for this
server, by its owner, and small.
"""

import hmac
import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Protocol

from vespe.documents import strict_json
from vespe.errors import InvalidDocument
from vespe.features.mcp.server import messages
from vespe.features.mcp.server.http_endpoint import AdmittedRequest
from vespe.features.mcp.server.request_headers import Headers
from vespe.http import asgi
from vespe.http.asgi import Receive, Scope, Send
from vespe.http.short_requests import ShortRequest
from vespe.models import JsonObject
from vespe.records import dataclass

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
MAX_REQUESTS: Final = 512
"""Requests under way at once, the open streams of clients among them."""
_PORT: Final = r"(?::[0-9]{1,5})?"
_LOOPBACK: Final = re.compile(rf"(?:127\.0\.0\.1|localhost|\[::1\]){_PORT}", re.IGNORECASE)
_ANY_HOST: Final = re.compile(
    rf"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{{0,252}})|\[[0-9A-Fa-f:.]{{2,45}}\]){_PORT}"
)
_ORIGIN: Final = re.compile(r"https?://(?P<authority>[^/?#@\s]{1,300})", re.IGNORECASE)
_KEPT_BACK: Final = (b"authorization", b"proxy-authorization", b"cookie")
_JSON: Final = re.compile(
    r"application/json(?:[ \t]*;[ \t]*charset=\"?utf-8\"?)?[ \t]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """Who is let in: with a `token` only who says it; `remote` lets other hosts' names through than
    this machine's own.
    """

    token: str | None
    remote: bool = False
    path: str = "/mcp"


class GuardedEndpoint(Protocol):
    """What stands behind the gate."""

    async def serve(self, request: AdmittedRequest, send: Send) -> None:
        """Answer one request that was let in."""
        ...

    def answer_at_once(self, headers: Headers, message: JsonObject, size: int) -> bytes | None:
        """Return the JSON text of an answer that takes no time; None for all else, for which
        nothing was done.
        """
        ...


class Gate:
    """The ASGI application in front of the protocol: what is refused here is never parsed, and no
    tool hears of it. The client's own credentials are taken off.
    """

    def __init__(self, endpoint: GuardedEndpoint, policy: AccessPolicy) -> None:
        self._endpoint, self._policy = endpoint, policy
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            return await asgi.live(receive, send)
        if scope["type"] != "http":
            return None
        headers = asgi.single(scope["headers"])
        refused = self._refusal(scope["method"], scope["path"], headers)
        if refused is not None:
            return await refused.send(send)
        if scope["path"] == "/health":
            return await _Answer(200, {"status": "ok"}).send(send)
        self._open += 1
        try:
            return await self._admitted(scope, headers, receive, send)
        finally:
            self._open -= 1

    def answer_short(self, request: ShortRequest) -> bytes | None:
        """Return the JSON text that answers a request at once; None for one that is refused, or
        needs more than its answer.
        """
        if self._refusal("POST", request.path, request.headers) is not None:
            return None
        try:
            message = strict_json.parse_json(request.body, limit=MAX_BODY_BYTES)
        except InvalidDocument:
            return None
        return (
            self._endpoint.answer_at_once(request.headers, message, len(request.body))
            if isinstance(message, dict)
            else None
        )

    async def _admitted(
        self, scope: Scope, headers: Mapping[bytes, str | None], receive: Receive, send: Send
    ) -> None:
        body, message = b"", None
        if scope["method"] == "POST":
            waits = (headers.get(b"expect") or "").lower() == "100-continue"
            try:
                body = await asgi.read_body(
                    receive, declared=_declared(headers), limit=MAX_BODY_BYTES, waits=waits
                )
            except asgi.BodyRefused as refused:
                answer = _Answer(refused.status, _said(refused.reason), {"connection": "close"})
                return await answer.send(send)
            try:
                message = strict_json.parse_json(body, limit=MAX_BODY_BYTES)
            except InvalidDocument as error:
                return await _Answer(
                    400, messages.failed(None, messages.PARSE_ERROR, f"the body {error.reason}")
                ).send(send)
        kept = {name: value for name, value in headers.items() if name not in _KEPT_BACK}
        request = AdmittedRequest(
            method=scope["method"],
            headers=kept,
            message=message,
            size=len(body),
            hung_up=partial(asgi.hung_up, receive),
        )
        return await self._endpoint.serve(request, send)

    def _refusal(
        self, method: str, path: str, headers: Mapping[bytes, str | None]
    ) -> "_Answer | None":
        """Say why a request is turned away; the order is that of what it may learn: first where it
        came from, then who it is.
        """
        host, origin = headers.get(b"host"), headers.get(b"origin")
        hosts = _ANY_HOST if self._policy.remote else _LOOPBACK
        if host is None or not hosts.fullmatch(host):
            return _Answer(421, _said("this server does not accept that Host header"))
        if origin is not None and not self._is_own(origin, host):
            return _Answer(
                403, _said("this server does not accept requests from pages of that Origin")
            )
        if path == "/health":
            return (
                None
                if method in ("GET", "HEAD")
                else _Answer(405, _said("GET only"), {"allow": "GET"})
            )
        if not self._knows(headers.get(b"authorization")):
            return _Answer(
                401,
                _said("this server requires its token: Authorization: Bearer TOKEN"),
                {"www-authenticate": "Bearer"},
            )
        if path != self._policy.path:
            return _Answer(404, _said(f"the only paths here are {self._policy.path} and /health"))
        if method not in ("GET", "POST", "DELETE"):
            return _Answer(405, _said("POST, GET or DELETE"), {"allow": "POST, GET, DELETE"})
        if method == "POST" and not _JSON.fullmatch(headers.get(b"content-type") or ""):
            return _Answer(415, _said("the body must be application/json"))
        if self._open >= MAX_REQUESTS:
            return _Answer(
                503, _said("too many requests are being processed"), {"retry-after": "1"}
            )
        return None

    def _is_own(self, origin: str, host: str) -> bool:
        found = _ORIGIN.fullmatch(origin)
        if found is None:
            return False
        return bool(_LOOPBACK.fullmatch(found["authority"])) or (
            self._policy.remote and found["authority"].lower() == host.lower()
        )

    def _knows(self, given: str | None) -> bool:
        if self._policy.token is None:
            return True
        scheme, _, token = (given or "").partition(" ")
        same = hmac.compare_digest(
            token.strip().encode("utf-8", "replace"), self._policy.token.encode("utf-8")
        )
        return same and scheme.lower() == "bearer"


class _Answer:
    """A whole answer of the gate's own; a document may be written already."""

    def __init__(
        self,
        status: int,
        document: Mapping[str, Any] | bytes,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._status, self._document, self._headers = status, document, headers or {}

    async def send(self, send: Send) -> None:
        body = (
            self._document
            if isinstance(self._document, bytes)
            else json.dumps(self._document).encode("ascii")
        )
        own = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "cache-control": "no-store",
        }
        headers = [
            (name.encode("ascii"), value.encode("ascii"))
            for name, value in (own | dict(self._headers)).items()
        ]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _said(reason: str) -> dict[str, Any]:
    return messages.failed(None, messages.INVALID_REQUEST, reason)


def _declared(headers: Mapping[bytes, str | None]) -> int:
    length = headers.get(b"content-length")
    return int(length) if length and length.isascii() and length.isdigit() else 0
