"""A session with an MCP server, through the official SDK's client, in a process of its own: list
its tools, or call one.
"""

import asyncio
import errno
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final, NoReturn

import anyio
import anyio.to_thread
import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ElicitationFnT, LoggingFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from vespe import defaults
from vespe.errors import AddressRefused, InvalidDocument, NeedsInput, Refused, VespeError
from vespe.http import addresses, sockets
from vespe.models import JsonObject
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool import server_skills
from vespe.types.mcp_tool.server_tasks import ServerTasks
from vespe.types.mcp_tool.strict_http import StrictTransport, refusal

_MAX_PAGES: Final = 200
_MAX_TOOLS: Final = 5000
_FAREWELL_S: Final = 0.5
_LAST_S: Final = 0.5
"""How long a server that closed its stdout may take to end, so that it can be said how."""
_CHUNK: Final = 64 * 1024
_SHOWN: Final = 3, 200
"""Of what a server prints that is no message: how many lines are shown, and how many bytes of
each.
"""
ENDINGS: Final[list[str]] = []
"""How the server that was started ended, in words: the client says only that a connection was
closed.
"""
_SENT: Final[list[str]] = []
"""The tool whose one call was sent."""
_REFUSALS: Final[list[AddressRefused]] = []
"""Addresses that were refused: the client tells of any failure to connect as one of its own."""


_ASK: Final = 4
"""The descriptor by which this process asks a person, as `processes/ask_channel.py` says."""
_STATUSES: Final[list[int]] = []
"""The last status that a server which listens refused a request with: the client only says that it
was an error.
"""
_CHALLENGES: Final[list[str]] = []
"""The `WWW-Authenticate` header of that answer."""
_MAX_CHALLENGE: Final = 4096
_NO_ACCESS: Final = (401, 403)
_OPENED: Final[list[bool]] = []
"""Holds something as soon as the server has answered the handshake or the discovery."""
_LOST: Final = ("Connection closed", "SSE stream ", "server answered a request with 202")
"""How the errors of the SDK begin where no answer can come any more."""
_UNASKED: Final = "Cannot send 'elicitation/create'"
"""How the error of a server begins whose SDK cannot send a question in the revision in use."""


class _Odd(Exception):
    """The server does what no server may."""


FAILURES: Final = (
    OSError,
    VespeError,
    MCPError,
    _Odd,
    ValueError,
    RuntimeError,
    httpx2.HTTPError,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
)
"""What a session, or a call in it, may end in."""


def _nothing() -> None:
    return None


def main() -> None:
    """Read a request from stdin, and write its answer to the descriptor that the last argument
    names.

    The request: `command` and `cwd`, or `url`, `headers` and `allow_hosts`; for a call `tool`,
    `arguments` and the `digest` of the definition that was approved, and `asks` where a person
    answers what the server asks; for a file of a skill `tool` and its `uri`. The answer:
    `{"tools", "server"}` with the `skills` that the server lists and whether it `has_more_skills`
    than Vespe reads, `{"result"}` or
    `{"error": {"kind", "message"}}`; `sent` stands beside these where a connection is lost, and
    says whether the call was under way.
    """
    request = json.load(sys.stdin.buffer)
    os.dup2(2, 1)
    run(request, lambda: _answered(request), failed=tell)


def run(
    reach: JsonObject,
    work: Callable[[], Coroutine[Any, Any, None]],
    *,
    failed: Callable[[JsonObject], None],
) -> NoReturn:
    """Do the work of a session with the server that `reach` names, and end this process; `failed`
    tells why the work ended early.
    """
    try:
        with asyncio.Runner(loop_factory=lambda: _Loop(reach.get("allow_hosts", ()))) as runner:
            runner.run(work())
    except BaseExceptionGroup as group:
        failed({"error": _ended(reach, _first(group))})
    except FAILURES as error:
        failed({"error": _ended(reach, error)})
    except asyncio.CancelledError:  # by the signal that ends this process
        os._exit(128 + signal.SIGTERM)
    # What is left of the server is ended by the supervisor of this process.
    os._exit(0)


def _ended(reach: JsonObject, error: BaseException) -> JsonObject:
    """Return the error of a session as `told` does, with `no_handshake` where the server was
    reached and refused the handshake.
    """
    is_refused = bool(reach.get("handshake")) and not _OPENED and not _REFUSALS
    status = (_STATUSES or [0])[0]
    is_refused &= status not in _NO_ACCESS and status < HTTPStatus.INTERNAL_SERVER_ERROR
    # A server that is down says nothing about the handshake. A RuntimeError is a revision that the
    # client does not know.
    is_refused &= isinstance(error, (MCPError, RuntimeError, ValidationError))
    is_refused &= not _is_lost(error)
    return told(error) | ({"no_handshake": True} if is_refused else {})


async def _answered(request: JsonObject) -> None:
    asked = eliciting(_put) if request.get("asks") else None
    async with connected(request, asked=asked, is_brief=True) as client:
        if "tool" in request:
            return tell(
                await called(client, request, sending=lambda: _SENT.append(request["tool"]))
            )
        has_skills = server_skills.are_declared(client)
        definitions, about = await _listed(client, or_none=has_skills), client.server_info
        skills, are_all = await server_skills.listed(client) if has_skills else ([], True)
        return tell(
            {
                "tools": definitions,
                "server": about.model_dump(mode="json", exclude_none=True) if about else {},
                "skills": skills,
                "has_more_skills": not are_all,
            }
        )


@asynccontextmanager
async def connected(
    reach: JsonObject,
    *,
    gone: Callable[[], object] = _nothing,
    noted: LoggingFnT | None = None,
    asked: ElicitationFnT | None = None,
    is_brief: bool = False,
) -> AsyncIterator[Client]:
    """Open a client of the server that `reach` names; `gone` is called where a server that was
    started has ended, `noted` with what the server says of its own accord, `asked`
    with what it asks a person: the server is told that one can be asked only where it is given.
    `is_brief` is for a process that makes one call.
    """
    transport = (
        _stdio(reach["command"], reach["cwd"], gone=gone)
        if "command" in reach
        else over_http(reach["url"], reach["headers"], reach["allow_hosts"], noted=_note_status)
    )
    async with Client(
        transport,
        client_info=types.Implementation(name="vespe", version=defaults.VERSION),
        cache=None,
        logging_callback=noted,
        elicitation_callback=asked,
        mode="legacy" if reach.get("handshake") else "auto",
        extensions=[ServerTasks(asked, ends_by_signal=is_brief)],
    ) as client:
        _OPENED.append(True)
        yield client


def eliciting(put: Callable[[JsonObject], Awaitable[JsonObject]]) -> ElicitationFnT:
    """Return what answers the questions of a server: `put` is given a line that asks, and returns
    the one that answers it. A person is never sent to a URL.
    """

    async def elicit(
        context: Any, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        if not isinstance(params, types.ElicitRequestFormParams):
            return types.ElicitResult(action="decline")
        asked: JsonObject = {"ask": 1, "question": params.message}
        said = await put(asked | {"schema": params.requested_schema})
        error = said.get("error")
        if error and error["code"] == "tool_error":
            return types.ErrorData(code=types.INVALID_PARAMS, message=error["message"])
        accepted = said["action"] == "accept"
        return types.ElicitResult(
            action=said["action"], content=said["content"] if accepted else None
        )

    return elicit


async def _put(asked: JsonObject) -> JsonObject:
    def exchanged() -> bytes:
        line = memoryview(json.dumps(asked).encode("ascii") + b"\n")
        while line:
            line = line[os.write(_ASK, line) :]
        answer = b""
        while not answer.endswith(b"\n"):
            if not (more := os.read(_ASK, _CHUNK)):
                return b'{"action": "cancel", "content": {}}'
            answer += more
        return answer

    async with _ASKING:
        answer = await anyio.to_thread.run_sync(exchanged, abandon_on_cancel=True)
    said: JsonObject = json.loads(answer)
    return said


_ASKING: Final = anyio.Lock()


async def called(
    client: Client,
    request: JsonObject,
    *,
    sending: Callable[[], object] = _nothing,
    stepped: ProgressFnT | None = None,
) -> JsonObject:
    """Make a call if the tool's definition is the one that was approved: `{"result"}` or
    `{"error"}`; `sending` is called just before. The server is asked for its progress where
    `stepped` is given, which is called with it.

    The server is asked for its definitions each time: what it says of its own accord about changes
    is not relied upon. A file of a skill has a digest of its own, which whoever asked compares.
    """
    if "uri" in request:
        sending()
        return {"result": await server_skills.read(client, request)}
    known = {definition["name"]: definition for definition in await _listed(client)}
    definition = known.get(request["tool"])
    if definition is None:
        return {
            "error": {
                "kind": "gone",
                "message": f"the server no longer has a tool called {request['tool']!r}",
            }
        }
    if mcp_definitions.digest(definition) != request["digest"]:
        return {
            "error": {
                "kind": "changed",
                "message": "the definition of the tool differs from the one that you approved",
            }
        }
    sending()
    result = await client.call_tool(
        request["tool"],
        request["arguments"],
        progress_callback=stepped,
        meta=request.get("meta"),
    )
    return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True)}


async def _listed(client: Client, *, or_none: bool = False) -> list[JsonObject]:
    """Return the definitions; with `or_none` also of a server that has no tools at all."""
    if or_none and (said := client.server_capabilities) is not None and said.tools is None:
        return []
    found: list[JsonObject] = []
    cursor: str | None = None
    seen: set[str | None] = {None}
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += (
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools
        )
        cursor = page.next_cursor
        if len(found) > _MAX_TOOLS:
            raise _Odd(f"the server lists more than {_MAX_TOOLS} tools")
        if cursor is None:
            return found
        if cursor in seen:
            raise _Odd("the pages of the server's list of tools form a loop")
        seen.add(cursor)
    raise _Odd(f"the server's list of tools has more than {_MAX_PAGES} pages")


@asynccontextmanager
async def over_http(
    url: str,
    headers: dict[str, str],
    allow_hosts: list[str],
    *,
    noted: Callable[[httpx2.Response], Awaitable[None]],
    auth: httpx2.Auth | None = None,
) -> AsyncIterator[Any]:
    """Open the SDK's own transport to a server that listens; no proxy of the environment's, and a
    name's addresses are judged where they are looked up. `noted` is called with each response,
    `auth` authorizes each request.
    """
    parsed = addresses.parse_url(url)
    if addresses.is_address(parsed.host):
        _judge(parsed.host, [parsed.host], parsed.port, allow_hosts)
    async with (
        httpx2.AsyncClient(
            headers=headers,
            auth=auth,
            timeout=None,
            trust_env=False,
            event_hooks={"response": [noted]},
            transport=StrictTransport(httpx2.AsyncHTTPTransport(trust_env=False)),
        ) as client,
        streamable_http_client(
            url, http_client=client, max_sse_event_size=defaults.LARGER_CAP_BYTES
        ) as streams,
    ):
        yield streams


async def _note_status(response: httpx2.Response) -> None:
    status = response.status_code
    # A server of one revision refuses the request of another one next, for another reason.
    if status >= 400 and _STATUSES and _STATUSES[0] in _NO_ACCESS:
        return
    _STATUSES[:] = [status] if status >= 400 else []
    _CHALLENGES[:] = [response.headers.get("www-authenticate", "")[:_MAX_CHALLENGE]]


class _Loop(asyncio.SelectorEventLoop):
    """Looks names up only to give addresses that may be reached."""

    def __init__(self, allow_hosts: list[str]) -> None:
        super().__init__()
        self._allow_hosts = allow_hosts

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        """Look a name up; raises AddressRefused where one of its addresses may not be reached."""
        found = await super().getaddrinfo(host, port, **options)
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        number = found[0][4][1] if found else 0
        _judge(
            name,
            [str(entry[4][0]) for entry in found if entry[0] in (socket.AF_INET, socket.AF_INET6)],
            number,
            self._allow_hosts,
        )
        return found


def _judge(host: str, found: list[str], port: Any, allow_hosts: list[str]) -> None:
    if addresses.is_listed(host.lower(), int(port or 0), allow_hosts):
        return
    for address in found:
        inner = addresses.find_ipv4(address)
        own = sockets.is_own(address) or (inner is not None and sockets.is_own(inner))
        if why := addresses.why_denied(address) or ("an address of this machine" if own else None):
            _REFUSALS.append(AddressRefused(host, address=address, why=why, port=int(port or 0)))
            raise _REFUSALS[0]


@asynccontextmanager
async def _stdio(command: list[str], cwd: str, *, gone: Callable[[], object]) -> AsyncIterator[Any]:
    """The server as a child of this process, a message a line; what is no message is let pass, what
    is no line is not.
    """
    try:
        process = await anyio.open_process(command, stderr=None, cwd=cwd)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        if error.errno == errno.ENOENT:
            why += " (is it on PATH? give its whole path)"
        raise _Odd(f"{command[0]} cannot start: {why}") from None
    inbound, messages_in = anyio.create_memory_object_stream[Any](0)
    messages_out, outbound = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_reading, process, inbound, gone)
        tasks.start_soon(_writing, process, outbound)
        tasks.start_soon(_watching, process, gone)
        try:
            yield messages_in, messages_out
        finally:
            with anyio.move_on_after(_FAREWELL_S, shield=True):
                if process.stdin is not None:
                    await process.stdin.aclose()
                await process.wait()
            tasks.cancel_scope.cancel()


async def _reading(process: Any, inbound: Any, gone: Callable[[], object]) -> None:
    buffer, odd = b"", 0
    async with inbound:
        try:
            while True:
                *lines, buffer = (buffer + await process.stdout.receive(_CHUNK)).split(b"\n")
                for line in filter(bytes.strip, lines):
                    message = _message(line)
                    if isinstance(message, Exception) and (odd := odd + 1) <= _SHOWN[0]:
                        shown = line[: _SHOWN[1]].decode("utf-8", "replace")
                        sys.stderr.write(
                            "[vespe] its stdout contains something that is not an MCP "
                            f"message: {shown!r}\n"
                        )
                    await inbound.send(message)
                if len(buffer) > defaults.LARGER_CAP_BYTES:
                    raise _Odd(
                        f"the server wrote a line of more than {defaults.LARGER_CAP_BYTES} bytes"
                    )
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            with anyio.move_on_after(_LAST_S):
                await process.wait()
            _note_end(process.returncode)
            gone()


async def _watching(process: Any, gone: Callable[[], object]) -> None:
    """Tell that the server has ended, where a process that it left holds its end of the pipe
    too.
    """
    _note_end(await process.wait())
    gone()


def _note_end(status: int | None) -> None:
    if status is None:
        how = "it closed its stdout before it answered, but is still running"
    elif status < 0:
        how = (
            f"it was ended by signal {-status} "
            f"({signal.strsignal(-status) or 'unknown'}) before it answered"
        )
    else:
        how = f"it ended with exit status {status} before it answered"
    ENDINGS[:] = [how]


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        return error
    refused = refusal(message, line)
    if isinstance(refused, InvalidDocument):
        return refused
    return SessionMessage(message if refused is None else refused)


async def _writing(process: Any, outbound: Any) -> None:
    try:
        async for message in outbound:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.stdin.send(text.encode("utf-8") + b"\n")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        return


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the exception within that says most: one of ours before one that only says that
    something was closed.
    """
    found: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        error = waiting.pop(0)
        if isinstance(error, BaseExceptionGroup):
            waiting += error.exceptions
        else:
            found.append(error)
    return next((error for error in found if isinstance(error, (_Odd, VespeError))), found[0])


def told(error: BaseException) -> JsonObject:
    """Say an error as `kind` and `message`; the kind is `lost` where the connection to the server
    is.
    """
    if _REFUSALS:
        refusal = _REFUSALS[0]
        return {"kind": "refused", "message": str(refusal), "hint": refusal.hint}
    if isinstance(error, MCPError) and error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY:
        return {"kind": "needs_input", "message": _sentence(error)}
    if isinstance(error, NeedsInput):
        return {"kind": "asks", "message": str(error)}
    if isinstance(error, Refused):
        return {"kind": "skill", "message": str(error)}
    if not _is_lost(error):
        said = _sentence(error) or type(error).__name__
        return {
            "kind": "server",
            "message": f"{said}{_status()}",
            "status": (_STATUSES or [0])[0],
            "challenge": (_CHALLENGES or [""])[0],
            "called": bool(_SENT),
        } | ({"unasked": True} if _is_unasked(error) else {})
    return {
        "kind": "lost",
        "message": ENDINGS[0] if ENDINGS else _sentence(error),
        "sent": bool(_SENT),
    }


def _is_lost(error: BaseException) -> bool:
    """Whether the connection to the server is. The SDK says so with a code that servers use for
    errors of their own, too.
    """
    return (
        isinstance(error, MCPError)
        and error.code == types.CONNECTION_CLOSED
        and str(error).startswith(_LOST)
    )


def _is_unasked(error: BaseException) -> bool:
    """Whether the SDK of the server could not send its question: an error of the protocol, never
    the text of a tool's result, which anybody may have written.
    """
    return (
        isinstance(error, MCPError)
        and error.code == types.INVALID_REQUEST
        and str(error).startswith(_UNASKED)
    )


def _status() -> str:
    """Say with which status the server refused the request, if it did."""
    if not _STATUSES:
        return ""
    number = _STATUSES[0]
    phrase = f" {HTTPStatus(number).phrase}" if number in _KNOWN else ""
    return f" (HTTP status {number}{phrase})"


_KNOWN: Final = frozenset(status.value for status in HTTPStatus)


def _sentence(error: BaseException) -> str:
    """Say what an exception says; of an answer that does not fit the protocol, the first place
    where it does not.
    """
    if not isinstance(error, ValidationError):
        return str(error)
    first, *others = error.errors(include_url=False, include_input=False)
    place = "/".join(str(part) for part in first["loc"]) or "the answer"
    more = f" (and {len(others)} more)" if others else ""
    return f"the server's answer breaks the protocol at {place[:200]}: {first['msg']}{more}"


def tell(answer: JsonObject) -> None:
    """Write an answer to the descriptor that the last argument names."""
    write(json.dumps(answer).encode("ascii"))


def write(data: bytes) -> None:
    """Write bytes there."""
    while data:
        data = data[os.write(int(sys.argv[-1]), data) :]
