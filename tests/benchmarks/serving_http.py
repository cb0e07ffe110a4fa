"""Serving a function of one's own process over HTTP, beside the Python SDK and the TypeScript SDK;
and what an idle session costs.

All three answer plain JSON and keep no session. The TypeScript SDK knows no revision after
2025-11-25, and makes a server for each request, as its own example of a server without sessions
does.
"""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import mcp
from tests.benchmarks.axes import Axis, compared

VESPE = mcp.VESPE.replace(
    "serve_stdio(registry=registry)",
    "serve_http(registry=registry, address='127.0.0.1:{port}', token=None)",
)
SDK = mcp.HIGH_LEVEL.replace('MCPServer("add")', 'MCPServer("add", log_level="WARNING")').replace(
    'server.run("stdio")',
    'server.run("streamable-http", port={port}, json_response=True, stateless_http=True)',
)
TYPESCRIPT = (
    f"import {{ StreamableHTTPServerTransport }} from "
    f'"{mcp.NODE}/@modelcontextprotocol/sdk/dist/esm/server/streamableHttp.js";\n'
    f"import {{ createMcpExpressApp }} from "
    f'"{mcp.NODE}/@modelcontextprotocol/sdk/dist/esm/server/express.js";\n'
    + mcp.TYPESCRIPT.replace(
        "const server = new", "const make = () => { const server = new"
    ).replace(
        "await server.connect(new StdioServerTransport());",
        """return server; };
const app = createMcpExpressApp();
app.post("/mcp", async (req, res) => {
  const server = make();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  await server.connect(transport);
  await transport.handleRequest(req, res, req.body);
  res.on("close", () => { transport.close(); server.close(); });
});
app.listen({port}, "127.0.0.1");
""",
    )
)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PARAMS = {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": META}
BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": PARAMS})
PLAIN = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
NEWEST = PLAIN | {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "add",
}
OLDER = PLAIN | {"MCP-Protocol-Version": "2025-06-18"}
_CALLS = 2000
_SESSIONS = 1000


def axes(root: Path) -> Iterator[Axis]:
    """Measure calls a second of the server's processor time, and the memory of idle sessions."""
    node = mcp.NODE / ".bin/node"
    servers = {
        "vespe": ([sys.executable, "-c", VESPE], NEWEST),
        "mcp SDK": ([sys.executable, "-c", SDK], NEWEST),
    }
    servers |= (
        {
            "TypeScript SDK": (
                [str(node), "--input-type=module", "-e", TYPESCRIPT],
                OLDER,
            )
        }
        if node.exists()
        else {}
    )
    found: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(3):
        for name, (argv, headers) in servers.items():
            found[name].append(_rate(argv, root, headers))
    for peer, goal in (("mcp SDK", 2.0), ("TypeScript SDK", 1.0)):
        if peer in found:
            said = f"{peer}, JSON, stateless"
            yield compared(
                "MCP HTTP, one at a time",
                "calls/CPU s",
                (found["vespe"], found[peer]),
                peer=said,
                goal=goal,
            )
    kib = _session_kib(root)
    yield Axis(
        name="MCP HTTP, an idle session of 1,000",
        unit="KiB",
        ours=kib,
        peer="10 KiB",
        theirs=10,
        ratio=kib / 10,
        goal=1.0,
        more=False,
    )


@contextlib.contextmanager
def _served(argv: list[str], root: Path) -> Iterator[tuple[int, int]]:
    """Start a server; yields its port and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [part.replace("{port}", str(port)) for part in argv]
    with subprocess.Popen(
        argv, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            connected(port).close()
            yield port, server.pid
        finally:
            server.terminate()


def _rate(argv: list[str], root: Path, headers: dict[str, str]) -> float:
    with (
        _served(argv, root) as (port, pid),
        contextlib.closing(connected(port)) as connection,
    ):
        for _ in range(300):
            _call(connection, headers)
        before = mcp.processor_time_of(pid)
        for _ in range(_CALLS):
            _call(connection, headers)
        return _CALLS / (mcp.processor_time_of(pid) - before)


def connected(port: int) -> http.client.HTTPConnection:
    """Return a connection, once somebody listens."""
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


def _call(connection: http.client.HTTPConnection, headers: dict[str, str]) -> None:
    connection.request("POST", "/mcp", BODY, headers)
    answer = connection.getresponse()
    said = answer.read()
    if answer.status != 200 or b'"sum":' not in said.replace(b" ", b""):
        raise RuntimeError(f"{answer.status}: {said[:300]!r}")


def _session_kib(root: Path) -> float:
    """Return by how much the server's private memory grows for each of the last 800 of 1,000
    sessions that shook hands and listed.
    """
    with _served([sys.executable, "-c", VESPE], root) as (port, pid):
        for _ in range(_SESSIONS // 5):
            _session(port)
        before = _private_kib(pid)
        for _ in range(_SESSIONS - _SESSIONS // 5):
            _session(port)
        return (_private_kib(pid) - before) / (_SESSIONS - _SESSIONS // 5)


def _session(port: int) -> None:
    """Open a session, list its tools, and leave it."""
    info: dict[str, object] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    steps: tuple[tuple[str, dict[str, object], int], ...] = (
        ("initialize", info, 200),
        ("notifications/initialized", {}, 202),
        ("tools/list", {}, 200),
    )
    headers = dict(PLAIN)
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    ) as connection:
        for number, (method, params, status) in enumerate(steps):
            message = {"jsonrpc": "2.0", "method": method, "params": params} | (
                {"id": number} if status == 200 else {}
            )
            connection.request("POST", "/mcp", json.dumps(message), headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != status:
                raise RuntimeError(f"{method}: {answer.status}")
            headers = PLAIN | {
                "MCP-Protocol-Version": "2025-11-25",
                "Mcp-Session-Id": answer.getheader("mcp-session-id") or headers["Mcp-Session-Id"],
            }


def _private_kib(pid: int) -> int:
    time.sleep(1)
    return int(
        Path(f"/proc/{pid}/smaps_rollup")
        .read_text(encoding="utf-8")
        .partition("Private_Dirty:")[2]
        .split()[0]
    )
