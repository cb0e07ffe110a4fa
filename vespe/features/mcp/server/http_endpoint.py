"""MCP over HTTP: the protocol of all revisions, as over stdio, with a session for each client of
the older ones.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Protocol

from vespe.features.mcp.server import (
    http_exchange,
    messages,
    protocol,
    request_headers,
    revisions,
    task_calls,
    tool_call,
)
from vespe.features.mcp.server.calls_in_flight import MAX_CALLS, Flights, WaryPace
from vespe.features.mcp.server.http_exchange import Exchange, Send
from vespe.features.mcp.server.http_sessions import HttpSession, HttpSessions
from vespe.features.mcp.server.marks import Changes, Watched
from vespe.features.mcp.server.messages import ProtocolError
from vespe.features.mcp.server.protocol import Cancellation, PendingCall, ProtocolSession
from vespe.features.mcp.server.request_headers import REVISION, SESSION, Headers
from vespe.features.mcp.server.served_client import ServedClient
from vespe.features.mcp.server.stdio_io import encoded
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

WATCH_S: Final = 0.5
"""How often the files are looked at for changes that clients have subscribed to."""
_LISTS: Final = frozenset(
    ("tools/list", "resources/list", "resources/read", "skills/list", "skills/get")
)
"""Methods that look at files."""
_ONE_KIND: Final = frozenset(("ping", "resources/templates/list", "prompts/list", "prompts/get"))
"""Methods that look at nothing."""
_UNNAMED: Final = "2025-03-26"
"""The revision of a request that says none, where there is no session that knows it."""
_CANCELLED: Final = -32800
_STATUS: Final = {
    messages.PARSE_ERROR: 400,
    messages.INVALID_REQUEST: 400,
    messages.INVALID_PARAMS: 400,
    messages.HEADER_MISMATCH: 400,
    messages.MISSING_CAPABILITY: 400,
    messages.UNSUPPORTED_REVISION: 400,
    messages.METHOD_NOT_FOUND: 404,
}
"""The statuses of errors in the newest revision; others, and those of the older ones, have 200."""
_NO_SESSION: Final = "there is no such session: send initialize again"


class Served(protocol.ToolSource, tool_call.CallRunner, Watched, Protocol):
    """What is served: lists of tools and resources, calls, and whether there is something new."""

    def close(self) -> None:
        """End what calls have in common."""
        ...

    @property
    def root(self) -> str:
        """The project's directory."""
        ...

    def input_schema(self, name: str) -> JsonObject | None:
        """Return the schema of a tool's inputs, None for a tool that is not known."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedRequest:
    """A request that the gate let in: `message` is the JSON value of its body, of `size` bytes;
    `hung_up` waits until its client has gone.
    """

    method: str
    headers: Headers
    message: JsonValue
    size: int
    hung_up: Callable[[], Awaitable[None]]


class Endpoint:
    """The served tools over HTTP; `stateless` keeps nothing of a client between two requests,
    `max_calls` run at once. `client` is whoever asks without a session.
    """

    def __init__(
        self,
        tools: Served,
        *,
        stateless: bool = False,
        max_calls: int = MAX_CALLS,
        client: ServedClient | None = None,
    ) -> None:
        self._tools, self._stateless = tools, stateless
        self._client = ServedClient() if client is None else client
        self._pace = WaryPace()
        self._flights = Flights(tools, limit=max_calls, pace=self._pace, transport="tcp")
        self.sessions = HttpSessions()
        self._plain = request_headers.Plain()
        self._listening: dict[Exchange, ProtocolSession] = {}

    async def watch(self) -> None:
        """Look for changes now and then, and tell of them and of calls that still run; never
        returns.
        """
        changes = Changes(self._tools)
        while True:
            await asyncio.sleep(WATCH_S)
            self._flights.beat()
            if await asyncio.to_thread(changes.look):
                self.tell_of_changes()
            self._tell_of_tasks()

    def tell_of_changes(self) -> None:
        """Tell every client that listens that the tools are other ones now."""
        heard = [(session.stream, session.protocol) for session in self.sessions if session.stream]
        for exchange, session in (*heard, *self._listening.items()):
            for message in protocol.changes(session):
                exchange.tell(message)

    def _tell_of_tasks(self) -> None:
        for exchange, session in list(self._listening.items()):
            for message in protocol.task_news(session, task_calls.calls_of(self._tools)):
                exchange.tell(message)

    def stop(self) -> None:
        """End every call that runs, with its processes, which is answered as interrupted; then the
        streams.
        """
        self._flights.interrupt()
        for session in self.sessions:
            if session.stream is not None:
                session.stream.finish(None)
        for exchange, listening in self._listening.items():
            for message in protocol.ends(listening):
                exchange.finish(message)

    def close(self) -> None:
        """End what calls have in common, and wait for that: not in the thread of the event loop."""
        self._tools.close()

    @property
    def busy(self) -> bool:
        """Whether a call runs still."""
        return self._flights.busy

    def answer_at_once(self, headers: Headers, message: JsonObject, size: int) -> bytes | None:
        """Return the JSON text of an answer that takes no time, and is all that there is to say;
        None for all else, for which nothing was done.
        """
        method, revision = message.get("method"), headers.get(REVISION)
        if "id" not in message or not all(request_headers.accepted(headers.get(b"accept"))):
            return None
        if revision == revisions.NEWEST:
            try:
                self._check(headers, message)
            except ProtocolError:
                return None
            known = ProtocolSession(self._client)
        else:
            session = self._session(headers)
            if session is None:
                return None
            known = session.protocol
        if method == "tools/call":
            return self._called_at_once(message, known, size)
        if method in _ONE_KIND or (method in _LISTS and self._pace.is_known(str(method))):
            return _text(self._timed(message, known))
        return None

    def _called_at_once(
        self, message: JsonObject, session: ProtocolSession, size: int
    ) -> bytes | None:
        pending = protocol.handle(message, session, self._tools)
        if not isinstance(pending, PendingCall) or not self._flights.runs_here(pending):
            return None
        kept = _Kept()
        refused = self._flights.submit(pending, size=size, client=kept, owner=kept, only_here=True)
        return _text(refused or kept.answer)

    def _timed(self, message: JsonObject, session: ProtocolSession) -> protocol.Handled:
        """Answer a request that is no call, and note how long it took."""
        began = time.monotonic()
        try:
            return protocol.handle(message, session, self._tools)
        finally:
            if (method := message["method"]) in _LISTS:
                self._pace.note(method, time.monotonic() - began)

    def _session(self, headers: Headers) -> HttpSession | None:
        """Return the session that a request of the older revisions is in; without one, where none
        are kept, one that begins and ends with it.
        """
        revision = headers.get(REVISION)
        if revision is not None and revision not in revisions.HANDSHAKE:
            return None
        if not self._stateless:
            return self.sessions.used(headers.get(SESSION))
        made = ProtocolSession(self._client)
        made.initialized, made.revision = True, revision or _UNNAMED
        return HttpSession(made)

    def _check(self, headers: Headers, message: JsonObject) -> None:
        """Raise ProtocolError where a request of the newest revision is not in order."""
        request_headers.check(headers, message)
        params = message["params"]
        name = params.get("name")
        if message["method"] == "initialize":
            raise ProtocolError(messages.METHOD_NOT_FOUND, "there is no method 'initialize'")
        if message["method"] != "tools/call" or not isinstance(name, str):
            return
        schema = self._tools.input_schema(name)
        if schema is not None and not self._plain.knows(name, schema):
            request_headers.check_arguments(headers, schema, params.get("arguments"))

    async def serve(self, request: AdmittedRequest, send: Send) -> None:
        """Answer one request that the gate let in."""
        revision = request.headers.get(REVISION)
        json, stream = request_headers.accepted(request.headers.get(b"accept"))
        is_post, is_get = request.method == "POST", request.method == "GET"
        newest = revision is not None and revision not in revisions.HANDSHAKE
        if not is_post and (newest or self._stateless):
            return await http_exchange.answer_empty(send, 405, [(b"allow", b"POST")])
        if (is_post and not (json and stream)) or (is_get and not stream):
            wanted = "application/json and " if is_post else ""
            said = f"the client must accept {wanted}text/event-stream"
            return await http_exchange.answer_refusal(send, 406, said)
        if newest:
            return await self._serve_newest(request, send)
        if is_post and self._begins(request):
            return await self._serve_handshake(request, send)
        session = self._session(request.headers)
        if session is None:
            known = request.headers.get(SESSION) is not None
            said = _NO_SESSION if known else "the header Mcp-Session-Id is missing"
            return await http_exchange.answer_refusal(send, 404 if known else 400, said)
        if is_post:
            return await self._serve_message(request, session, send)
        if is_get:
            return await self._serve_stream(request, session, send)
        return await self._end(request, session, send)

    def _begins(self, request: AdmittedRequest) -> bool:
        message = request.message
        return (
            isinstance(message, dict)
            and message.get("method") == "initialize"
            and "id" in message
            and (request.headers.get(SESSION) is None or self._stateless)
        )

    async def _serve_handshake(self, request: AdmittedRequest, send: Send) -> None:
        session = ProtocolSession()
        answer = protocol.handle(request.message, session, self._tools)
        headers: http_exchange.Headers = []
        if _is_result(answer) and not self._stateless:
            name = self.sessions.opened(session)
            if name is None:
                return await http_exchange.answer_refusal(send, 503, "too many sessions are busy")
            headers = [(SESSION, name.encode())]
        assert isinstance(answer, dict)
        await http_exchange.answer_whole(send, encoded(answer)[:-1], headers, status_older(answer))

    async def _serve_newest(self, request: AdmittedRequest, send: Send) -> None:
        message = request.message
        why = messages.why_no_request(message)
        if why or not isinstance(message, dict):
            return await http_exchange.answer_refusal(send, 400, f"not a request: {why}")
        if "id" not in message:  # there is none that this server would act upon
            if request.headers.get(REVISION) == revisions.NEWEST:
                return await http_exchange.answer_empty(send, 202)
            refused = ProtocolError(messages.UNSUPPORTED_REVISION, "Unsupported protocol version")
            return await self._refuse(None, refused, send)
        try:
            self._check(request.headers, message)
        except ProtocolError as error:
            return await self._refuse(message["id"], error, send)
        session = HttpSession(ProtocolSession(self._client))
        return await self._serve_request(message, session, request, send, status=status_newest)

    async def _refuse(
        self, identifier: messages.RequestId | None, error: ProtocolError, send: Send
    ) -> None:
        answer = messages.failed(identifier, error.code, error.message, data=error.data)
        text = encoded(answer)[:-1]
        await http_exchange.answer_whole(send, text, [], status_newest(answer))

    async def _serve_message(
        self, request: AdmittedRequest, session: HttpSession, send: Send
    ) -> None:
        """Take a message of a session: a request is answered, all else is only taken."""
        message = request.message
        is_request = isinstance(message, dict) and "id" in message and "method" in message
        if is_request and not messages.why_no_request(message):
            assert isinstance(message, dict)
            return await self._serve_request(message, session, request, send, status=status_older)
        handled = protocol.handle(message, session.protocol, self._tools)
        if isinstance(handled, dict):
            return await http_exchange.answer_whole(send, encoded(handled)[:-1], [], 400)
        if isinstance(handled, Cancellation):
            self._cancel(handled.id, session)
        return await http_exchange.answer_empty(send, 202)

    def _cancel(self, identifier: messages.RequestId, session: HttpSession) -> None:
        exchange = session.calls.get(identifier)
        self._flights.cancel(identifier, owner=session)
        if exchange is not None:  # these revisions end a stream by an answer alone
            exchange.finish(messages.failed(identifier, _CANCELLED, "the call was cancelled"))

    async def _serve_request(
        self,
        message: JsonObject,
        session: HttpSession,
        request: AdmittedRequest,
        send: Send,
        *,
        status: Callable[[JsonObject], int],
    ) -> None:
        exchange, identifier, json_s = Exchange(), message["id"], http_exchange.JSON_S
        if message.get("method") in _LISTS:
            handled = await asyncio.to_thread(self._timed, message, session.protocol)
        else:
            handled = protocol.handle(message, session.protocol, self._tools)
        listens = isinstance(handled, dict) and "method" in handled
        owner = session
        leaving = asyncio.ensure_future(request.hung_up())
        leaving.add_done_callback(partial(self._left, exchange, owner, identifier))
        try:
            if isinstance(handled, PendingCall):
                if handled.revision == revisions.NEWEST and not handled.elicits:
                    # it may need a person, and is then refused by its status
                    json_s = http_exchange.PING_S
                handled = self._submitted(handled, session, exchange, request.size)
            if listens:
                assert isinstance(handled, dict)
                self._listening[exchange] = session.protocol
                exchange.tell(handled)
            elif isinstance(handled, dict):
                exchange.finish(handled)
            await exchange.deliver(send, [], status=status, at_once=listens, json_s=json_s)
        finally:
            leaving.cancel()
            self._listening.pop(exchange, None)
            if session.calls.get(identifier) is exchange:
                del session.calls[identifier]

    def _submitted(
        self, pending: PendingCall, session: HttpSession, exchange: Exchange, size: int
    ) -> JsonObject | None:
        refused = self._flights.submit(pending, size=size, client=exchange, owner=session)
        if refused is None:
            session.calls[pending.id] = exchange
        return refused

    def _left(
        self,
        exchange: Exchange,
        session: HttpSession,
        identifier: messages.RequestId,
        leaving: "asyncio.Future[None]",
    ) -> None:
        """End the call of a client that hung up."""
        if leaving.cancelled():
            return
        exchange.leave()
        if session.calls.get(identifier) is exchange:
            self._flights.cancel(identifier, owner=session)

    async def _serve_stream(
        self, request: AdmittedRequest, session: HttpSession, send: Send
    ) -> None:
        """Keep a stream open for what belongs to no request."""
        if session.stream is not None:
            return await http_exchange.answer_refusal(
                send, 409, "this session already has an open stream"
            )
        session.stream = exchange = Exchange()
        leaving = asyncio.ensure_future(request.hung_up())
        leaving.add_done_callback(lambda _: exchange.leave())
        try:
            await exchange.deliver(send, [], status=status_older, at_once=True)
        finally:
            leaving.cancel()
            session.stream = None

    async def _end(self, request: AdmittedRequest, session: HttpSession, send: Send) -> None:
        """End a session, with everything that is under way in it."""
        self.sessions.ended(str(request.headers.get(SESSION)))
        for identifier in tuple(session.calls):
            self._cancel(identifier, session)
        if session.stream is not None:
            session.stream.finish(None)
        await http_exchange.answer_empty(send, 200)


class _Kept:
    """The client of a call that is answered before anybody can hear of it."""

    def __init__(self) -> None:
        self.answer: JsonObject | None = None

    def tell(self, message: JsonObject) -> None:
        """Take a notification that nobody asked for."""

    def finish(self, answer: JsonObject) -> None:
        self.answer = answer


def _is_result(handled: protocol.Handled) -> bool:
    return isinstance(handled, dict) and "result" in handled


def _text(handled: protocol.Handled) -> bytes | None:
    return encoded(handled)[:-1] if isinstance(handled, dict) and "result" in handled else None


def status_newest(answer: JsonObject) -> int:
    """Return the HTTP status of an answer in the newest revision."""
    error = answer.get("error")
    return 200 if error is None else _STATUS.get(error["code"], 200)


def status_older(answer: JsonObject) -> int:
    """Return the HTTP status of an answer in the older revisions."""
    return 400 if "error" in answer and answer["id"] is None else 200
