"""Make the files in this directory with the commands of Vespe 0.2.0: `python make.py`.

This script is a record of how the files were made. Do not run it with another version: what a later
version writes belongs into a directory of that version.
"""

import hashlib
import json
import lzma
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import vespe

HERE = Path(__file__).resolve().parent
ROOT = Path(os.path.realpath(tempfile.mkdtemp(prefix="vespe-0.2-")))
HOME, SHOP, SOURCES, MINE = ROOT / "home", ROOT / "shop", ROOT / "sources", ROOT / "mine"
PORT = 47999
"""Tests replace it with the port of their own server."""
KEPT = ("shop", "studio", "guest", "web", "packages", "copies", "mine", "home", "packed", "wheels")
"""The directories that are kept. The repository `sources` is kept as an export instead."""
WHO = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (
        ("NAME", "Keeper"),
        ("EMAIL", "keeper@localhost"),
        ("DATE", "1700000000 +0000"),
    )
}


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a user with an empty home."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    homes = {
        f"XDG_{name.upper()}_HOME": str(HOME / name)
        for name in ("config", "data", "state", "cache")
    }
    git = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    return {**kept, "HOME": str(HOME), **homes, **git, "NO_COLOR": "1", **more}


def run(
    line: str,
    *words: str,
    cwd: Path = SHOP,
    codes: tuple[int, ...] = (0,),
    stdin: str = "",
    **more: str,
) -> str:
    """Run a command of Vespe, show it, and return its standard output."""
    argv = [*shlex.split(line), *words]
    print("$ vespe", *argv)
    done = subprocess.run(
        [sys.executable, "-m", "vespe", *argv],
        cwd=cwd, env=environment(**more), input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in codes:
        raise SystemExit(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def kill_when(line: str, begun: Callable[[], bool]) -> None:
    """Run a command, and kill it as soon as `begun` is true."""
    print("$ vespe", line, "# killed")
    argv = [sys.executable, "-m", "vespe", *shlex.split(line)]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        argv, cwd=SHOP, env=environment(), stdout=nothing, stderr=nothing
    ) as running:
        deadline = time.monotonic() + 30
        while not begun():
            assert time.monotonic() < deadline and running.poll() is None, line
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)


def git(line: str, *, cwd: Path) -> bytes:
    """Run git with a fixed name and date."""
    env = environment(**WHO)
    return subprocess.run(
        ["git", *shlex.split(line)], cwd=cwd, env=env, capture_output=True, check=True
    ).stdout


def write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON file as a user with an editor does."""
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    write(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def tool(name: str) -> Path:
    """Return the config.json of a tool of the shop."""
    return SHOP / f".vespe/tools/tool-{name}/config.json"


def taking(**inputs: Any) -> str:
    """Return a JSON Schema whose inputs are all required."""
    return json.dumps({"type": "object", "properties": inputs, "required": list(inputs)})


# ---- tools of every type

CALC = '''from typing import Literal


def calc(a: float, b: float, op: Literal["add", "mul"] = "add") -> float:
    """Add or multiply two numbers.

    Args:
        a: The first number.
        b: The second number.
        op: What to do with them.
    """
    return a + b if op == "add" else a * b
'''
NOTE = '''import os
import time


def note(text: str, wait_for: str = "") -> int:
    """Add a line to the notes, and say how many there are.

    Args:
        text: The line.
        wait_for: A file to wait for before it returns.
    """
    with open("notes.txt", "a", encoding="utf-8") as file:
        file.write(text + "\\n")
    while wait_for and not os.path.exists(wait_for):
        time.sleep(0.02)
    with open("notes.txt", encoding="utf-8") as file:
        return len(file.readlines())
'''
SIGNED = '''import hashlib
import os


def signed(text: str) -> str:
    """Say the first eight digits of the SHA-256 of the shop's key and a text."""
    return hashlib.sha256((os.environ["SHOP_KEY"] + text).encode()).hexdigest()[:8]
'''
GREETING = '''# /// script
# requires-python = ">=3.11"
# dependencies = ["greeting"]
# ///
import greeting


def greet(name: str) -> str:
    """Greet somebody with the word of a package."""
    return f"{greeting.WORD}, {name}"
'''
OWN = '''import sys


def own_python() -> bool:
    """Say whether this runs in the project's own environment."""
    return sys.prefix.endswith(".venv")
'''
STOCK = '''STOCK = {"pen": 3}


def stock(item: str) -> int:
    """Say how many of an item there are."""
    return STOCK.get(item, 0)
'''
LINES = """#!/bin/sh
# Counts the lines of the text in the arguments, which come as JSON.
python3 -c 'import json, sys
print(json.dumps({"lines": len(json.load(sys.stdin)["text"].splitlines())}))'
"""
SERVER = '''"""An MCP server over stdin and stdout, by hand."""

import json
import sys

ECHO = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
DAY = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
BOOKED = {"type": "object", "properties": {"booked": {"type": "string"}}, "required": ["booked"]}
TOOLS = [
    {
        "name": "echo",
        "title": "Echo",
        "description": "Say a text again.",
        "inputSchema": ECHO,
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": "desk.book",
        "description": "Book a desk.",
        "inputSchema": DAY,
        "outputSchema": BOOKED,
    },
]
ABOUT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "desk", "version": "1.2"},
}


def called(name, arguments):
    if name == "echo":
        return {"content": [{"type": "text", "text": arguments["text"]}]}
    booked = {"booked": arguments["day"]}
    return {"content": [{"type": "text", "text": json.dumps(booked)}], "structuredContent": booked}


for line in sys.stdin:
    message = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": message.get("id")}
    if message["method"] == "initialize":
        answer["result"] = ABOUT
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": TOOLS}
    elif message["method"] == "tools/call":
        answer["result"] = called(message["params"]["name"], message["params"]["arguments"])
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    if "id" in message:
        print(json.dumps(answer), flush=True)
'''
ITEM = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
GET_PRICE = {"name": "get_price", "description": "Say the price of an item.", "strict": True}
DEFINITION = {
    "type": "function",
    "function": {**GET_PRICE, "parameters": ITEM | {"additionalProperties": False}},
}
GET_PET = {
    "operationId": "getPet",
    "summary": "Show one pet.",
    "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
    "responses": {"200": {"description": "A pet."}},
}
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1.0"},
    "servers": [{"url": f"http://127.0.0.1:{PORT}"}],
    "paths": {"/pets/{id}": {"get": GET_PET}},
}


def make_tools() -> None:
    """Make a tool of every type, and have commands rewrite the config.json of some."""
    for name, text in (("calc", CALC), ("note", NOTE), ("signed", SIGNED), ("server", SERVER)):
        write(SHOP / f"{name}.py", text)
    write(SHOP / "shoplib/__init__.py", "")
    write(SHOP / "shoplib/stock.py", STOCK)
    write(SHOP / "lines.sh", LINES, 0o755)
    string = {"type": "string"}
    run("init")
    run("schema --write")
    facts = "--tag numbers --timeout 20 "
    facts += """--set 'version="1.2.0"' --set 'queries=["sum of two numbers"]'"""
    run(f"tool create calc --from calc.py:calc --read-only {facts}")
    held = """--set 'permissions={"read": ["."], "write": ["."], "network": []}' """
    held += """--set 'effects=["destructive"]'"""
    run(f"tool create note --from note.py:note --not-read-only {held}")
    run("tool create signed --from signed.py:signed --read-only --secret SHOP_KEY")
    run("tool create stock --from shoplib.stock:stock --in-place --read-only")
    lines = {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}
    schema = json.dumps({"input": json.loads(taking(text=string)), "output": lines})
    how = (
        "--args",
        '{"argv": [], "stdin": "json", "output": "json"}',
        "--description",
        "Count the lines of a text.",
    )
    run(
        "tool create count_lines --type shell_command --path lines.sh --read-only",
        "--schema",
        schema,
        *how,
    )
    text = json.loads(taking(text=string))
    text["properties"]["times"] = {"type": "array", "items": string}
    schema = json.dumps(text | {"additionalProperties": False})
    how = (
        "--args",
        '{"argv": ["--", "[%s]", "{text}", "{times}"], "output": "text"}',
        "--schema",
        schema,
    )
    run(
        "tool create shout --type shell_command --entrypoint printf --read-only",
        "--description=Print a text.",
        *how,
    )
    run("tool create price --description 'Say the price of an item.'", "--schema", json.dumps(ITEM))
    write(SHOP / "definitions.json", json.dumps([DEFINITION], indent=2) + "\n")
    run("tool import definitions.json")
    run("kit activate compiled")
    run("tool copy compiled/edit_distance")
    run("tool copy compiled/word_count")
    run("kit deactivate compiled")
    run("tool create old_name --type shell_command --read-only")
    run("tool rename old_name new_name")
    # Commands write examples, outputs and permissions into a config.json; `lint` is added by hand.
    run("tool run calc a=6 b=7 op=mul --save-example")
    wrong = {"input": {"a": "x", "b": 1}, "error": "invalid_arguments"}
    edit(tool("calc"), lambda calc: calc["examples"].append(wrong))
    ignored = {"ignore": {"description-argument-missing": "its name says it"}}
    edit(
        tool("shout"), lambda shout: shout.update(examples=[{"input": {"text": "a"}}], lint=ignored)
    )
    run("tool test shout --update")
    example = {"input": {"text": "a\nb"}, "output_schema": {"required": ["lines"]}}
    edit(tool("count_lines"), lambda count: count.update(examples=[example]))
    run("tool observe calc --write")


def make_locks() -> None:
    """Make a script's lock and environment from a wheel in a local directory."""
    wheels, packages = ROOT / "wheels", ROOT / "packages"
    wheels.mkdir()
    about = "greeting-1.0.dist-info/"
    members = {
        "greeting.py": "WORD = 'hello'\n",
        about + "METADATA": "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n",
        about
        + "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        about + "RECORD": "",
    }
    with zipfile.ZipFile(wheels / "greeting-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in members.items():
            wheel.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    write(packages / "greet.py", GREETING)
    write(packages / "own.py", OWN)
    run("init", cwd=packages)
    run("tool create greet --from greet.py:greet --read-only", cwd=packages)
    run("tool create own_python --from own.py:own_python --read-only", cwd=packages)
    own = packages / ".vespe/tools/tool-own_python/config.json"
    edit(own, lambda config: config["implementation_details"].update(environment="project"))
    run("tool lock greet", cwd=packages, **offline)
    run("prepare", cwd=packages, codes=(1,), **offline)  # own_python has no .venv here


# ---- kits


def make_kits() -> None:
    """Install kits from git (signed tags), a folder and files; make, link and import others."""
    key = ROOT / "keeper"
    keygen = f"ssh-keygen -q -t ed25519 -N '' -C keeper@localhost -f {key}"
    subprocess.run(shlex.split(keygen), check=True)
    write(
        HOME / "allowed_signers",
        f"keeper@localhost {key.with_suffix('.pub').read_text(encoding='utf-8')}",
    )
    run(f"config set allowed_signers {HOME}/allowed_signers")
    run(f"kit create weather --in {SOURCES}")
    run(f"kit create tides --in {SOURCES}")
    git("init --quiet -b main", cwd=SOURCES)
    git("add --all", cwd=SOURCES)
    git("commit --quiet -m first", cwd=SOURCES)
    signing = f"-c gpg.format=ssh -c user.signingkey={key}"
    git(f"{signing} tag -s -m v1.0.0 v1.0.0", cwd=SOURCES)
    run("kit install ../sources@v1.0.0 --activate --yes")
    changed = SOURCES / "weather/tool-example_of_weather/config.json"
    edit(changed, lambda config: config.update(description="Say what there is, in other words."))
    git("commit --quiet -a -m second", cwd=SOURCES)
    git(f"{signing} tag -s -m v1.1.0 v1.1.0", cwd=SOURCES)
    (HERE / "sources.fast-export").write_bytes(
        git("fast-export --signed-tags=verbatim --all", cwd=SOURCES)
    )
    key.unlink()

    (ROOT / "packed").mkdir()
    for name in ("from_file", "of_user"):
        run(f"kit create {name} --in {ROOT}/made")
        run(f"kit pack {ROOT}/made/{name} -o {ROOT}/packed/{name}.kit")
    run("kit install ../packed/from_file.kit --activate --yes")
    run(f"kit install {ROOT}/packed/of_user.kit --user --activate --yes")
    run(f"kit create in_folder --in {MINE}")
    run("kit install ../mine/in_folder --activate --yes")
    run(f"kit create linked --in {MINE}")
    run(f"kit link {MINE}/linked")
    run("kit create own_kit")
    run("kit activate linked own_kit file_io_without_git")
    run("kit add-mcp desk --timeout 20 --activate --yes -- python3 server.py")
    write(SHOP / "pets.json", json.dumps(OPENAPI, indent=2) + "\n")
    run("kit import pets.json --id pets --yes")
    # A kit that was installed and removed again.
    run(f"kit create gone --in {ROOT}/made")
    run(f"kit install {ROOT}/made/gone --yes")
    run("kit remove gone --yes")


def make_packed() -> None:
    """Pack a kit in every form."""
    edit(
        MINE / "linked/kit_config.json",
        lambda kit: kit.update(homepage="https://github.com/example/linked"),
    )
    for form in ("skill", "plugin", "mcpb", "server-json"):
        run(f"kit pack {MINE}/linked --as {form} -o {ROOT}/packed/{form}")


# ---- settings

LOCAL = {
    "api": "openai",
    "base_url": f"http://127.0.0.1:{PORT}/v1",
    "model": "m1",
    "api_key": "sk-local-0123456789",
    "headers": {"X-Team": "shop"},
    "keep": ["reasoning_content"],
}
SETTINGS: dict[str, Any] = {
    "allow_hosts": [f"127.0.0.1:{PORT}"],
    "sandbox": "auto",
    "secrets.SHOP_KEY": "the key of the shop",
    "providers.local": LOCAL,
    "providers.anthropic": {
        "base_url": f"http://127.0.0.1:{PORT}", "api_key_env": "SHOP_ANTHROPIC_KEY", "model": "m2",
    },
    "providers.ollama": {"base_url": f"http://127.0.0.1:{PORT}", "model": "m3"},
    "agent.provider": "local",
    "agent.tools_mode": "all",
    "approvals.ask": [{"tool": "note", "arguments": {"text": "*secret*"}}],
    "approvals.deny": ["own_kit/*"],
    "approvals.allow": ["tides/*"],
    "files.never_read": ["*.pem"],
    "files.may_write": ["Makefile"],
}  # fmt: skip
OF_PROJECT = {
    "tool_resolution_order": ["project_tools", "desk", "active_kits"],
    "tool_budget": 20000,
    "lint": {
        "ignore": {"layout-project-config": "the team has agreed on it"},
        "severity": {"description-argument-missing": "error"},
        "targets": ["openai", "anthropic"],
    },
    "approvals": {"deny": ["new_name"]},
    "sandbox": "auto",
    "x_team": {"wrote": ["by hand"], "kept": True},
}


def make_settings() -> None:
    """Set every setting of the user, and every key of the project's configuration."""
    for key, value in SETTINGS.items():
        run(f"config set {key}", value if isinstance(value, str) else json.dumps(value))
    run(
        "tool expose calc --always --as calculate --preset op=mul",
        "--description=Multiply two numbers.",
    )
    run("tool expose count_lines --search")
    run("tool expose 'file_io_without_git/*' --never")
    run("tool expose shout --hide times")
    edit(SHOP / ".vespe/config.json", lambda project: project.update(OF_PROJECT))


def make_entries() -> None:
    """Write the entries of every MCP client, into new files and into files with other entries."""
    write(
        SHOP / ".mcp.json",
        '{\n  "mcpServers": {\n    "other": {"command": "other", "args": []}\n  }\n}\n',
    )
    write(SHOP / ".vscode/mcp.json", '{\n  // the servers of the team\n  "servers": {},\n}\n')
    write(
        HOME / ".codex/config.toml",
        '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "other"\n',
    )
    for client in ("claude-code", "cursor", "vscode", "gemini"):
        run(f"mcp config {client} --write -- --read-only")
    for client in ("codex", "zed", "claude-desktop"):
        run(f"mcp config {client} --write")


def make_approvals() -> None:
    """Approve a place, a single tool, and the bytes of a project."""
    studio, guest, web = ROOT / "studio", ROOT / "guest", ROOT / "web"
    for directory in (studio, guest, web):
        directory.mkdir()
        run("init", cwd=directory)
    run("tool create hello --type python_script", cwd=studio)
    long = """--entrypoint seq --args '{"argv": ["{count}"], "output": "text"}' """
    long += "--set limits.max_output_bytes=1000"
    schema = taking(count={"type": "integer"})
    run(
        f"tool create numbers --type shell_command --read-only {long}",
        "--schema",
        schema,
        cwd=studio,
    )
    write(studio / "numbers.in.jsonl", '{"count": 3}\n{"count": 1000}\n')
    run("batch numbers numbers.in.jsonl -o numbers.out.jsonl", cwd=studio)
    run("tool create theirs --type python_script", cwd=guest)
    run("untrust", cwd=guest)
    run("tool create mine --type python_script", cwd=guest)
    request = {"query": {"q": "{q}"}, "headers": {"X-Key": "${env:WEB_KEY}"}, "response": "json"}
    string = {"type": "string"}
    schema = {"type": "object", "properties": {"name": string, "q": string}, "required": ["name"]}
    how = ("--schema", json.dumps(schema), "--args", json.dumps(request))
    url = f"http://127.0.0.1:{PORT}/items/{{name}}"
    run(f"tool create page --url {url} --secret WEB_KEY --read-only", *how, cwd=web)
    # In a git repository the backup of a client's file is in the user's state directory.
    git("init --quiet", cwd=studio)
    write(studio / ".mcp.json", '{"mcpServers": {}}\n')
    run("mcp config claude-code --write", cwd=studio)
    run("untrust")
    run("trust --yes")


# ---- models


def events(*pieces: dict[str, Any], named: bool = False) -> bytes:
    names = (f"event: {piece['type']}\n" if named else "" for piece in pieces)
    lines = [
        f"{name}data: {json.dumps(piece)}\n\n" for name, piece in zip(names, pieces, strict=True)
    ]
    return ("".join(lines) + ("" if named else "data: [DONE]\n\n")).encode()


def openai_answer(request: Any) -> bytes:
    """Answer with reasoning and a tool call, then with a sentence that quotes the result."""
    told = [message["content"] for message in request["messages"] if message["role"] == "tool"]

    def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m1",
            "choices": [choice],
        }

    if told:
        return events(
            chunk(role="assistant", content="It is "), chunk(content=f"{told[-1]}."), chunk("stop")
        )
    first = {"name": "calculate", "arguments": '{"a": 6,'}
    call = {"index": 0, "id": "call_6x7", "type": "function", "function": first}
    rest = {"index": 0, "function": {"arguments": ' "b": 7}'}}
    thought = chunk(role="assistant", content=None, reasoning_content="Six times seven.")
    return events(thought, chunk(tool_calls=[call]), chunk(tool_calls=[rest]), chunk("tool_calls"))


def anthropic_answer(request: Any) -> bytes:
    """Answer with signed thinking and a tool call, then with a sentence that quotes the result."""
    lists = [
        message["content"]
        for message in request["messages"]
        if isinstance(message["content"], list)
    ]
    told = [
        block["content"] for blocks in lists for block in blocks if block["type"] == "tool_result"
    ]
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m2", "content": []}
    message |= {
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    pieces: list[dict[str, Any]] = [{"type": "message_start", "message": message}]

    def block(index: int, content: Any, *deltas: Any) -> None:
        pieces.append({"type": "content_block_start", "index": index, "content_block": content})
        pieces.extend(
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        )
        pieces.append({"type": "content_block_stop", "index": index})

    if told:
        block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": f"It is {told[-1]}."})
    else:
        thinking = {"type": "thinking_delta", "thinking": "Six times seven."}
        signature = {"type": "signature_delta", "signature": "c2lnbmVk"}
        block(0, {"type": "thinking", "thinking": "", "signature": ""}, thinking, signature)
        parts = [
            {"type": "input_json_delta", "partial_json": part} for part in ('{"a": 6, ', '"b": 7}')
        ]
        block(1, {"type": "tool_use", "id": "toolu_6x7", "name": "calculate", "input": {}}, *parts)
    stop = {"stop_reason": "end_turn" if told else "tool_use", "stop_sequence": None}
    pieces.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 9}})
    return events(*pieces, {"type": "message_stop"}, named=True)


def ollama_answer(request: Any) -> bytes:
    told = [message["content"] for message in request["messages"] if message["role"] == "tool"]
    said: dict[str, Any] = {"role": "assistant", "content": f"It is {told[-1]}." if told else ""}
    if not told:
        said["tool_calls"] = [{"function": {"name": "calculate", "arguments": {"a": 6, "b": 7}}}]
    head = {"model": "m3", "created_at": "2024-01-01T00:00:00Z"}
    counts = {"eval_count": 3, "prompt_eval_count": 9}
    ended = {
        **head,
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
        **counts,
    }
    return "".join(
        json.dumps(line) + "\n" for line in ({**head, "message": said, "done": False}, ended)
    ).encode()


class Models(BaseHTTPRequestHandler):
    """Three model APIs on loopback."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer, kind = {
            "/v1/chat/completions": (openai_answer, "text/event-stream"),
            "/v1/messages": (anthropic_answer, "text/event-stream"),
            "/api/chat": (ollama_answer, "application/x-ndjson"),
        }[self.path]
        body = answer(request)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def serving() -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", PORT), Models) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def script(name: str, *turns: Any) -> str:
    """Write a script of the simulated provider, and return the options that use it."""
    write(SHOP / f"{name}script.json", json.dumps({"turns": list(turns)}, indent=2) + "\n")
    return f"--provider simulated --script {name}script.json"


def calls(*made: tuple[str, str, Any]) -> Any:
    return {
        "tool_calls": [
            {"id": call_id, "name": name, "arguments": given} for call_id, name, given in made
        ]
    }


def make_conversations() -> None:
    """Make recordings of every API, and conversations that ended, wait, or were killed."""
    ask = "agent run 'What is six times seven?' --tools calc --approve all"
    for name in ("local", "anthropic", "ollama"):
        files = f"--record {name}.recording.json --save {name}.talk.json"
        run(f"{ask} --provider {name} {files}", SHOP_ANTHROPIC_KEY="sk-ant-0123456789")
    made = calls(("call_1", "calculate", {"a": 6, "b": 7}), ("call_2", "calculate", {"a": "x"}))
    simulated = script("", {"text": "Let me see.", **made}, {"text": "It is 42."})
    run(f"{ask} {simulated} --record simulated.recording.json --save simulated.talk.json")
    # A limit ends this run before two of its calls begin.
    two = calls(("call_2", "note", {"text": "second"}), ("call_3", "note", {"text": "third"}))
    waiting = script("waiting.", calls(("call_1", "note", {"text": "first"})), two)
    run(
        f"agent run 'Note it.' {waiting} --tools note --approve all --max-calls 1",
        "--save=waiting.talk.json",
        codes=(1,),
    )
    # This run is killed during the first of two calls: its file still has the form of lines.
    begun = ("call_1", "note", {"text": "begun", "wait_for": "never"})
    killed = script("killed.", calls(begun, ("call_2", "note", {"text": "not begun"})))
    files = "--save killed.talk.json --record killed.recording.json"
    notes = SHOP / "notes.txt"
    kill_when(
        f"agent run 'Note both.' {killed} --tools note --approve all {files}",
        lambda: "begun" in notes.read_text(encoding="utf-8"),
    )
    # The model sees the three tools that stand for all others: their texts are those of 0.2.
    given = {"name": "calculate", "arguments": {"a": 6, "b": 7}}
    bridge = script(
        "bridge.",
        calls(("call_search", "search_tools", {"query": "multiply two numbers"})),
        calls(("call_describe", "describe_tool", {"name": "calculate"})),
        calls(("call_6x7", "call_tool", given)),
        {"text": "It is 42."},
    )
    run(
        f"agent run 'What is six times seven?' {bridge} --tools-mode bridge --approve all",
        "--record=bridge.recording.json",
    )
    chat = script("chat.", {"text": "Hello."}, {"text": "Bye."})
    run(f"agent chat {chat} --no-tools", stdin="Hi\n/save chat.talk.json\n")


ANSWERING = """
from vespe import Agent, AgentOptions, Answer, Project, SimulatedProvider

def ask(question):
    return Answer(allowed=question.tool.name == "note", holds="project")

notes = [("note", {"text": "kept"}), ("note", {"text": "a secret"})]
asked = [*notes, ("desk_book", {"day": "Monday"})]
turns = [{"tool_calls": [{"name": name, "arguments": arguments}]} for name, arguments in asked]
model = SimulatedProvider({"turns": [*turns, {"text": "Done."}]})
agent = Agent(model, Project("."), options=AgentOptions(ask=ask))
agent.run("Note it, and book a desk.")
agent.close()
"""


def make_answers() -> None:
    """Have a person answer questions about calls for the whole project."""
    subprocess.run([sys.executable, "-c", ANSWERING], cwd=SHOP, env=environment(), check=True)


# ---- calls


def make_batches() -> None:
    """Kill a batch during a call that must not run twice; let another end with a failure."""
    inputs = [
        {"text": "one"},
        {"text": "two"},
        {"text": "three", "wait_for": "never"},
        {"text": "four"},
    ]
    write(SHOP / "batch.in.jsonl", "".join(json.dumps(line) + "\n" for line in inputs))
    notes = SHOP / "notes.txt"
    kill_when(
        "batch note batch.in.jsonl -o killed.out.jsonl --jobs 1",
        lambda: "three" in notes.read_text(encoding="utf-8"),
    )
    write(SHOP / "batch.csv", "name,a,b,op\nx,1,2,add\ny,3,4,mul\nz,5,six,mul\n")
    run("batch calc batch.csv --id name -o calc.out.jsonl", codes=(1,))


def make_log() -> None:
    """Log calls with different outcomes. Vespe rotates the log, which fillers make too long."""
    run("tool run calc a=1 b=2 --log-arguments")
    run("tool run calc a=one b=2", codes=(5,))
    log = HOME / f"state/vespe/log/{hashlib.sha256(os.fsencode(SHOP)).hexdigest()}.jsonl"
    with log.open("a", encoding="utf-8") as file:
        file.write(("#" * 1023 + "\n") * 4096)
    run("tool run shout 'text=after the rotation' --log-arguments")
    run("tool run signed text=x")
    run("tool run price item=pen", codes=(1, 3, 4))
    run("tool test calc")
    old = log.with_name(log.name + ".1")
    lines = old.read_text(encoding="utf-8").splitlines(keepends=True)
    old.write_text("".join(line for line in lines if line[0] != "#"), encoding="utf-8")


def make_snapshots() -> None:
    """Make a snapshot of the names of tools, and an export."""
    run("tool resolve --snapshot tools.snapshot.json")
    run("export --as openai calc shout -o tools.openai.json")


def make_token() -> None:
    """Have a server over HTTP make its token file."""
    token = HOME / "server.token"
    kill_when(f"mcp serve --http 127.0.0.1:0 --token-file {token}", token.exists)


def make_copies() -> None:
    """Copy the tools of shipped kits whose scripts import modules of Vespe."""
    copies = ROOT / "copies"
    copies.mkdir()
    run("init", cwd=copies)
    kits = ("file_io_without_git", "file_io_with_git", "git_and_programs")
    run("kit activate", *kits, cwd=copies)
    listed = json.loads(run("kit list --json", cwd=copies))["kits"]
    for kit in [kit for kit in listed if kit["kit_id"] in kits]:
        for config in sorted(Path(kit["path"]).glob("*/config.json")):
            name = json.loads(config.read_text(encoding="utf-8"))["name"]
            scripts = [script.read_text(encoding="utf-8") for script in config.parent.glob("*.py")]
            if any("from vespe" in script for script in scripts):
                copy = name + ("_with_git" if kit["kit_id"] == "file_io_with_git" else "")
                run(f"tool copy {kit['kit_id']}/{name} {copy}", cwd=copies)


def make_caches() -> None:
    """Fill the caches: verdicts, names, the search index, the key for compiled code."""
    run("tool list --all")
    run("tool run edit_distance before=kitten after=sitting")
    many = ROOT / "many"
    many.mkdir()
    run("init", cwd=many)
    for number in range(300):
        config = {"uid": f"tool-t{number}", "name": f"t{number}", "description": "A tool."}
        write(
            many / f".vespe/tools/tool-t{number}/config.json",
            json.dumps({**config, "schema": {"input": {"type": "object"}}}),
        )
        write(many / f".vespe/tools/tool-t{number}/description.md", "# A tool\n")
    run("tool list", cwd=many)
    time.sleep(0.3)  # names are kept only once the directory has not changed for a while
    run("tool show t7", cwd=many)
    described = {20: "Sorting letters.", 700: "Mending fences."}
    tools = [
        {"name": f"tool_{number}", "description": described.get(number, "Counting things.")}
        for number in range(5001)
    ]
    queries = [{"query": "sort", "gold": [["tool_20"]]}]
    write(ROOT / "search.json", json.dumps({"queries": queries, "tools": tools}))
    run(f"tool search --eval {ROOT}/search.json", cwd=many)


# ---- keeping what was made, without anything that belongs to this machine


def token_path(path: str) -> str:
    return os.path.relpath(path, ROOT).replace("/", "+")


def kept_names() -> dict[str, str]:
    """Map the parts of file names that depend on this machine to their tokens."""
    names: dict[str, str] = {}
    for record in sorted((HOME / "state/vespe/trust").glob("*.json")):
        if place := re.match(
            r"(?:content|place|tool)-([0-9a-f]+-d[0-9a-f]+(?:-[gbu][0-9a-f]{1,16})*)", record.name
        ):
            path = json.loads(record.read_text(encoding="utf-8"))["path"]
            names[place[1]] = f"@PLACE-{token_path(path)}@"
    (answers,) = (HOME / "state/vespe/answers").glob("*.json")
    names[answers.stem] = "@PLACE-shop+.vespe@"
    hashed = [
        *KEPT,
        "shop/.vespe/kits.lock.json",
        "home/data/vespe/kits.lock.json",
        "studio/.mcp.json",
    ]
    for path in (str(ROOT / name) for name in (*hashed, "shop/.vespe/tools", "many/.vespe/tools")):
        digest = hashlib.sha256(os.fsencode(path)).hexdigest()
        for kind, part in (
            ("SHA256", digest),
            ("SHA256_32", digest[:32]),
            ("SHA256_12", digest[:12]),
        ):
            names[part] = f"@{kind}-{token_path(path)}@"
    return names


def is_kept(path: Path) -> bool:
    """Return whether a file is kept. Tests make the rest, or do not need it."""
    cached = re.match(r"home/cache/vespe/(\w+)", str(path.relative_to(ROOT)))
    if cached:
        scanned = hashlib.sha256(f"{SHOP}/.vespe/tools".encode()).hexdigest()[:32]
        kept = {"names": True, "sandbox": True, "search": True, "scan": path.stem == scanned}
        return kept.get(cached[1], path.name in ("vespe.json", "pyvenv.cfg"))
    left_out = {".git", "__pycache__", "notes.txt"} & set(path.parts)
    return not left_out and not path.is_symlink()


def normal(path: Path, data: bytes) -> bytes:
    """Return the bytes of a file without what only this machine could have written."""
    if path.name == "sandbox":
        return b"1 00000000-0000-0000-0000-000000000000 0 0.0\nlandlock=0\nnamespaces=1\nfilter=1\n"
    if path.name == "pyvenv.cfg":
        return b"".join(line for line in data.splitlines(keepends=True) if b"/" not in line)
    if path.parent.name == "names":
        head, _, lines = data.decode().partition("\n")
        version, directory, _, checksum = json.loads(head)
        return f"{json.dumps([version, directory, [0, 0, 0, 0, 0], checksum])}\n{lines}".encode()
    if path.parent.name == "scan":
        return re.sub(rb'"0\.2\.0","[0-9a-f]{16}"', b'"0.2.0","0000000000000000"', data)
    return data


def keep() -> None:
    """Copy what was made to this directory, with tokens for paths, places and the port."""
    names = kept_names()
    inside = re.compile("|".join(sorted(map(re.escape, names), key=len, reverse=True)))
    program = os.path.join(os.path.dirname(sys.executable), "vespe")
    for directory in KEPT:
        shutil.rmtree(HERE / directory, ignore_errors=True)
        for path in sorted(
            path for path in (ROOT / directory).rglob("*") if path.is_file() and is_kept(path)
        ):
            target = HERE / inside.sub(lambda found: names[found[0]], str(path.relative_to(ROOT)))
            data = normal(path, path.read_bytes())
            if path.suffix == ".sqlite":
                target, data = target.with_name(target.name + ".xz"), lzma.compress(data)
            try:
                text = inside.sub(lambda found: names[found[0]], data.decode("utf-8")).replace(
                    str(ROOT), "@ROOT@"
                )
                text = text.replace(f"127.0.0.1:{PORT}", "127.0.0.1:@PORT@").replace(
                    program, "@VESPE@"
                )
                data = text.encode("utf-8")
            except UnicodeDecodeError:
                pass  # a module, an archive, a key
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
    links = {
        link.name: token_path(os.readlink(link)) for link in (HOME / "data/vespe/links").iterdir()
    }
    write(HERE / "links.json", json.dumps(links, indent=2) + "\n")


def main() -> None:
    if vespe.__version__ != "0.2.0":
        raise SystemExit(f"this is Vespe {vespe.__version__}: these files are made by 0.2.0 alone")
    for directory in (HOME, SHOP, SOURCES):
        directory.mkdir()
    for make in (
        make_tools,
        make_locks,
        make_kits,
        make_packed,
        make_settings,
        make_entries,
        make_approvals,
    ):
        make()
    with serving():
        make_conversations()
    for make in (
        make_answers,
        make_batches,
        make_log,
        make_snapshots,
        make_token,
        make_copies,
        make_caches,
        keep,
    ):
        make()
    shutil.rmtree(ROOT, ignore_errors=True)


if __name__ == "__main__":
    main()
