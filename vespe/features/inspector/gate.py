"""Whom the inspector answers: the browser of the person who opened its link, from the inspector's
own pages, and nobody else.
"""

import asyncio
import contextlib
import hmac
import os
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Final, TypeAlias

from vespe.http import asgi
from vespe.http.asgi import Receive, Send
from vespe.models import JsonObject
from vespe.records import dataclass

MAX_BODY_BYTES: Final = 2 * 1024 * 1024
MAX_REQUESTS: Final = 64
"""Requests under way at once."""
COOKIE: Final = "vespe_inspect"
_FORM: Final = "application/x-www-form-urlencoded"
_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Not no-referrer: a browser would then send `Origin: null` with our own forms
    # (https://fetch.spec.whatwg.org/#origin-header).
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_STRANGER: Final = (
    "This page answers only the browser that opened its link, once. "
    "Run `vespe inspect` for a new link.\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """What was asked for, once it is let in: `path` are the words after the room, decoded; `form`
    is None but for a POST.
    """

    path: tuple[str, ...]
    query: Mapping[str, str]
    form: tuple[tuple[str, str], ...] | None = None

    def said(self, name: str) -> str:
        """Return the last value of a field of the form, "" where there is none."""
        return next((value for key, value in reversed(self.form or ()) if key == name), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnswer:
    """What is sent back; `headers` beside those that every answer has."""

    status: int = 200
    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


Pages: TypeAlias = Callable[[PageRequest], Awaitable[PageAnswer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What only the person who opened the inspector knows.

    `link` opens it, once. `room` is the first part of each page's path: a browser sends a cookie to
    every port of a host, but only beneath its path, so that another server on this machine never
    sees it. `token` is in each form.
    """

    link: str = field(default_factory=lambda: _random())
    room: str = field(default_factory=lambda: _random())
    cookie: str = field(default_factory=lambda: _random())
    token: str = field(default_factory=lambda: _random())


class Gate:
    """The ASGI application in front of the pages: what it refuses, they never hear of. `authority`
    is HOST:PORT, exactly.
    """

    def __init__(self, pages: Pages, authority: str, secrets: Secrets) -> None:
        self._pages, self._authority, self._secrets = pages, authority, secrets
        self._origin = f"http://{authority}"
        self._link_is_unused = True
        self._under_way = 0

    async def __call__(self, scope: JsonObject, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            return await asgi.live(receive, send)
        if scope["type"] != "http":
            return None
        self._under_way += 1
        try:
            answer = await self._answer(scope, receive)
        finally:
            self._under_way -= 1
        return await _send(answer, send, with_body=scope["method"] != "HEAD")

    async def _answer(self, scope: JsonObject, receive: Receive) -> PageAnswer:
        headers = _single(scope["headers"])
        if refused := self._refusal(scope, headers):
            return refused
        if self._opens(scope):
            self._link_is_unused = False
            cookie = (
                f"{COOKIE}={self._secrets.cookie}; Path=/{self._secrets.room}/; HttpOnly; "
                "SameSite=Strict"
            )
            return PageAnswer(
                status=303, headers={"location": f"/{self._secrets.room}/", "set-cookie": cookie}
            )
        words = _words(scope)
        if words is None or not self._knows(words[0], headers.get("cookie", "")):
            return _said(403, _STRANGER)
        request = PageRequest(path=words[1:], query=dict(_pairs(scope["query_string"])))
        if scope["method"] != "POST":
            return await self._pages(request)
        form = await self._form(headers, receive)
        if isinstance(form, PageAnswer):
            return form
        posted = PageRequest(path=request.path, query=request.query, form=form)
        if not _same(posted.said("token"), self._secrets.token):
            return _said(
                403,
                "This form does not come from this inspector. "
                "Open the page again and send the form from there.\n",
            )
        return await _unless_gone(self._pages(posted), receive)

    def _refusal(self, scope: JsonObject, headers: Mapping[str, str]) -> PageAnswer | None:
        """Say why a request is turned away by what any page may know of it: where it is sent, where
        it comes from, and how.
        """
        if headers.get("host") != self._authority:
            return _said(421, "This server answers requests for one Host only.\n")
        method, origin = scope["method"], headers.get("origin")
        if origin not in (None, self._origin) or headers.get("sec-fetch-site", "none") not in (
            "none",
            "same-origin",
        ):
            return _said(
                403,
                "This server does not answer requests from other pages. "
                "Paste the link into the address bar.\n",
            )
        if method not in ("GET", "HEAD", "POST"):
            return PageAnswer(
                status=405,
                body=b"GET, HEAD or POST\n",
                kind=_PLAIN,
                headers={"allow": "GET, HEAD, POST"},
            )
        if "upgrade" in headers:
            return _said(400, "This server speaks only HTTP.\n")
        if self._under_way > MAX_REQUESTS:
            return _said(503, "Too many requests at the same time.\n")
        if method == "POST" and origin is None:
            return _said(403, "A form must have an Origin header.\n")
        if (
            method == "POST"
            and headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM
        ):
            return _said(415, f"A form must be sent as {_FORM}.\n")
        return None

    def _opens(self, scope: JsonObject) -> bool:
        is_link = scope["method"] == "GET" and _same(
            scope["raw_path"].decode("latin-1"), f"/{self._secrets.link}"
        )
        return is_link and self._link_is_unused

    def _knows(self, room: str, cookies: str) -> bool:
        given = (cookie.strip().partition("=") for cookie in cookies.split(";"))
        known = [_same(value, self._secrets.cookie) for name, _, value in given if name == COOKIE]
        return _same(room, self._secrets.room) and any(known)

    async def _form(
        self, headers: Mapping[str, str], receive: Receive
    ) -> tuple[tuple[str, str], ...] | PageAnswer:
        declared = headers.get("content-length", "0")
        try:
            body = await asgi.read_body(
                receive,
                declared=int(declared) if declared.isdecimal() else MAX_BODY_BYTES + 1,
                limit=MAX_BODY_BYTES,
            )
        except asgi.BodyRefused as refused:
            return _said(refused.status, f"{refused.reason}\n", connection="close")
        try:
            return _pairs(body)
        except ValueError as error:
            return _said(400, f"The form cannot be read: {error}.\n")


_PLAIN: Final = "text/plain; charset=utf-8"
_MAX_FIELDS: Final = 1000


def _said(status: int, text: str, **headers: str) -> PageAnswer:
    return PageAnswer(status=status, body=text.encode(), kind=_PLAIN, headers=headers)


def _random() -> str:
    return os.urandom(32).hex()


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _single(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers by name; cookies may come in several."""
    cookies = "; ".join(value.decode("latin-1") for name, value in headers if name == b"cookie")
    found = {name.decode("latin-1"): value for name, value in asgi.single(headers).items()}
    return found | ({"cookie": cookies} if cookies else {})


def _words(scope: JsonObject) -> tuple[str, ...] | None:
    """Return the parts of a path, each decoded once and by itself; None for what no page of ours
    links to.
    """
    parts = scope["raw_path"].decode("latin-1").split("/")[1:]
    try:
        words = tuple(urllib.parse.unquote(part, errors="strict") for part in parts)
    except UnicodeDecodeError:
        return None
    return None if any(word in (".", "..") for word in words) else words


def _pairs(text: bytes) -> tuple[tuple[str, str], ...]:
    """Return the pairs of a query or a form; raises ValueError for more fields than there may
    be.
    """
    found = urllib.parse.parse_qsl(
        text.decode("latin-1"), keep_blank_values=True, errors="replace", max_num_fields=_MAX_FIELDS
    )
    return tuple(found)


async def _unless_gone(answering: Awaitable[PageAnswer], receive: Receive) -> PageAnswer:
    """Wait for an answer, and end what it waits for where the browser hangs up meanwhile."""
    task = asyncio.ensure_future(answering)
    gone = asyncio.ensure_future(asgi.hung_up(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            return await task
        return _said(499, "The browser closed the connection.\n")
    finally:
        gone.cancel()


async def _send(answer: PageAnswer, send: Send, *, with_body: bool) -> None:
    headers: dict[str, Any] = {
        **_HEADERS,
        "content-type": answer.kind,
        "content-length": str(len(answer.body)),
        **answer.headers,
    }
    raw = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    await send({"type": "http.response.body", "body": answer.body if with_body else b""})
