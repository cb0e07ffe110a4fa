"""Requests of the OAuth flow, sent by the transport that judges the addresses it dials: bounded in
bytes, and by one deadline over all of them.
"""

import asyncio
import threading
from typing import Final

import httpx2

from vespe.errors import OutputTooLarge
from vespe.features.oauth import settings
from vespe.http import client, sockets
from vespe.http.addresses import parse_url

DEADLINE_S: Final = 30.0
MAX_BYTES: Final = 256 * 1024
"""Metadata and tokens are a few kilobytes."""
_NOT_SENT: Final = frozenset(("host", "content-length", "connection", "transfer-encoding"))


class JudgedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to judged addresses alone, over https, or http to the hosts that the user
    allows. `restart` begins the deadline again, after a person was waited for.
    """

    def __init__(self, allow_hosts: tuple[str, ...], *, cancel: threading.Event) -> None:
        self._allow_hosts, self._cancel = allow_hosts, cancel
        self._client = client.Client(sockets.Dialler(allow_hosts))
        self.restart()

    def restart(self) -> None:
        """Give what is still to be sent the whole deadline."""
        self._limits = sockets.ExchangeLimits(
            "the login", timeout_s=DEADLINE_S, cancel=self._cancel
        )

    def check(self, url: str) -> None:
        """Raise Refused for a URL where a token or a code could be read on the way."""
        settings.check_encrypted(url, self._allow_hosts)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and read its whole answer; raises as `vespe.http.client.exchange`
        does.
        """
        body = await request.aread()
        return await asyncio.to_thread(self._send, request, body)

    def _send(self, request: httpx2.Request, body: bytes) -> httpx2.Response:
        url = str(request.url)
        self.check(url)
        headers = tuple(
            (name, value)
            for name, value in request.headers.multi_items()
            if name.lower() not in _NOT_SENT
        )
        made = client.Request(method=request.method, url=url, headers=headers, body=body or None)
        with self._client.opened(made, limits=self._limits, max_bytes=MAX_BYTES) as answer:
            kind = next((value for name, value in answer.headers if name == "content-type"), "")
            # A stream of events may stay open: its status and headers are the answer.
            is_stream = kind.startswith("text/event-stream")
            content = b"" if is_stream else self._whole(answer, url)
            plain = [
                pair
                for pair in answer.headers
                if pair[0] not in ("content-encoding", "content-length", "transfer-encoding")
            ]
            return httpx2.Response(answer.status, headers=plain, content=content)

    def _whole(self, answer: client.Opened, url: str) -> bytes:
        try:
            return b"".join(answer.pieces)
        except OutputTooLarge:
            host = parse_url(url).authority
            raise OutputTooLarge(
                f"{host} answered with more than {MAX_BYTES} bytes, where a few kilobytes are usual"
            ) from None

    async def aclose(self) -> None:
        """Close the connections that were kept."""
        self._client.close()
