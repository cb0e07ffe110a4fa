"""MCP over stdio beside its peers, in one run: python -m tests.benchmarks.mcp [--rounds 3] [--calls
3000].

Every server has the same tool, `add`, which is code of its own process. Each round starts each
server once, in turn, so that all meet the same machine: start to `tools/list` answered, calls a
second one at a time and 16 in flight, resident memory. The client is the same bare one for all.
`asyncio` is our own server's handling in an event loop instead of threads.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vespe.projects.init import found_project

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}

BARE = """
import json, sys
for line in sys.stdin.buffer:
    m = json.loads(line)
    if "id" not in m: continue
    if m["method"] == "initialize": r = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "b", "version": "1"}}
    elif m["method"] == "tools/list": r = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    else:
        a = m["params"]["arguments"]; s = {"sum": a["a"] + a["b"]}
        r = {"content": [{"type": "text", "text": json.dumps(s)}], "structuredContent": s}
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}).encode() + b"\\n"); sys.stdout.buffer.flush()
"""
VESPE = """
import vespe
def add(a, b): return {"sum": a + b}
registry = vespe.ToolRegistry()
registry.register(add)
vespe.serve_stdio(registry=registry)
"""
ASYNCIO = """
import asyncio, os, sys, vespe
from vespe.documents import strict_json as documents
from vespe.features.mcp.server import protocol, tool_call as running
from vespe.features.mcp.server.stdio_io import encoded
from vespe.features.mcp.server.tools import ServedTools
from vespe.projects.workspace import open_workspace
def add(a, b): return {"sum": a + b}
registry = vespe.ToolRegistry()
registry.register(add)
tools, session = ServedTools(open_workspace(), registry=registry), protocol.ProtocolSession()
async def call(pending, send):
    send(await asyncio.to_thread(running.run, pending, tools, notify=send))
async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 22)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(os.dup(1), "wb", 0))
    send = lambda message: loop.call_soon_threadsafe(transport.write, encoded(message))
    tasks = set()
    while line := await reader.readline():
        answer = protocol.handle(documents.parse_json(line), session, tools)
        if isinstance(answer, protocol.PendingCall):
            task = asyncio.create_task(call(answer, send)); tasks.add(task); task.add_done_callback(tasks.discard)
        elif answer is not None: transport.write(encoded(answer))
asyncio.run(main())
"""
LOW_LEVEL = f"""
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
TOOL = types.Tool(name="add", description="Add.", input_schema={SCHEMA!r}, output_schema={SUM!r})
async def list_tools(ctx, params): return types.ListToolsResult(tools=[TOOL])
async def call_tool(ctx, params):
    s = {{"sum": params.arguments["a"] + params.arguments["b"]}}
    return types.CallToolResult(content=[types.TextContent(type="text", text=str(s))], structured_content=s)
server = Server("add", on_list_tools=list_tools, on_call_tool=call_tool)
async def main():
    async with stdio_server() as (r, w): await server.run(r, w, server.create_initialization_options())
anyio.run(main)
"""
HIGH_LEVEL = """
from typing import TypedDict
from mcp.server.mcpserver import MCPServer
class Sum(TypedDict):
    sum: int
server = MCPServer("add")
@server.tool()
async def add(a: int, b: int) -> Sum:
    "Add."
    return {"sum": a + b}
server.run("stdio")
"""
FASTMCP = """
from fastmcp import FastMCP
server = FastMCP("add")
@server.tool
async def add(a: int, b: int) -> dict[str, int]:
    "Add."
    return {"sum": a + b}
server.run("stdio", show_banner=False)
"""
NODE = Path(sys.prefix) / "node/node_modules"
TYPESCRIPT = f"""
import {{ Server }} from "{NODE}/@modelcontextprotocol/sdk/dist/esm/server/index.js";
import {{ StdioServerTransport }} from "{NODE}/@modelcontextprotocol/sdk/dist/esm/server/stdio.js";
import {{ ListToolsRequestSchema, CallToolRequestSchema }} from "{NODE}/@modelcontextprotocol/sdk/dist/esm/types.js";
const server = new Server({{ name: "add", version: "1" }}, {{ capabilities: {{ tools: {{}} }} }});
const add = {{ name: "add", description: "Add.", inputSchema: {json.dumps(SCHEMA)}, outputSchema: {json.dumps(SUM)} }};
server.setRequestHandler(ListToolsRequestSchema, async () => ({{ tools: [add] }}));
server.setRequestHandler(CallToolRequestSchema, async ({{ params }}) => {{
  const s = {{ sum: params.arguments.a + params.arguments.b }};
  return {{ content: [{{ type: "text", text: JSON.stringify(s) }}], structuredContent: s }};
}});
await server.connect(new StdioServerTransport());
"""
SERVERS = {
    "bare loop": BARE,
    "vespe": VESPE,
    "asyncio": ASYNCIO,
    "SDK low-level": LOW_LEVEL,
    "SDK high-level": HIGH_LEVEL,
    "fastmcp": FASTMCP,
    "TypeScript SDK": TYPESCRIPT,
}
NEEDS = {"SDK low-level": "mcp", "SDK high-level": "mcp", "fastmcp": "fastmcp"}


def processor_time_of(pid: int) -> float:
    """Return the seconds of processor time that a running process has taken."""
    ticks = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


class Client:
    """Writes lines and reads lines."""

    def __init__(self, argv: list[str], cwd: Path) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            argv, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def send(self, method: str, params: Any, identifier: int | None) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params} | (
            {} if identifier is None else {"id": identifier}
        )
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def begin(self) -> float:
        """Shake hands and list; gives the milliseconds since the start."""
        info = {"name": "bench", "version": "1"}
        self.send(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info},
            0,
        )
        self.read()
        self.send("notifications/initialized", {}, None)
        self.send("tools/list", {}, 1)
        assert self.read()["result"]["tools"][0]["name"] == "add"
        return (time.perf_counter() - self.began) * 1000

    def calls(self, number: int, in_flight: int) -> float:
        """Make calls; gives how many a second."""
        began, sent = time.perf_counter(), 0
        for got in range(number):
            while sent < min(number, got + in_flight):
                self.send(
                    "tools/call", {"name": "add", "arguments": {"a": sent, "b": 2}}, 10 + sent
                )
                sent += 1
            answer = self.read()
            assert answer["result"]["structuredContent"]["sum"] == answer["id"] - 10 + 2
        return number / (time.perf_counter() - began)

    def spent_s(self) -> float:
        """Return the seconds of processor time that the server has taken."""
        return processor_time_of(self.process.pid)

    def resident_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)


def measured(client: Client, calls: int) -> tuple[float, float, float, float]:
    try:
        start = client.begin()
        client.calls(200, 1)
        return start, client.calls(calls, 1), client.calls(calls, 16), client.resident_mib()
    finally:
        client.end()


def command(name: str, peers: str) -> list[str] | None:
    """Give the command that starts a server; None where what it needs is not installed."""
    if name == "TypeScript SDK":
        node = NODE / ".bin/node"
        return [str(node), "--input-type=module", "-e", SERVERS[name]] if node.exists() else None
    python = peers if name in NEEDS else sys.executable
    return [python, "-c", SERVERS[name]] if name not in NEEDS or has(python, NEEDS[name]) else None


def has(python: str, module: str) -> bool:
    """Say whether an interpreter has a module."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


@contextlib.contextmanager
def project() -> Iterator[Path]:
    """A project with the tool, in a home of its own."""
    with tempfile.TemporaryDirectory() as directory:
        for name in (
            "HOME",
            "XDG_STATE_HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_CACHE_HOME",
        ):
            os.environ[name] = str(Path(directory, "home", name))
        os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent.parent)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        root = Path(directory, "project")
        tool = root / ".vespe/tools/tool-add"
        root.mkdir()
        found_project(root)
        tool.mkdir(parents=True)
        config = {
            "uid": "tool-add",
            "name": "add",
            "description": "Add.",
            "schema": {"input": SCHEMA, "output": SUM},
        }
        program = {"type": "shell_command", "entrypoint": "echo", "args": {"argv": ["{a}"]}}
        config["implementation_details"] = program
        (tool / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (tool / "description.md").write_text("# add\n", encoding="utf-8")
        time.sleep(0.2)
        yield root


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--calls", type=int, default=3000)
    options.add_argument(
        "--peers",
        default=sys.executable,
        metavar="PYTHON",
        help="an interpreter that has mcp and fastmcp",
    )
    given = options.parse_args()
    servers = {name: argv for name in SERVERS if (argv := command(name, given.peers)) is not None}
    found: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in servers}
    with project() as root:
        for _ in range(given.rounds):
            for name, argv in servers.items():
                found[name].append(measured(Client(argv, root), given.calls))
    print(
        f"{'median of ' + str(given.rounds):<18}{'start ms':>10}{'calls/s':>10}{'16 flying':>11}{'MiB':>8}"
    )
    for name, rows in found.items():
        start, one, many, mib = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name:<18}{start:>10.0f}{one:>10.0f}{many:>11.0f}{mib:>8.1f}")


if __name__ == "__main__":
    main()
