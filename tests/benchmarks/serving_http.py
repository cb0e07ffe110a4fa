"""Serving a function of one's own process over HTTP, beside the Python SDK and the TypeScript SDK;
and what an idle session costs.

Requests a second by the clock, on connections that are kept alive: one at a time, and sixteen at
once on as many connections. The client sends bytes that are ready and looks for the end of an
answer, so that it costs little. All three keep a session, as clients of today do, and answer JSON;
the TypeScript SDK, which knows no revision after 2025-11-25, has answered 21,000 requests before. The
newest revision has no session.
"""

import contextlib
import http.client
import itertools
import json
import selectors
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
    'server.run("stdio")', 'server.run("streamable-http", port={port}, json_response=True)'
)
TYPESCRIPT = (
    f"import {{ StreamableHTTPServerTransport }} from "
    f'"{mcp.NODE}/@modelcontextprotocol/sdk/dist/esm/server/streamableHttp.js";\n'
    f"import {{ createMcpExpressApp }} from "
    f'"{mcp.NODE}/@modelcontextprotocol/sdk/dist/esm/server/express.js";\n'
    'import { randomUUID } from "node:crypto";\n'
    + mcp.TYPESCRIPT.replace(
        "const server = new", "const make = () => { const server = new"
    ).replace(
        "await server.connect(new StdioServerTransport());",
        """return server; };
const app = createMcpExpressApp();
const open = {};
app.post("/mcp", async (req, res) => {
  let transport = open[req.headers["mcp-session-id"]];
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID, enableJsonResponse: true,
      onsessioninitialized: (id) => { open[id] = transport; },
    });
    await make().connect(transport);
  }
  await transport.handleRequest(req, res, req.body);
});
app.listen({port}, "127.0.0.1");
""",
    )
)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {"name": "add", "arguments": {"a": 1, "b": 2}}
PLAIN = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
OLDER = "2025-06-18"
NEWEST = "2026-07-28"
METHODS: dict[str, dict[str, object]] = {"ping": {}, "tools/list": {}, "tools/call": {**CALL}}
_WARM = 7_000
_SESSIONS = 1000
_SECONDS = 1.0
_ROUNDS = 3
_AT_ONCE = 16
_PATIENCE_S = 5.0
_ID = 1000
"""Of the first connection's requests: all have as many digits."""
_opened = itertools.count()
"""Connections so far. A server may still be at the last request of one that was closed."""

Key = tuple[str, str, int]
"""A revision, a method, and how many requests are under way."""


def axes(root: Path) -> Iterator[Axis]:
    """Measure requests a second, and the memory of idle sessions."""
    node = mcp.NODE / ".bin/node"
    servers = {"vespe": [sys.executable, "-c", VESPE], "mcp SDK": [sys.executable, "-c", SDK]}
    if node.exists():
        servers["TypeScript SDK"] = [str(node), "--input-type=module", "-e", TYPESCRIPT]
    found: dict[str, dict[Key, list[float]]] = {name: {} for name in servers}
    with contextlib.ExitStack() as stack:
        ports = {
            name: stack.enter_context(_served(argv, root))[0] for name, argv in servers.items()
        }
        cases = {name: _cases(name, port) for name, port in ports.items()}
        for name, port in ports.items():
            for data in cases[name].values():
                _requests(port, data, 1, number=_WARM if name == "TypeScript SDK" else 500)
        for _ in range(_ROUNDS):
            for (revision, method), _ in cases["vespe"].items():
                for at_once in (1, _AT_ONCE):
                    for name, port in ports.items():
                        if (known := cases[name].get((revision, method))) is not None:
                            rate = _requests(port, known, at_once)
                            found[name].setdefault((revision, method, at_once), []).append(rate)
    for key, ours in found["vespe"].items():
        for peer, goal in (("TypeScript SDK", 1.0), ("mcp SDK", 2.0)):
            if key in found.get(peer, {}):
                yield _row(key, ours, found[peer][key], peer=peer, goal=goal)
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


def _row(key: Key, ours: list[float], theirs: list[float], *, peer: str, goal: float) -> Axis:
    revision, method, at_once = key
    how = "newest revision" if revision == NEWEST else "session"
    many = "" if at_once == 1 else f", {at_once} at once"
    return compared(
        f"MCP HTTP, {how}, {method}{many}", "requests/s", (ours, theirs), peer=peer, goal=goal
    )


def _cases(name: str, port: int) -> dict[tuple[str, str], bytes]:
    """Return the bytes of each request to a server, by its revision and method."""
    session = _session(port, OLDER)
    cases = {
        (OLDER, method): _request(port, method, params, session)
        for method, params in METHODS.items()
    }
    if name == "TypeScript SDK":
        return cases
    for method in ("tools/list", "tools/call"):
        headers = PLAIN | {"MCP-Protocol-Version": NEWEST, "Mcp-Method": method}
        headers |= {"Mcp-Name": "add"} if method == "tools/call" else {}
        params = METHODS[method] | {"_meta": META}
        cases[NEWEST, method] = _request(port, method, params, headers)
    return cases


def _request(port: int, method: str, params: dict[str, object], headers: dict[str, str]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": _ID, "method": method, "params": params}).encode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


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
            try:
                server.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:  # it waits for connections that nobody closes
                server.kill()


def connected(port: int) -> socket.socket:
    """Return a connection, once somebody listens."""
    until = time.monotonic() + 30
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
            continue
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def _requests(port: int, data: bytes, at_once: int, *, number: int | None = None) -> float:
    """Send a request again and again for a while, or so often; return how many a second."""
    with contextlib.ExitStack() as stack:
        ready = stack.enter_context(selectors.DefaultSelector())
        for _ in range(at_once):
            connection = stack.enter_context(connected(port))
            # no two requests that are under way in a session have the same id
            own = data.replace(b'"id": %d' % _ID, b'"id": %d' % (_ID + next(_opened) % (9 * _ID)))
            ready.register(connection, selectors.EVENT_READ, (bytearray(), own))
            connection.sendall(own)
        began, done = time.perf_counter(), 0
        while True:
            for key, _ in ready.select():
                held, own = key.data
                if _is_whole(key.fileobj, held):  # type: ignore[arg-type]  # a socket
                    done += 1
                    held.clear()
                    key.fileobj.sendall(own)  # type: ignore[union-attr]  # a socket
            spent = time.perf_counter() - began
            if (spent > _SECONDS) if number is None else (done >= number):
                return done / spent


def _is_whole(connection: socket.socket, held: bytearray) -> bool:
    """Read what there is of an answer; True where it is whole."""
    held += connection.recv(65536)
    head, end, body = bytes(held).partition(b"\r\n\r\n")
    if not end:
        return False
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    if not held.startswith(b"HTTP/1.1 200") or b'"error"' in body:
        raise RuntimeError(bytes(held[:500]))
    # without a length it is a stream of events: a call that took long, on a busy machine
    return len(body) >= int(length) if length else body.endswith(b"0\r\n\r\n")


def _session_kib(root: Path) -> float:
    """Return by how much the server's private memory grows for each of the last 800 of 1,000
    sessions that shook hands and listed.
    """
    with _served([sys.executable, "-c", VESPE], root) as (port, pid):
        for _ in range(_SESSIONS // 5):
            _session(port, "2025-11-25")
        before = _private_kib(pid)
        for _ in range(_SESSIONS - _SESSIONS // 5):
            _session(port, "2025-11-25")
        return (_private_kib(pid) - before) / (_SESSIONS - _SESSIONS // 5)


def _session(port: int, revision: str) -> dict[str, str]:
    """Open a session, list its tools, and leave it; return the headers that are in it."""
    info: dict[str, object] = {
        "protocolVersion": revision,
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
                "MCP-Protocol-Version": revision,
                "Mcp-Session-Id": answer.getheader("mcp-session-id") or headers["Mcp-Session-Id"],
            }
    return headers


def _private_kib(pid: int) -> int:
    time.sleep(1)
    return int(
        Path(f"/proc/{pid}/smaps_rollup")
        .read_text(encoding="utf-8")
        .partition("Private_Dirty:")[2]
        .split()[0]
    )
