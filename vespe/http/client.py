"""One HTTP exchange, bounded in time, bytes and reach: to judged addresses alone, over connections
that many calls share.
"""

import atexit
import functools
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, cast

from vespe import defaults
from vespe.errors import InvalidArguments, Refused, ToolExecutionError
from vespe.http import bodies, sockets
from vespe.http.addresses import Url, is_listed, parse_url

# httpcore2 without httpx2: its pool, TLS and HTTP/1.1 are all that is needed here; a process that
# makes one request takes 98 ms with it and 143 ms with httpx2, which would add URL, proxy and
# .netrc rules to switch off again.
from vespe.lazy import httpcore2, pattern, ssl, urls
from vespe.records import dataclass

MAX_REDIRECTS: Final = 5
_KEPT_CONNECTIONS: Final = 16
_KEPT_FOR_S: Final = 5.0
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_UNSENDABLE: Final = pattern(r"[\0\r\n\f\v]|^[ \t]|[ \t]\Z")
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_CREDENTIALS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to send. `private` names, lowercased, the headers besides the usual ones that carry
    credentials.

    `hosts` are the only ones (`host` or `host:port`) that a redirect may lead to; None for any.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    private: frozenset[str] = frozenset()
    hosts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back: header names lowercased, the body decoded and whole, the URL that answered
    after redirects.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str

    def header(self, name: str) -> str | None:
        """Return the first value of a header, named in lower case, or None."""
        return next((value for key, value in self.headers if key == name), None)


class Opened:
    """An answer whose body is still to come: `status`, header names lowercased, and `pieces` of the
    body, decompressed.

    `framed` tells that the body's end was announced, so that a connection that breaks before it is
    noticed.
    """

    def __init__(
        self,
        answer: "httpcore2.Response",
        *,
        host: str,
        limits: sockets.ExchangeLimits,
        max_bytes: int,
    ) -> None:
        self.status: int = answer.status
        self.headers = tuple(
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in answer.headers
        )
        names = {name: value.lower() for name, value in self.headers}
        self.framed = "content-length" in names or "chunked" in names.get("transfer-encoding", "")
        self._host, self._limits = host, limits
        self._body = bodies.pieces(
            self._chunks(answer), self.headers, host=host, max_bytes=max_bytes
        )

    @property
    def pieces(self) -> Iterator[bytes]:
        """The body, once; raises ConnectionLost, ToolExecutionError, OutputTooLarge, TimedOut and
        Interrupted.
        """
        return self._body

    def _chunks(self, answer: "httpcore2.Response") -> Iterator[bytes]:
        # The limits hold only while it waits here: between two pieces the thread may make other
        # requests.
        stream = iter(answer.iter_stream())
        while True:
            self._limits.progressed()
            with self._limits.hold(), _translated(self._host):
                chunk = next(stream, None)
            if chunk is None:
                return
            yield chunk


class Client:
    """Exchanges over kept connections, for one list of allowed hosts; many threads may share it.

    `resolve` stands for the system's resolver, `owns` tells this machine's own addresses,
    `ssl_context` by default trusts the system's certificates (and SSL_CERT_FILE, which is how a
    user names others). Proxies and .netrc are never read.
    """

    def __init__(
        self, dialler: sockets.Dialler, *, ssl_context: "ssl.SSLContext | None" = None
    ) -> None:
        self._dialler, self._ssl_context = dialler, ssl_context
        self._pools: dict[str, httpcore2.ConnectionPool] = {}

    def exchange(
        self,
        request: Request,
        *,
        timeout_s: float,
        max_bytes: int,
        redirects: int = 0,
        cancel: threading.Event | None = None,
    ) -> Response:
        """Send one request and read its answer; see the function `exchange`."""
        url = parse_url(request.url)
        limits = sockets.ExchangeLimits(
            f"the request to {url.authority}", timeout_s=timeout_s, cancel=cancel
        )
        with limits.hold():
            response = self._once(request, url, max_bytes)
            for _ in range(min(redirects, MAX_REDIRECTS)):
                if response.status not in _REDIRECTS or not response.header("location"):
                    return response
                request = _redirected(request, response)
                response = self._once(request, parse_url(request.url), max_bytes)
        if redirects and response.status in _REDIRECTS and response.header("location"):
            raise ToolExecutionError(
                f"{url.authority} redirected more than {min(redirects, MAX_REDIRECTS)} times"
            )
        return response

    @contextmanager
    def opened(
        self, request: Request, *, limits: sockets.ExchangeLimits, max_bytes: int
    ) -> Iterator[Opened]:
        """Send one request, and give its answer before its body has come; leaving closes what is
        unread. Nothing is tried again.

        Raises as the function `exchange` does, and ConnectionLost where the server hangs up before
        it answers.
        """
        url = parse_url(request.url)
        limits.dialled = False
        limits.progressed()
        with limits.hold(), _translated(url.authority):
            answer = self._pool(url.scheme).handle_request(_wire(request, url))
        try:
            yield Opened(answer, host=url.authority, limits=limits, max_bytes=max_bytes)
        finally:
            with limits.hold():
                answer.close()

    def close(self) -> None:
        """Close every kept connection."""
        for pool in self._pools.values():
            pool.close()

    def _once(self, request: Request, url: Url, max_bytes: int) -> Response:
        limits = sockets.LIMITS.get()
        limits.dialled = False
        try:
            return self._send(request, url, max_bytes)
        except ConnectionLost as error:
            # A kept connection may end just as it is used again; asking twice is safe where asking
            # changes nothing.
            if limits.dialled or request.method not in _SAFE_METHODS:
                raise ToolExecutionError(str(error)) from error
        try:
            return self._send(request, url, max_bytes)
        except ConnectionLost as error:
            raise ToolExecutionError(str(error)) from error

    def _send(self, request: Request, url: Url, max_bytes: int) -> Response:
        with _translated(url.authority):
            answer = self._pool(url.scheme).handle_request(_wire(request, url))
            try:
                headers = tuple(
                    (name.decode("latin-1").lower(), value.decode("latin-1"))
                    for name, value in answer.headers
                )
                body = bodies.read(
                    answer.iter_stream(), headers, host=url.authority, max_bytes=max_bytes
                )
            finally:
                answer.close()
        return Response(status=answer.status, headers=headers, body=body, url=str(url))

    def _pool(self, scheme: str) -> "httpcore2.ConnectionPool":
        if scheme not in self._pools:
            # Reading the system's certificates takes longer than a request: once, and only for
            # https.
            context = (self._ssl_context or _ssl_context()) if scheme == "https" else None
            pool = httpcore2.ConnectionPool(
                ssl_context=context,
                max_connections=None,
                max_keepalive_connections=_KEPT_CONNECTIONS,
                keepalive_expiry=_KEPT_FOR_S,
                # deriving from it would load httpcore2 at start-up
                network_backend=cast("httpcore2.NetworkBackend", self._dialler),
            )
            self._pools.setdefault(scheme, pool)
        return self._pools[scheme]


def exchange(
    request: Request,
    *,
    timeout_s: float,
    max_bytes: int,
    allow_hosts: Collection[str],
    redirects: int = 0,
    cancel: threading.Event | None = None,
) -> Response:
    """Send one request and read its answer, over connections that the process keeps for later
    calls.

    `timeout_s` bounds all of it, from the name's resolution to the body's last byte; `max_bytes`
    the body, as sent and as decompressed; `allow_hosts` are the hosts (`host` or `host:port`) that
    may be private. At most `redirects` (5) are followed. Raises Refused or AddressRefused before
    anything is sent, ToolExecutionError where no answer comes, OutputTooLarge, TimedOut, and
    Interrupted once `cancel` is set. A failing status is an answer like any other.
    """
    client = _client(frozenset(allow_hosts))
    return client.exchange(
        request, timeout_s=timeout_s, max_bytes=max_bytes, redirects=redirects, cancel=cancel
    )


@functools.lru_cache(maxsize=8)
def _client(allow_hosts: frozenset[str]) -> Client:
    """One client for each list of allowed hosts: a connection that one list allowed must not serve
    another.
    """
    client = Client(sockets.Dialler(allow_hosts))
    atexit.register(client.close)
    return client


def _ssl_context() -> "ssl.SSLContext":
    try:
        return httpcore2.default_ssl_context()
    except OSError as error:
        raise ToolExecutionError(
            f"the certificates for verifying servers cannot be read: {error}"
        ) from error


class ConnectionLost(Exception):
    """The server ended the connection before its answer was whole; never leaves a provider or an
    executor.
    """


def _wire(request: Request, url: Url) -> "httpcore2.Request":
    given = {name.lower() for name, _ in request.headers}
    standing = [("Host", url.authority)]
    defaulted = (
        ("User-Agent", f"vespe/{defaults.VERSION}"),
        ("Accept", "*/*"),
        ("Accept-Encoding", "identity"),
    )
    standing += [(name, value) for name, value in defaulted if name.lower() not in given]
    if request.body is not None or request.method in ("POST", "PUT", "PATCH"):
        standing.append(("Content-Length", str(len(request.body or b""))))
    _check_values(request.headers)
    try:
        headers = [
            (name.encode("ascii"), value.encode("ascii"))
            for name, value in (*standing, *request.headers)
        ]
        return httpcore2.Request(
            request.method.encode("ascii"),
            httpcore2.URL(
                scheme=url.scheme.encode(),
                host=url.host.encode(),
                port=url.port,
                target=url.target.encode("ascii"),
            ),
            headers=headers,
            content=request.body or b"",
        )
    except UnicodeEncodeError as error:
        raise InvalidArguments(
            "a header or the method has a character that HTTP cannot carry: "
            f"{error.object[error.start]!r}"
        ) from None


def _check_values(headers: Iterable[tuple[str, str]]) -> None:
    """Raise InvalidArguments for a value that no header can have. It is not quoted, since it may be
    a secret; the library below would quote it.
    """
    for name, value in headers:
        if _UNSENDABLE.search(value):
            raise InvalidArguments(
                f"the header {name!r} cannot have its value: a line break or a NUL in it, or white "
                "space at an end, is not allowed in HTTP"
            )


def _redirected(request: Request, response: Response) -> Request:
    here, location = parse_url(response.url), response.header("location") or ""
    try:
        there = parse_url(
            urls.urljoin(response.url, location.encode("latin-1").decode("utf-8", "replace"))
        )
    except ValueError:
        raise Refused(f"{here.authority} redirects to {location!r}, which is not a URL") from None
    if here.scheme == "https" and there.scheme != "https":
        raise Refused(
            f"{here.authority} redirects from https to {there.scheme}://{there.authority}, "
            "which is not encrypted"
        )
    if request.hosts is not None and not is_listed(there.host, there.port, request.hosts):
        raise Refused(
            f"{here.authority} redirects to {there.authority}, but the tool's kit allows only "
            f"{', '.join(request.hosts) or 'no host'}"
        )
    method, body, headers = request.method, request.body, request.headers
    if (response.status == 303 and method != "HEAD") or (
        response.status in (301, 302) and method == "POST"
    ):
        method, body = "GET", None
        headers = tuple((name, value) for name, value in headers if name.lower() != "content-type")
    if here.origin != there.origin:
        if body is not None:
            raise Refused(
                f"{here.authority} redirects a request with a body to another server, "
                f"{there.authority}"
            )
        headers = tuple(
            (name, value)
            for name, value in headers
            if name.lower() not in _CREDENTIALS | request.private
        )
    return replace(request, method=method, url=str(there), headers=headers, body=body)


@contextmanager
def _translated(host: str) -> Iterator[None]:
    """Turn what the library raises into sentences."""
    try:
        yield
    except sockets.ConnectionBroken as error:
        raise ConnectionLost(f"the connection to {host} was lost: {error}") from error
    except httpcore2.RemoteProtocolError as error:
        # What breaks the protocol is an error of h11's, which this one holds; a server that hung up
        # before its first byte broke nothing.
        kind = (
            ToolExecutionError
            if any(isinstance(inner, Exception) for inner in error.args)
            else ConnectionLost
        )
        raise kind(f"{host} does not follow the HTTP protocol: {error}") from error
    except httpcore2.LocalProtocolError as error:
        raise InvalidArguments(f"the request cannot be said in HTTP: {error}") from error
