"""A recorded MCP server, served over Streamable HTTP: each session begins the recording anew, and
clients without a session share one place in it.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Final

from vespe.features.mcp.recordings.replay import Replay
from vespe.features.mcp.recordings.server_recording import ServerRecording
from vespe.features.mcp.server import http_exchange, messages, request_headers, revisions
from vespe.features.mcp.server.http_endpoint import AdmittedRequest, status_newest, status_older
from vespe.features.mcp.server.http_exchange import Exchange, Headers, Send
from vespe.features.mcp.server.http_gate import AccessPolicy, Gate
from vespe.features.mcp.server.request_headers import REVISION, SESSION
from vespe.http import server
from vespe.models import JsonObject

MAX_SESSIONS: Final = 1000
"""Sessions at once; where there are more, the one that was opened first is forgotten."""


def serve(
    recording: ServerRecording,
    listener: socket.socket,
    policy: AccessPolicy,
    *,
    warn: Callable[[str], None],
) -> None:
    """Answer clients over HTTP until a signal ends it. `warn` takes a sentence on each request that
    the recording does not have.
    """
    endpoint = ReplayEndpoint(recording, warn=warn)
    server.serve(Gate(endpoint, policy), listener, life=endpoint, tell=warn)


class ReplayEndpoint:
    """Answers the requests that the gate let in from a recording."""

    busy: Final = False

    def __init__(self, recording: ServerRecording, *, warn: Callable[[str], None]) -> None:
        self._shared = Replay(recording, warn=warn)
        self._sessions: dict[str, Replay] = {}
        self._open: set[Exchange] = set()

    def answer_at_once(
        self, headers: request_headers.Headers, message: JsonObject, size: int
    ) -> bytes | None:
        """Return None: every request takes the longer way."""
        return None

    async def watch(self) -> None:
        """Wait: a recording does not change."""
        await asyncio.Event().wait()

    def stop(self) -> None:
        """End the streams that are open."""
        for exchange in self._open:
            exchange.finish(None)

    def close(self) -> None:
        """Close nothing: there is no server behind it."""

    async def serve(self, request: AdmittedRequest, send: Send) -> None:
        """Answer one request."""
        name = request.headers.get(SESSION)
        if name is not None and name not in self._sessions:
            return await http_exchange.answer_refusal(
                send, 404, "there is no such session: send initialize again"
            )
        if request.method == "DELETE" and name is not None:
            del self._sessions[name]
            return await http_exchange.answer_empty(send, 200)
        if request.method != "POST":
            return await http_exchange.answer_empty(send, 405, [(b"allow", b"POST, DELETE")])
        if not all(request_headers.accepted(request.headers.get(b"accept"))):
            said = "the client must accept application/json and text/event-stream"
            return await http_exchange.answer_refusal(send, 406, said)
        message = request.message
        if isinstance(message, dict) and messages.is_response(message):
            return await http_exchange.answer_empty(send, 202)
        if (why := messages.why_no_request(message)) or not isinstance(message, dict):
            return await http_exchange.answer_refusal(send, 400, f"not a request: {why}")
        if "id" not in message:
            return await http_exchange.answer_empty(send, 202)
        headers: Headers = []
        replay = self._shared if name is None else self._sessions[name]
        if message["method"] == "initialize" and name is None:
            replay = self._shared.begun_anew()
            headers = [(SESSION, self._opened(replay).encode())]
        return await self._answer(request, message, replay, send, headers)

    def _opened(self, replay: Replay) -> str:
        if len(self._sessions) >= MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        name = os.urandom(16).hex()
        self._sessions[name] = replay
        return name

    async def _answer(
        self,
        request: AdmittedRequest,
        message: JsonObject,
        replay: Replay,
        send: Send,
        headers: Headers,
    ) -> None:
        exchange, stays_open = Exchange(), True
        for said in replay.answer(message):
            if "method" in said:
                exchange.tell(said)
            else:
                exchange.finish(said)
                stays_open = False
        leaving = asyncio.ensure_future(request.hung_up())
        leaving.add_done_callback(lambda _: exchange.leave())
        self._open.add(exchange)
        newest = request.headers.get(REVISION) == revisions.NEWEST
        try:
            await exchange.deliver(
                send,
                headers,
                status=status_newest if newest else status_older,
                at_once=stays_open,
            )
        finally:
            leaving.cancel()
            self._open.discard(exchange)
