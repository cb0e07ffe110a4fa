"""A server behind a URL, for a client that speaks over stdin and stdout: each line of stdin is sent
to the server by the official SDK's transport, and each message of the server becomes a line of
stdout. A process of its own.
"""

import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Collection
from typing import Any, Final

import anyio
import anyio.to_thread
import httpx2
import mcp_types as types
from mcp.shared import inbound
from mcp.shared.message import ClientMessageMetadata, SessionMessage

from vespe import defaults
from vespe.calls.secrets import redact
from vespe.documents import strict_json
from vespe.models import JsonObject
from vespe.types.mcp_tool import session

_REVISION: Final = "io.modelcontextprotocol/protocolVersion"
_NAMED: Final = {
    **inbound.NAME_BEARING_METHODS,
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}
_SAID: Final = ("method", "params", "result", "error")
"""The parts of a message that can hold what the server was sent."""
_STAYS_OPEN: Final = "subscriptions/listen"
_UNAUTHORIZED: Final = 401
_NO_ACCESS: Final = (401, 403)
_REFUSED: Final[list[int]] = []
"""The first such status, which was told."""
_RENEWAL_S: Final = 150.0
"""How long a new token may take: another process may be refreshing the same login."""
_AHEAD: Final = 100
"""Lines of the client's that are read while the handshake is not answered."""


def main() -> None:
    """Read how to reach the server from the first line of stdin (`url`, `headers`, `allow_hosts`,
    and the `secrets` in the headers, which stand as `***` where the server says them), then pass
    messages on until stdin ends and what was asked is answered. Exits with 1 where the server
    cannot be reached.

    With a login, the first line also has its `token` and a `mark`. Where the server refuses the
    token, a line of stdout says so (the mark and `{"refused"}`), and a line of stdin answers it
    (the mark and `{"token"}` or `{"error"}`).
    """
    reach = json.loads(sys.stdin.buffer.readline())
    session.run(reach, lambda: _Bridge(reach["secrets"]).pass_on(reach), failed=_give_up)


class _LoginToken(httpx2.Auth):
    """Sends the token of a login. Where the server refuses it, another one is asked for, and the
    request is sent once more: a request that was refused has not been carried out.
    """

    def __init__(self, token: str, *, mark: str, learned: Callable[[str], None]) -> None:
        self._token, self._mark, self._learned = token, mark.encode("ascii"), learned
        self._asking = anyio.Lock()
        self._answered = anyio.Event()
        self._over = False

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        used = self._token
        request.headers["authorization"] = f"Bearer {used}"
        response = yield request
        if response.status_code == _UNAUTHORIZED and await self._renew(used):
            request.headers["authorization"] = f"Bearer {self._token}"
            response = yield request
        _note(response, "the login's token does not suffice; `vespe mcp status` shows the login")

    async def _renew(self, refused: str) -> bool:
        async with self._asking:
            # Another request may have been refused the same token, and have got another one.
            if self._token == refused and not self._over:
                self._answered = anyio.Event()
                _put(self._mark + json.dumps({"refused": refused}).encode("ascii"))
                with anyio.move_on_after(_RENEWAL_S):
                    await self._answered.wait()
            return self._token != refused

    def takes(self, line: bytes) -> bool:
        """Take a line of stdin that is about the token; False for any other line."""
        if not line.startswith(self._mark):
            return False
        answer = json.loads(line[len(self._mark) :])
        if "error" in answer:
            if not _REFUSED:
                _REFUSED.append(_UNAUTHORIZED)
                _say(answer["error"])
        else:
            self._learned(answer["token"])
            self._token = answer["token"]
        self._answered.set()
        return True

    def end(self) -> None:
        """Wait for no answer any more: stdin is over."""
        self._over = True
        self._answered.set()


class _Bridge:
    """What is known of the conversation: the `revision` of the handshake, the headers that tools
    want, and the requests without an answer.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = frozenset(secrets)
        self._login: _LoginToken | None = None
        self._revision = ""
        self._wanted: dict[str, Any] = {}
        self._open: dict[str | int, str] = {}
        self._changed = anyio.Event()

    async def pass_on(self, reach: JsonObject) -> None:
        if "token" in reach:
            self._login = _LoginToken(reach["token"], mark=reach["mark"], learned=self._hide)
        async with (
            session.over_http(
                reach["url"],
                reach["headers"],
                reach["allow_hosts"],
                noted=_ignore if self._login else _note_refusal,
                auth=self._login,
            ) as (answers, questions),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._answer, answers)
            sender, lines = anyio.create_memory_object_stream[bytes](_AHEAD)
            tasks.start_soon(self._read, sender)
            await self._ask(lines, questions)
            for identifier, method in tuple(self._open.items()):
                if method != _STAYS_OPEN:
                    await self._answered(identifier)
            tasks.cancel_scope.cancel()

    async def _answered(self, identifier: str | int) -> None:
        while identifier in self._open:
            self._changed = anyio.Event()
            await self._changed.wait()

    def _hide(self, secret: str) -> None:
        self._secrets |= {secret}

    async def _read(self, sender: Any) -> None:
        """Read stdin. While the handshake waits for its answer, a new token may come."""
        async with sender:
            while line := await anyio.to_thread.run_sync(_next_line, abandon_on_cancel=True):
                if self._login is None or not self._login.takes(line):
                    await sender.send(line)
        if self._login is not None:
            self._login.end()

    async def _ask(self, lines: Any, questions: Any) -> None:
        async for line in lines:
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                told = types.ErrorData(code=types.PARSE_ERROR, message="the line is not JSON-RPC")
                self._write(types.JSONRPCError(jsonrpc="2.0", id=None, error=told))
                continue
            if isinstance(message, types.JSONRPCRequest):
                self._open[message.id] = message.method
            metadata = ClientMessageMetadata(headers=self._headers(message))
            await questions.send(SessionMessage(message, metadata=metadata))
            # What a client sends on at once needs the session that the answer names.
            if isinstance(message, types.JSONRPCRequest) and message.method == "initialize":
                await self._answered(message.id)

    def _headers(self, message: types.JSONRPCMessage) -> dict[str, str]:
        """Return what a message says in its headers too: its revision, and in the newest its method
        and what it is about.
        """
        if not isinstance(message, types.JSONRPCRequest | types.JSONRPCNotification):
            return {}
        params: dict[str, Any] = message.params or {}
        meta = params.get("_meta")
        revision = meta.get(_REVISION) if isinstance(meta, dict) else None
        if not isinstance(revision, str):
            known = message.method != "initialize" and self._revision
            return {inbound.MCP_PROTOCOL_VERSION_HEADER: self._revision} if known else {}
        headers = {
            inbound.MCP_PROTOCOL_VERSION_HEADER: revision,
            inbound.MCP_METHOD_HEADER: message.method,
        }
        name, given = params.get(_NAMED.get(message.method, "")), params.get("arguments")
        if isinstance(name, str):
            headers[inbound.MCP_NAME_HEADER] = inbound.encode_header_value(name)
        if message.method == "tools/call" and name in self._wanted and isinstance(given, dict):
            headers |= inbound.mcp_param_headers(self._wanted[name], given)
        return headers

    async def _answer(self, answers: Any) -> None:
        async for received in answers:
            if isinstance(received, Exception):
                _say(f"an answer of the server was left out: {received}")
                continue
            message = received.message
            if isinstance(message, types.JSONRPCResponse):
                self._learn(self._open.get(message.id, ""), message.result)
            self._write(message)
            if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                self._open.pop(message.id, None)  # type: ignore[arg-type]  # None is no key of it
                self._changed.set()

    def _write(self, message: types.JSONRPCMessage) -> None:
        said = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        # Not in the line as it is written: `***` for a number would not be JSON.
        hidden = {key: redact(said[key], self._secrets) for key in _SAID if key in said}
        _put(strict_json.compact_bytes(said | hidden))

    def _learn(self, method: str, result: dict[str, Any]) -> None:
        """Take note of the revision that the server chose, and of what its tools want."""
        if method == "initialize" and isinstance(result.get("protocolVersion"), str):
            self._revision = result["protocolVersion"]
        tools = result.get("tools") if method == "tools/list" else None
        for tool in tools if isinstance(tools, list) else ():
            schema = tool.get("inputSchema") if isinstance(tool, dict) else None
            if inbound.find_invalid_x_mcp_header(schema) is None:
                self._wanted[str(tool.get("name"))] = inbound.x_mcp_header_map(schema)


def _put(line: bytes) -> None:
    line += b"\n"
    while line:
        line = line[os.write(1, line) :]


def _next_line() -> bytes:
    while line := sys.stdin.buffer.readline(defaults.LARGER_CAP_BYTES):
        if line.strip():
            return line
    return b""


async def _ignore(_: httpx2.Response) -> None:
    """A refusal is noted once a new token did not help."""


async def _note_refusal(response: httpx2.Response) -> None:
    _note(response, "--login KIT sends the token of your login to a kit, --header another one")


def _note(response: httpx2.Response, hint: str) -> None:
    if response.status_code in _NO_ACCESS and not _REFUSED:
        _REFUSED.append(response.status_code)
        _say(f"the server refused access (HTTP status {response.status_code}): {hint}")


def _give_up(said: JsonObject) -> None:
    _say(f"the server cannot be reached: {said['error']['message']}")
    os._exit(1)


def _say(text: str) -> None:
    sys.stderr.write(f"[vespe] {text}\n")
    sys.stderr.flush()
