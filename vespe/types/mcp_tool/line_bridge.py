"""A server behind a URL, for a client that speaks over stdin and stdout: each line of stdin is sent
to the server by the official SDK's transport, and each message of the server becomes a line of
stdout. A process of its own.
"""

import json
import os
import sys
from collections.abc import Collection
from typing import Any, Final

import anyio
import anyio.to_thread
import httpx2
import mcp_types as types
from mcp.shared import inbound
from mcp.shared.message import ClientMessageMetadata, SessionMessage

from vespe import defaults
from vespe.calls.secrets import redact
from vespe.models import JsonObject
from vespe.types.mcp_tool import session

_REVISION: Final = "io.modelcontextprotocol/protocolVersion"
_NAMED: Final = {
    **inbound.NAME_BEARING_METHODS,
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}
_STAYS_OPEN: Final = "subscriptions/listen"
_NO_ACCESS: Final = (401, 403)
_REFUSED: Final[list[int]] = []
"""The first such status, which was told."""


def main() -> None:
    """Read how to reach the server from the first line of stdin (`url`, `headers`, `allow_hosts`,
    and the `secrets` in the headers, which stand as `***` where the server says them), then pass
    messages on until stdin ends and what was asked is answered. Exits with 1 where the server
    cannot be reached.
    """
    reach = json.loads(sys.stdin.buffer.readline())
    session.run(reach, lambda: _Bridge(reach["secrets"]).pass_on(reach), failed=_give_up)


class _Bridge:
    """What is known of the conversation: the `revision` of the handshake, the headers that tools
    want, and the requests without an answer.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = frozenset(secrets)
        self._revision = ""
        self._wanted: dict[str, Any] = {}
        self._open: dict[str | int, str] = {}
        self._changed = anyio.Event()

    async def pass_on(self, reach: JsonObject) -> None:
        async with (
            session.over_http(
                reach["url"], reach["headers"], reach["allow_hosts"], noted=_note_refusal
            ) as (answers, questions),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._answer, answers)
            await self._ask(questions)
            for identifier, method in tuple(self._open.items()):
                if method != _STAYS_OPEN:
                    await self._answered(identifier)
            tasks.cancel_scope.cancel()

    async def _answered(self, identifier: str | int) -> None:
        while identifier in self._open:
            self._changed = anyio.Event()
            await self._changed.wait()

    async def _ask(self, questions: Any) -> None:
        while line := await anyio.to_thread.run_sync(_next_line, abandon_on_cancel=True):
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
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        data = f"{redact(text, self._secrets)}\n".encode()
        while data:
            data = data[os.write(1, data) :]

    def _learn(self, method: str, result: dict[str, Any]) -> None:
        """Take note of the revision that the server chose, and of what its tools want."""
        if method == "initialize" and isinstance(result.get("protocolVersion"), str):
            self._revision = result["protocolVersion"]
        tools = result.get("tools") if method == "tools/list" else None
        for tool in tools if isinstance(tools, list) else ():
            schema = tool.get("inputSchema") if isinstance(tool, dict) else None
            if inbound.find_invalid_x_mcp_header(schema) is None:
                self._wanted[str(tool.get("name"))] = inbound.x_mcp_header_map(schema)


def _next_line() -> bytes:
    while line := sys.stdin.buffer.readline(defaults.LARGER_CAP_BYTES):
        if line.strip():
            return line
    return b""


async def _note_refusal(response: httpx2.Response) -> None:
    if response.status_code in _NO_ACCESS and not _REFUSED:
        _REFUSED.append(response.status_code)
        _say(
            f"the server refused access (HTTP status {response.status_code}): --login KIT sends "
            "the token of your login to a kit, --header another one"
        )


def _give_up(said: JsonObject) -> None:
    _say(f"the server cannot be reached: {said['error']['message']}")
    os._exit(1)


def _say(text: str) -> None:
    sys.stderr.write(f"[vespe] {text}\n")
    sys.stderr.flush()
