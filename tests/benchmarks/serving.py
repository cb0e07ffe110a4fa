"""Serving a function of one's own process: MCP over stdio beside the TypeScript SDK, over HTTP beside the Python SDK."""

import contextlib
import http.client
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import mcp
from tests.benchmarks.axes import Axis, compared, make_project, times
from vespe.mcp_server.tools import ServedTools
from vespe.projects.workspace import open_workspace

VESPE = mcp.VESPE.replace("serve_stdio(registry=registry)", "serve_http(registry=registry, address='127.0.0.1:{port}', token=None)")
SDK = mcp.HIGH_LEVEL.replace('MCPServer("add")', 'MCPServer("add", log_level="WARNING")').replace(
    'server.run("stdio")', 'server.run("streamable-http", port={port}, json_response=True, stateless_http=True)'
)
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
PARAMS = {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": META}
BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": PARAMS})
ROWS = (("start to list", 0, 0.5, False), ("calls, one at a time", 1, None, True), ("calls, 16 in flight", 2, 0.8, True))
"""What `mcp.measured` returns: its name, the column, the goal, and whether more is better."""
_CALLS = 3000
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "add",
}


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure stdio, HTTP, and lists of very many tools."""
    with mcp.project() as root:
        yield from _stdio(root)
        yield from _http(root)
    yield from _lists(scratch)


def _stdio(root: Path) -> Iterator[Axis]:
    servers = {name: argv for name in ("vespe", "TypeScript SDK", "SDK low-level") if (argv := mcp.command(name, sys.executable))}
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in servers}
    for _ in range(5):
        for name, argv in servers.items():
            found[name].append(_spent(mcp.Client(argv, root)))
    peer = "TypeScript SDK" if "TypeScript SDK" in servers else "SDK low-level"
    columns = {name: list(zip(*rows, strict=True)) for name, rows in found.items()}
    for name, column, goal, more in (
        ("start to list", 0, 0.5, False),
        ("calls, one at a time", 1, None, True),
        ("calls, 16 in flight", 2, 0.8, True),
    ):
        pair = [list(columns[server][column]) for server in ("vespe", peer)]
        yield compared(f"MCP stdio, {name}", "ms" if column == 0 else "calls/s", (pair[0], pair[1]), peer=peer, goal=goal, more=more)


def _spent(client: mcp.Client) -> tuple[float, float, float]:
    """Return what a server takes of the processor: milliseconds until it has listed, and calls a second, one at a time and 16 in flight."""
    try:
        client.begin()
        started = client.spent_s()
        client.calls(200, 1)
        rates = []
        for in_flight in (1, 16):
            before = client.spent_s()
            client.calls(_CALLS, in_flight)
            rates.append(_CALLS / (client.spent_s() - before))
        return started * 1000, rates[0], rates[1]
    finally:
        client.end()


def _http(root: Path) -> Iterator[Axis]:
    rounds = [(_http_rate(VESPE, root), _http_rate(SDK, root)) for _ in range(3)]
    found = dict(zip(("vespe", "SDK"), map(list, zip(*rounds, strict=True)), strict=True))
    yield compared("MCP HTTP, one at a time", "calls/s", (found["vespe"], found["SDK"]), peer="mcp SDK, JSON, stateless", goal=2.0)


def _http_rate(code: str, root: Path) -> float:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [sys.executable, "-c", code.replace("{port}", str(port))]
    with subprocess.Popen(argv, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            with contextlib.closing(_connected(port)) as connection:
                for _ in range(100):
                    _call(connection)
                before = mcp.processor_time_of(server.pid)
                for _ in range(2000):
                    _call(connection)
                return 2000 / (mcp.processor_time_of(server.pid) - before)
        finally:
            server.terminate()


def _connected(port: int) -> http.client.HTTPConnection:
    until = time.monotonic() + 30
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.connect()
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
            continue
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def _call(connection: http.client.HTTPConnection) -> None:
    connection.request("POST", "/mcp", BODY, HEADERS)
    answer = connection.getresponse()
    said = answer.read()
    if answer.status != 200 or b'"sum":' not in said.replace(b" ", b""):
        raise RuntimeError(f"{answer.status}: {said[:300]!r}")


def _lists(scratch: Path) -> Iterator[Axis]:
    root = make_project(scratch / "of-10000", tools=10_000)
    with ServedTools(open_workspace(root)) as tools:
        began = time.perf_counter()
        pages = _whole(tools)
        first = (time.perf_counter() - began) * 1000
        again = times({"again": lambda: _whole(tools)}, rounds=3)["again"]
    yield Axis(
        name=f"tools/list of 10,000, unchanged ({pages} pages)",
        unit="ms",
        ours=statistics.median(again),
        peer="150 ms",
        theirs=150,
        ratio=statistics.median(again) / 150,
        goal=1.0,
        more=False,
    )
    yield Axis(name="the same, asked first", unit="ms", ours=first, peer="-", theirs=0, ratio=0)


def _whole(tools: ServedTools) -> int:
    cursor, pages = None, 0
    while True:
        page = tools.page("2025-11-25", cursor)
        pages += 1
        if (cursor := page.get("nextCursor")) is None:
            return pages
