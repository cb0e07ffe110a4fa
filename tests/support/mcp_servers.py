"""MCP servers that behave as servers in the field do, each a script of a few lines that speaks the protocol by hand."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.support.ondisk import PATIENCE_S

_SCRIPT = """
import json, os, sys, time
TOOLS = json.loads(open(sys.argv[1], encoding="utf-8").read())
MODE = sys.argv[2]
def say(message):
    print(json.dumps(message), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if MODE == "garbage":
        print("Starting up...", flush=True)
        print("{not json", flush=True)
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "byhand", "version": "1.2"}}
        say(answer | {"result": result})
    elif method == "tools/list":
        if MODE == "endless":
            say(answer | {"result": {"tools": [], "nextCursor": "again"}})
            continue
        start = int(params.get("cursor") or 0)
        result = {"tools": TOOLS[start : start + 100]}
        if start + 100 < len(TOOLS):
            result["nextCursor"] = str(start + 100)
        say(answer | {"result": result})
    elif method == "tools/call":
        name, given = params["name"], params.get("arguments", {})
        if MODE == "crash":
            print("out of paper", file=sys.stderr)
            os._exit(3)
        if MODE == "hang":
            time.sleep(600)
        if MODE == "flood":
            sys.stdout.write("x" * 20_000_000 + "\\n")
            sys.stdout.flush()
            continue
        if MODE == "environment":
            given = dict(os.environ)
        results = {
            "fails": {"content": [{"type": "text", "text": "no such city"}], "isError": True},
            "image": {"content": [{"type": "text", "text": "a dot"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}]},
            "structured": {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"n": 1}},
            "nothing": {"content": []},
        }
        say(answer | {"result": results.get(name, {"content": [{"type": "text", "text": json.dumps(given)}]})})
    else:
        say(answer | {"error": {"code": -32601, "message": "Method not found"}})
"""


def definition(name: str = "echo", **extra: Any) -> dict[str, Any]:
    """One entry of `tools/list`."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **extra}


class ByHand:
    """A server in a directory of its own: `tools` may be rewritten, `command` starts it."""

    def __init__(self, directory: Path, *tools: dict[str, Any], mode: str = "plain") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._definitions, script = directory / "tools.json", directory / "server.py"
        script.write_text(_SCRIPT, encoding="utf-8")
        self.command = (sys.executable, "-I", str(script), str(self._definitions), mode)
        self.lists(*tools)

    def lists(self, *tools: dict[str, Any]) -> None:
        """Let it list these tools from now on."""
        self._definitions.write_text(json.dumps(tools or [definition()]), encoding="utf-8")


_STATEFUL = """
import asyncio, json, os, subprocess, sys, time
from mcp.server import MCPServer

LISTED = sys.argv[2]
server = MCPServer("stateful")
state = {"count": 0}

def described(text):
    return json.loads(open(LISTED, encoding="utf-8").read()).get("description", text)

@server.tool(structured_output=False)
async def count() -> str:
    state["count"] += 1
    return str(state["count"])

@server.tool(structured_output=False)
async def pid() -> str:
    return str(os.getpid())

@server.tool(structured_output=False)
async def later(text: str, seconds: float) -> str:
    open(LISTED + "." + text, "w").close()
    await asyncio.sleep(seconds)
    return text

@server.tool(structured_output=False)
async def deaf(text: str) -> str:
    open(LISTED + "." + text, "w").close()
    time.sleep(600)
    return text

@server.tool(structured_output=False)
async def spawns(text: str) -> str:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1], "spawned"], stdin=subprocess.DEVNULL)
    open(LISTED + "." + text, "w").close()
    await asyncio.sleep(600)
    return text

@server.tool(structured_output=False)
async def crash(text: str) -> str:
    print("out of paper", file=sys.stderr, flush=True)
    if text == "leaves" and os.fork() == 0:
        time.sleep(600)
    os._exit(3)

@server.tool(structured_output=False)
async def crash_later() -> str:
    asyncio.get_running_loop().call_later(0.2, os._exit, 3)
    return "soon"

@server.tool(structured_output=False)
async def says(text: str) -> str:
    print(text, file=sys.stderr, flush=True)
    return os.environ.get("TOKEN", "")

@server.tool(structured_output=False)
async def large(letter: str, size: int) -> str:
    return letter * size

listing = server.list_tools
async def lists():
    tools = await listing()
    for tool in tools:
        tool.description = described(tool.name)
    return tools
server.list_tools = lists
server.run("stdio")
"""


class Stateful:
    """A server that keeps something between calls, on the official SDK; `command` starts it with `marker` among its arguments."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.marker = f"marker-{uuid4()}"
        self._listed, script = directory / "listed.json", directory / "stateful.py"
        script.write_text(_STATEFUL, encoding="utf-8")
        self.command = (sys.executable, "-I", str(script), self.marker, str(self._listed))
        self.says()

    def says(self, **changes: str) -> None:
        """Let it say this of its tools from now on: `description`."""
        self._listed.write_text(json.dumps(changes), encoding="utf-8")

    def wait_for(self, text: str) -> None:
        """Wait until a call with this text is on its way in the server."""
        mark = Path(f"{self._listed}.{text}")
        until = time.monotonic() + PATIENCE_S
        while not mark.exists():
            assert time.monotonic() < until, f"no call of {text} came"
            time.sleep(0.02)
        mark.unlink()

    def processes(self) -> list[str]:
        """The processes that have the marker among their arguments."""
        listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=", "-o", "args="], capture_output=True, check=True, encoding="utf-8")
        return [line for line in listed.stdout.splitlines() if self.marker in line]

    def gone(self) -> bool:
        """Whether nothing of it is left, or will be soon."""
        until = time.monotonic() + PATIENCE_S
        while self.processes():
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True
