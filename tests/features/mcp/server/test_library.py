"""The library's way to serve."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import vespe
from tests.support.ondisk import PATIENCE_S, interruptible, write_tool
from tests.support.stdio_client import served

CODE = """
import vespe
def add(a, b):
    vespe.report_progress(1, 2, message="half")
    return {"sum": a + b}
registry = vespe.ToolRegistry()
registry.register(add)
vespe.serve_stdio(registry=registry)
"""
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}


def test_a_function_of_the_callers_process_is_served(project: Path) -> None:
    write_tool(project / ".vespe/tools/tool-add", "add", schema=SCHEMA)
    with served(project, code=CODE) as client:
        client.send(
            "tools/call",
            {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": {"progressToken": 1}},
            id=1,
        )
        assert client.read()["params"] == {
            "progressToken": 1,
            "progress": 1,
            "total": 2,
            "message": "half",
        }
        assert client.read()["result"]["structuredContent"] == {"sum": 3}


PROJECT = """
import sys, vespe
project = vespe.Project()
@project.register
@vespe.tool(read_only=True)
def add(a: int, b: int) -> dict[str, int]:
    "Add two numbers."
    return {"sum": a + b}
if sys.argv[1:]:
    vespe.serve_http(project, address=sys.argv[1], token="t0ken")
else:
    vespe.serve_stdio(project=project)
"""


def test_what_a_project_registered_is_listed_and_called_before_a_tool_of_its_name(
    project: Path,
) -> None:
    write_tool(project / ".vespe/tools/tool-add", "add", schema=SCHEMA)
    write_tool(project / ".vespe/tools/tool-idle", "idle")
    with served(project, code=PROJECT) as client:
        client.send("tools/list", {}, id=1)
        listed = [one for one in client.read()["result"]["tools"] if one["name"] != "read_result"]
        assert [(one["name"], one.get("description")) for one in listed] == [
            ("add", "Add two numbers.")
        ]
        client.send("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, id=2)
        assert client.read()["result"]["structuredContent"] == {"sum": 3}


def test_what_cannot_be_served_is_said(home: Path, project: Path) -> None:
    with pytest.raises(vespe.UsageError, match="its own registry"):
        vespe.serve_stdio(vespe.Project(project), registry=vespe.ToolRegistry())
    with pytest.raises(vespe.UsageError, match="not on disk cannot be served"):
        vespe.serve_stdio(vespe.Project(vespe.ProjectConfig()))


def asked(address: str, token: str) -> tuple[int, bytes]:
    """Call `add` over HTTP once somebody listens; returns the status and the body."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "add"}
    until = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.closing(
            http.client.HTTPConnection(address, timeout=PATIENCE_S)
        ) as connection:
            try:
                connection.request("POST", "/mcp", body, headers)
            except ConnectionRefusedError:
                assert time.monotonic() < until
                time.sleep(0.05)
                continue
            answer = connection.getresponse()
            return answer.status, answer.read()


def test_a_function_of_the_callers_process_is_served_over_http_to_who_says_the_token(
    project: Path,
) -> None:
    write_tool(project / ".vespe/tools/tool-add", "add", schema=SCHEMA)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with subprocess.Popen(
        [sys.executable, "-c", PROJECT, address], cwd=project, env=interruptible()
    ) as server:
        try:
            assert asked(address, "wrong")[0] == 401
            status, body = asked(address, "t0ken")
            assert status == 200 and b'"sum":3' in body
        finally:
            server.terminate()


@pytest.mark.parametrize(
    "address", ["0.0.0.0:8000", "example.com:80", "127.0.0.1", "127.0.0.1:99999"]
)
def test_http_is_served_to_this_machine_alone(project: Path, address: str) -> None:
    with pytest.raises(vespe.UsageError, match="of this machine"):
        vespe.serve_http(project, address=address, token="t0ken")
