"""Claude Code, as its program can be had from npm, answers questions and reads a linked result.

It talks to a model that is none: a server on this machine that answers as a script says. A hook of
the project answers the forms in a person's place. What the tool did is read from its file, and what
the model was told from the requests.
"""

import argparse
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Final

from tests.support.ondisk import python_tool
from vespe.projects import user_config
from vespe.projects.init import found_project

PROGRAM: Final = "VESPE_CLAUDE_CODE"
"""The variable that names the program; else `claude` on the PATH."""
_SERVER: Final = "vespe-shop"
_TURNS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    (f"mcp__{_SERVER}__large", {}),
    ("ReadMcpResourceTool", {"server": _SERVER, "uri": "vespe://results/r1?offset=0&limit=200"}),
    (f"mcp__{_SERVER}__read_result", {"handle": "r1", "match": "line 15000 of"}),
    (f"mcp__{_SERVER}__note", {"text": "hi"}),
)
_NOTE: Final = """
    import vespe_ask
    colour = {"type": "string", "enum": ["blue", "red"]}
    form = {"type": "object", "properties": {"colour": colour}, "required": ["colour"]}
    said = vespe_ask.ask("Which colour?", form)["colour"]
    with open("notes.txt", "a", encoding="utf-8") as file:
        file.write(f"{inputs['text']} {said}\\n")
    return said
"""
_HOOK: Final = """\
import json, sys
asked = json.load(sys.stdin)
with open("asked.txt", "a", encoding="utf-8") as file:
    file.write(json.dumps(asked["message"]) + "\\n")
allow = "allow" in asked["requested_schema"]["properties"]
content = {"allow": True} if allow else {"colour": "red"}
said = {"hookEventName": "Elicitation", "action": "accept", "content": content}
print(json.dumps({"hookSpecificOutput": said}))
"""


class _Model(http.server.BaseHTTPRequestHandler):
    """Answers each request with the turn that follows what the conversation has."""

    requests: list[dict[str, Any]] = []  # noqa: RUF012  # one run has one server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer as Anthropic's messages API streams."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        results = list(results_in(body))
        has_tools = any(one["name"].startswith("mcp__") for one in body.get("tools", ()))
        block: dict[str, Any] = {"type": "text", "text": "Done."}
        if has_tools and len(results) < len(_TURNS):
            name, given = _TURNS[len(results)]
            block = {
                "type": "tool_use",
                "id": f"toolu_{len(results)}",
                "name": name,
                "input": given,
            }
        self.requests.append(body)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for kind, said in _events(block):
            data = json.dumps({"type": kind, **said})
            self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())


def _events(block: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    is_call = block["type"] == "tool_use"
    empty = {**block, "input": {}} if is_call else {"type": "text", "text": ""}
    delta = (
        {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        if is_call
        else {"type": "text_delta", "text": block["text"]}
    )
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    stop = {"stop_reason": "tool_use" if is_call else "end_turn", "stop_sequence": None}
    return [
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": empty}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": stop, "usage": usage}),
        ("message_stop", {}),
    ]


def results_in(body: dict[str, Any]) -> list[str]:
    """Return what the model was told of its calls, as JSON texts."""
    blocks = [
        block
        for message in body["messages"]
        for block in (message["content"] if isinstance(message["content"], list) else ())
    ]
    return [json.dumps(one["content"]) for one in blocks if one.get("type") == "tool_result"]


def tried(program: str, home: Path) -> dict[str, Any]:
    """Let Claude Code work in a project of its own, and say what came of it."""
    root = home / "shop"
    (root / ".claude").mkdir(parents=True)
    found_project(root)
    tools, text = root / ".vespe/tools", {"type": "object", "properties": {"text": {}}}
    python_tool(tools / "tool-note", "note", _NOTE, schema=text)
    many = "return {'lines': [f'line {n} of many' for n in range(20_000)]}"
    python_tool(tools / "tool-large", "large", many, annotations={"readOnlyHint": True})
    user_config.set_value("approvals.ask", ["note"])
    serve = ["-m", "vespe", "mcp", "serve", "--project", str(root), "--results", "bounded"]
    server = {"type": "stdio", "command": sys.executable, "args": serve}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": {_SERVER: server}}), encoding="utf-8")
    (root / "hook.py").write_text(_HOOK, encoding="utf-8")
    hook = {"hooks": [{"type": "command", "command": f"{sys.executable} hook.py"}]}
    settings = {"hooks": {"Elicitation": [hook]}}
    (root / ".claude/settings.json").write_text(json.dumps(settings), encoding="utf-8")
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    env = os.environ | {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}",
        "ANTHROPIC_API_KEY": "sk-ant-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
        "MCP_CONNECTION_NONBLOCKING": "false",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    argv = [program, "-p", "Go on.", "--mcp-config", ".mcp.json", "--strict-mcp-config"]
    argv += ["--allowedTools", f"mcp__{_SERVER}", "ReadMcpResourceTool"]
    done = subprocess.run(
        argv, cwd=root, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=300
    )
    model.shutdown()
    told = max(map(results_in, _Model.requests), key=len)
    notes, asked = root / "notes.txt", root / "asked.txt"
    version = subprocess.run([program, "--version"], capture_output=True, encoding="utf-8")
    return {
        "program": version.stdout.strip(),
        "exit": done.returncode,
        "questions": len(asked.read_text(encoding="utf-8").splitlines()) if asked.exists() else 0,
        "effects": notes.read_text(encoding="utf-8").splitlines() if notes.exists() else [],
        "part": bool(told) and len(told[0]) < 100_000 and "handle is r1" in told[0],
        "linked": len(told) > 1 and "line 10 of many" in told[1],
        "read": len(told) > 2 and "/lines/15000" in told[2],
    }


def main() -> int:
    """Print what was seen, and return 1 where it is not what it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data")
    asked = parser.parse_args()
    program = os.environ.get(PROGRAM) or shutil.which("claude")
    if program is None:
        sys.stderr.write(
            f"there is no `claude` here, and {PROGRAM} names none: NOTHING WAS TRIED\n"
        )
        return 1
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home} | {f"XDG_{one}_HOME": f"{home}/{one}" for one in _PLACES}
        found = tried(program, Path(home))
    sys.stdout.write(json.dumps(found, indent=None if asked.json else 1) + "\n")
    seen = found["part"] and found["linked"] and found["read"] and found["questions"] == 2
    return 0 if seen and found["effects"] == ["hi red"] and found["exit"] == 0 else 1


_PLACES: Final = ("CONFIG", "DATA", "STATE", "CACHE")

if __name__ == "__main__":
    raise SystemExit(main())
