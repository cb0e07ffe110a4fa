"""A tool of an MCP server, run as every other tool is."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Exchange, Loopback
from tests.support.mcp_servers import ByHand, definition
from vespe import errors
from vespe.models import Implementation, Tool
from vespe.tool_types import Context
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool import exchange as exchange_of_sessions
from vespe.types.mcp_tool.execution import McpTool
from vespe.types.mcp_tool.sessions import Sessions


def tool_of(server: ByHand, name: str = "echo", **args: Any) -> Tool:
    digest = mcp_definitions.digest(definition(name))
    implementation = Implementation(
        type="mcp_tool",
        entrypoint=name,
        args={"command": list(server.command), "digest": digest, **args},
    )
    return Tool(
        uid="tool-x",
        name=name,
        description="",
        input_schema={"type": "object"},
        implementation=implementation,
        kit_id="byhand",
    )


def context(tmp_path: Path) -> Context:
    return Context(
        project_root=str(tmp_path),
        directory=str(tmp_path),
        environment={"PATH": os.environ["PATH"]},
        timeout_s=30,
    )


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("echo", '{"a": 1}'),
        ("structured", {"n": 1}),
        ("nothing", ""),
        (
            "image",
            {
                "content": [
                    {"type": "text", "text": "a dot"},
                    {"type": "image", "data": "AA==", "mimeType": "image/png"},
                ]
            },
        ),
    ],
)
def test_a_result_is_its_text_its_structure_or_all_its_blocks(
    name: str, result: object, tmp_path: Path
) -> None:
    server = ByHand(tmp_path / "s", definition(name))
    assert McpTool().execute(tool_of(server, name), {"a": 1}, context(tmp_path)).result == result


def test_a_tool_that_says_that_it_failed_is_an_error_in_its_words(tmp_path: Path) -> None:
    server = ByHand(tmp_path / "s", definition("fails"))
    with pytest.raises(errors.ToolExecutionError, match="no such city"):
        McpTool().execute(tool_of(server, "fails"), {}, context(tmp_path))


def test_a_plan_says_what_would_start_and_keeps_secrets_unsaid(tmp_path: Path) -> None:
    tool = tool_of(ByHand(tmp_path / "s"), headers={"Authorization": "Bearer ${env:TOKEN}"})
    plan = McpTool().plan(tool, {"text": "hi"}, context(tmp_path))
    assert plan["entrypoint"] == "echo" and plan["arguments"] == {"text": "hi"}
    assert plan["headers"] == {"Authorization": "Bearer ${env:TOKEN}"}


def test_a_secret_that_is_missing_never_becomes_an_empty_header(tmp_path: Path) -> None:
    with pytest.raises(errors.Refused):
        McpTool().execute(
            tool_of(ByHand(tmp_path / "s"), headers={"X": "${env:TOKEN}"}), {}, context(tmp_path)
        )


def test_a_tool_without_an_implementation_is_none_of_ours(tmp_path: Path) -> None:
    bare = Tool(uid="tool-x", name="x", description="", input_schema={"type": "object"})
    with pytest.raises(errors.InvalidTool):
        McpTool().plan(bare, {}, context(tmp_path))


# Credentials that a server refuses


class Listening:
    """A server that listens, and takes one bearer token: `right`. Of a `late` one calls alone are
    refused. `calls` counts what it was asked to call.
    """

    def __init__(self, *, right: str, late: bool = False) -> None:
        self.right, self.late, self.calls = right, late, 0

    def __call__(self, exchange: Exchange) -> bool:
        asked = json.loads(exchange.body or b"{}")
        method, is_call = asked.get("method", ""), asked.get("method") == "tools/call"
        self.calls += is_call
        is_right = exchange.headers.get("authorization") == f"Bearer {self.right}"
        if not is_right and (is_call or not self.late):
            return exchange.reply(b"{}", status=401)
        if "id" not in asked:
            return exchange.reply(b"", status=202)
        said: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "listening", "version": "1"},
            },
            "tools/list": {"tools": [definition("echo")]},
            "tools/call": {"content": [{"type": "text", "text": "done"}]},
        }
        if method in results:
            said["result"] = results[method]
        else:
            said["error"] = {"code": -32601, "message": "there is none"}
        return exchange.reply(json.dumps(said).encode())


def _remote(url: str) -> Tool:
    args = {
        "url": url,
        "headers": {"Authorization": "Bearer ${env:T}"},
        "digest": mcp_definitions.digest(definition("echo")),
    }
    return Tool(
        uid="tool-x",
        name="echo",
        description="",
        input_schema={"type": "object"},
        implementation=Implementation(type="mcp_tool", entrypoint="echo", args=args),
        kit_id="remote",
    )


@pytest.mark.parametrize("kept", [False, True])
def test_p80_a_secret_that_a_server_refuses_is_fetched_once_more(
    tmp_path: Path, kept: bool
) -> None:
    asked: list[str] = []
    fetched: dict[str, str] = {}

    def renew(given: Mapping[str, str]) -> Mapping[str, str] | None:
        asked.append(given["T"])
        return dict(fetched) or None

    with Sessions() as sessions, Loopback(listening := Listening(right="new")) as server:
        tool = _remote(server.url("/mcp"))
        given = replace(
            context(tmp_path),
            secrets={"T": "old"},
            renew=renew,
            allow_hosts=("127.0.0.1",),
            sessions=sessions if kept else None,
        )
        for renewed, calls in (({}, 0), ({"T": "wrong too"}, 0), ({"T": "new"}, 1)):
            fetched |= renewed
            try:
                assert McpTool().execute(tool, {}, given).result == "done"
            except errors.ToolExecutionError as error:
                assert "401" in error.message and "old" not in error.message
            assert (asked, listening.calls) == (["old"], calls)
            asked.clear()


@pytest.mark.parametrize("kept", [False, True])
def test_a_call_that_was_sent_is_not_sent_again_for_a_401(tmp_path: Path, kept: bool) -> None:
    listening = Listening(right="new", late=True)
    with Sessions() as sessions, Loopback(listening) as server:
        given = replace(
            context(tmp_path),
            secrets={"T": "old"},
            renew=lambda _: {"T": "new"},
            allow_hosts=("127.0.0.1",),
            sessions=sessions if kept else None,
        )
        with pytest.raises(errors.ToolExecutionError, match="401"):
            McpTool().execute(_remote(server.url("/mcp")), {}, given)
    assert listening.calls == 1


def test_a_401_is_told_also_where_the_server_refuses_the_older_protocol_for_another_reason(
    tmp_path: Path,
) -> None:
    def listen(exchange: Exchange) -> bool:
        is_old = json.loads(exchange.body or b"{}").get("method") == "initialize"
        return exchange.reply(b"{}", "WWW-Authenticate: Bearer", status=400 if is_old else 401)

    with Loopback(listen) as server:
        given = replace(context(tmp_path), secrets={"T": "t"}, allow_hosts=("127.0.0.1",))
        with pytest.raises(exchange_of_sessions.Unauthorized, match="401"):
            McpTool().execute(_remote(server.url("/mcp")), {}, given)
