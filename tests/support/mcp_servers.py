"""MCP servers that behave as servers in the field do, each a script of a few lines that speaks the
protocol by hand.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from tests.support.ondisk import PATIENCE_S

_SCRIPT = """
import json, os, sys, time
TOOLS = json.loads(open(sys.argv[1], encoding="utf-8").read())
MODE = sys.argv[2]
def say(message, odd=""):
    text = json.dumps(message)
    print(text.replace('"odd": 0', odd) if odd else text, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if MODE == "silent":
        continue
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
        if MODE == "error":
            say(answer | {"error": {"code": -32000, "message": "out of paper"}})
            continue
        if MODE == "flood":
            sys.stdout.write("x" * 20_000_000 + "\\n")
            sys.stdout.flush()
            continue
        if MODE == "steps":
            token = (params.get("_meta") or {}).get("progressToken")
            for n in range(1, 5 if token is not None else 1):
                step = {"progressToken": token, "progress": n, "total": 4, "message": f"row {n}"}
                say({"jsonrpc": "2.0", "method": "notifications/progress", "params": step})
            log = {"level": "info", "data": "read by " + os.environ.get("MY_TOKEN", "nobody")}
            say({"jsonrpc": "2.0", "method": "notifications/message", "params": log})
        if MODE == "writes":
            try:
                with open(given["text"], "w", encoding="utf-8") as file:
                    file.write("noted")
            except OSError as error:
                said = f"EROFS: read-only file system, open '{given['text']}'"
                result = {"content": [{"type": "text", "text": said}], "isError": True}
                say(answer | {"result": result})
                continue
        if MODE in ("twice", "nan"):
            odd = '"n": 1, "n": 2' if MODE == "twice" else '"n": NaN'
            say(answer | {"result": {"content": [], "structuredContent": {"odd": 0}}}, odd)
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


def on_the_sdk(script: str) -> str:
    """Return a server's script that imports the SDK so that it starts and ends sooner.

    A third of the time of such a server goes into collecting garbage while the SDK's models are
    made, and into taking its modules apart at the end.
    """
    return f"import gc, os\ngc.disable()\n{script}\nos._exit(0)\n"


_STATEFUL = """
import asyncio, json, os, subprocess, sys, time, uuid
from mcp.server import MCPServer

LISTED = sys.argv[2]
server = MCPServer("stateful")
state = {"count": 0, "id": uuid.uuid4().hex}

def described(text):
    return json.loads(open(LISTED, encoding="utf-8").read()).get("description", text)

@server.tool(structured_output=False)
async def count() -> str:
    state["count"] += 1
    return str(state["count"])

@server.tool(structured_output=False)
async def pid() -> str:
    return state["id"]

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
    """A server that keeps something between calls, on the official SDK; `command` starts it with
    `marker` among its arguments.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.marker = f"marker-{uuid4()}"
        self._listed, script = directory / "listed.json", directory / "stateful.py"
        script.write_text(on_the_sdk(_STATEFUL), encoding="utf-8")
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
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=", "-o", "args="],
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        return [line for line in listed.stdout.splitlines() if self.marker in line]

    def gone(self) -> bool:
        """Whether nothing of it is left, or will be soon."""
        until = time.monotonic() + PATIENCE_S
        while self.processes():
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True


_QUICK = """
import json, os, subprocess, sys, threading, time
MARKER, LISTED = sys.argv[1:]
# A process in a namespace of its own has the number that others have in theirs.
STARTED = time.monotonic_ns()
cancelled, saying, counted = {}, threading.Lock(), []

def say(number, **what):
    data = json.dumps({"jsonrpc": "2.0", "id": number} | what, ensure_ascii=False).encode() + b"\\n"
    with saying:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

def mark(text):
    open(LISTED + "." + text, "w").close()

def later(number, text, seconds):
    mark(text)
    if not cancelled[number].wait(seconds):
        answer(number, text)

def deaf(number, text):
    mark(text)
    time.sleep(600)

def spawns(number, text):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", MARKER, "spawned"], stdin=subprocess.DEVNULL)
    later(number, text, 600)

def crash(number, text):
    print("out of paper", file=sys.stderr, flush=True)
    if text == "leaves" and os.fork() == 0:
        time.sleep(600)
    os._exit(3)

def crash_later(number):
    threading.Timer(0.2, os._exit, [3]).start()
    answer(number, "soon")

def says(number, text):
    print(text, file=sys.stderr, flush=True)
    answer(number, os.environ.get("TOKEN", ""))

def count(number):
    counted.append(number)
    answer(number, str(len(counted)))

def pid(number):
    answer(number, f"{os.getpid()} {STARTED}")

def large(number, letter, size):
    answer(number, letter * size)

def answer(number, text):
    say(number, result={"content": [{"type": "text", "text": text}], "isError": False})

for line in sys.stdin:
    message = json.loads(line)
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "notifications/cancelled" and params["requestId"] in cancelled:
        cancelled[params["requestId"]].set()
    elif number is None:
        pass
    elif method == "initialize":
        about = {"name": "stateful", "version": "1"}
        say(number, result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about})
    elif method == "tools/list":
        say(number, result={"tools": json.loads(open(LISTED, encoding="utf-8").read())})
    elif method != "tools/call":
        say(number, error={"code": -32601, "message": "Method not found"})
    else:
        cancelled[number], work = threading.Event(), globals()[params["name"]]
        asked = {"number": number} | params["arguments"]
        if params["name"] in ("later", "spawns"):
            threading.Thread(target=work, kwargs=asked, daemon=True).start()
        else:
            work(**asked)
"""
_TEXT: Final = {"text": {"type": "string"}}
_QUICK_TOOLS: Final[dict[str, dict[str, Any]]] = {
    **{name: {} for name in ("count", "pid", "crash_later")},
    **dict.fromkeys(("deaf", "spawns", "crash", "says"), _TEXT),
    "later": _TEXT | {"seconds": {"type": "number"}},
    "large": {"letter": {"type": "string"}, "size": {"type": "integer"}},
}


class Quick(Stateful):
    """The same by hand, which starts in a fraction of the time; `definitions` are what it lists."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        Path(self.command[2]).write_text(_QUICK, encoding="utf-8")

    def says(self, **changes: str) -> None:
        """Let it say this of its tools from now on: `description`."""
        schemas = {
            name: {"type": "object", "properties": properties}
            for name, properties in _QUICK_TOOLS.items()
        }
        self.definitions = [
            definition(name, inputSchema=schema) | changes for name, schema in schemas.items()
        ]
        self._listed.write_text(json.dumps(self.definitions), encoding="utf-8")
