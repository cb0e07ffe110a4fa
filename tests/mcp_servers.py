"""MCP servers that behave as servers in the field do, each a script of a few lines that speaks the protocol by hand."""

import json
import sys
from pathlib import Path
from typing import Any

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
