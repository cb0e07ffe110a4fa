"""The project, the home and the sources that the interrupted commands work on, and these
commands.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance.crash import FORGET, MOVE, World, make_source
from tests.support.ondisk import python_tool, write_kit, write_tool
from vespe.files import staging

SWEEPERS: tuple[tuple[str, ...], ...] = (
    ("tool", "create", "swept", "--type", "shell_command"),
    ("kit", "activate", "file_io_with_git"),
)
"""Commands that write where others left something: they clear it away."""
LOOKS: tuple[tuple[str, ...], ...] = (
    ("tool", "list", "--json"),
    ("kit", "list", "--json"),
    ("doctor",),
)
INSTALLED = ("kit", "install", "../source@main", "--activate", "--yes")
TRUSTED = ("trust", "--yes")
# It is served from the home: of the temporary directory, where all of it is, a server sees only what
# its command names by whole paths.
MCP = (
    "import sys; sys.argv = ['vespe', 'mcp', 'serve', '--project', '../home/served', '--trust']; "
    "from vespe.__main__ import main; main()"
)
_CLIENT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}
_LINES: tuple[dict[str, Any], ...] = (
    {"id": 1, "method": "initialize", "params": _CLIENT},
    {"method": "notifications/initialized"},
    *(
        {"id": n, "method": "tools/call", "params": {"name": name, "arguments": {}}}
        for n, name in enumerate(("given", "nap", "shell"), 2)
    ),
)
ASKED = b"".join(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in _LINES)
SERVED = ("kit", "add-mcp", "servers", "--activate", "--yes", "--", sys.executable, "-c", MCP)
PACKED = ("kit", "pack", "../folder", "-o", "../packed.kit")
AGENT = ("--provider", "simulated", "--script", "script.json", "--approve", "all")


@dataclass(frozen=True)
class Interrupted:
    """One command that is interrupted, what is done before it, and the exit codes of its own.

    `again` are exit codes that it may have when it is said again, () for one that is not;
    `within_s` is for one that does not end by itself. `talks` is for one on a terminal.
    """

    name: str
    command: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    again: tuple[int, ...] = (0,)
    codes: tuple[int, ...] = (0,)
    within_s: float = 0
    stdin: bytes = b""
    open_stdin: bool = False
    talks: bool = False


V = Interrupted
VERBS = (
    V("tool run python", ("tool", "run", "given"), (TRUSTED,)),
    V("tool run long", ("tool", "run", "nap"), (TRUSTED,), (), within_s=0.7),
    V("tool run shell", ("tool", "run", "shell"), (TRUSTED,)),
    V("tool run http", ("tool", "run", "slow"), (TRUSTED,)),
    V(
        "tool run mcp",
        ("tool", "run", "given", "--json"),
        (SERVED, ("tool", "remove", "tool-given", "--yes"), TRUSTED),
    ),
    V("tool test", ("tool", "test", "given", "shell", "--jobs", "2"), (TRUSTED,)),
    V(
        "batch",
        ("batch", "given", "inputs.jsonl", "-o", "outcomes.jsonl", "--jobs", "2"),
        (TRUSTED,),
        (6,),
    ),
    V("tool create", ("tool", "create", "made", "--type", "python_script"), (), (2,)),
    V(
        "tool copy",
        ("tool", "copy", "file_io_without_git/read_file", "mine"),
        (("kit", "activate", "file_io_without_git"),),
        (2,),
    ),
    V("tool rename", ("tool", "rename", "given", "other"), (), (3,)),
    V("tool remove", ("tool", "remove", "tool-given", "--yes"), (), (3,)),
    V("tool import", ("tool", "import", "foreign.json"), (), (2,)),
    V("tool fuzz", ("tool", "fuzz", "quick", "--seconds", "1", "--yes"), (TRUSTED,)),
    V("lint", ("lint",)),
    V("lint many", ("lint", "../many")),
    V("export", ("export", "--as", "openai")),
    V("kit install git", INSTALLED),
    V("kit install folder", ("kit", "install", "../folder", "--activate", "--yes")),
    V("kit install file", ("kit", "install", "../packed.kit", "--activate", "--yes"), (PACKED,)),
    V("kit sync", ("kit", "sync", "--yes"), (INSTALLED, FORGET)),
    V("kit update", ("kit", "update", "--yes"), (INSTALLED, MOVE)),
    V("kit verify", ("kit", "verify"), (INSTALLED,)),
    V("kit remove", ("kit", "remove", "web", "--yes"), (INSTALLED,), (3,)),
    V("kit pack", PACKED, (), (2,)),
    V("kit create", ("kit", "create", "mine"), (), (2,)),
    V("kit link", ("kit", "link", "../folder"), (), (2,)),
    V("kit activate", ("kit", "activate", "file_io_without_git")),
    V(
        "kit deactivate",
        ("kit", "deactivate", "file_io_without_git"),
        (("kit", "activate", "file_io_without_git"),),
        (3,),
    ),
    V("kit add-mcp", SERVED, (), (2,)),
    V("cache clean", ("cache", "clean"), (INSTALLED, ("kit", "remove", "web", "--yes"))),
    V("trust", TRUSTED),
    V("untrust", ("untrust",), (TRUSTED,)),
    V(
        "agent run",
        ("agent", "run", "go", *AGENT, "--record", "talk.json", "--save", "conversation.json"),
        (TRUSTED,),
        (2,),
    ),
    V("agent calls", ("agent", "calls", "waiting.json", "approve", "--yes"), (TRUSTED,)),
    V("agent chat", ("agent", "chat", *AGENT), (TRUSTED,), (), within_s=1.0, talks=True),
    V("mcp serve", ("mcp", "serve"), (TRUSTED,), (), within_s=0.7, stdin=ASKED, open_stdin=True),
    V(
        "mcp serve http",
        ("mcp", "serve", "--http", "127.0.0.1:0"),
        (TRUSTED,),
        (),
        within_s=1.5,
        open_stdin=True,
    ),
    V("demo", ("demo",), (), ()),
    V("doctor", ("doctor",)),
    V("config set", ("config", "set", "sandbox", "off")),
    V("log", ("log",), (TRUSTED, ("tool", "run", "quick"))),
)


def build(root: Path, verb: Interrupted, *, port: int) -> World:
    """Make the world in which a command is tried."""
    world = World(root)
    for directory in (
        world.project / ".vespe/tools",
        world.home / "config/vespe",
        root / "tmp",
        world.home / "served/.vespe/tools",
    ):
        directory.mkdir(parents=True)
    (world.project / ".vespe/config.json").write_text('{"active_kits": []}\n', encoding="utf-8")
    (world.home / "served/.vespe/config.json").write_text('{"active_kits": []}\n', encoding="utf-8")
    (world.home / "config/vespe/config.json").write_text(
        json.dumps({"allow_hosts": [f"127.0.0.1:{port}"]}), encoding="utf-8"
    )
    _make_tools(world.project / ".vespe/tools", port)
    python_tool(world.home / "served/.vespe/tools/tool-given", "given", "return 1")
    _make_files(world.project)
    make_source(root / "source")
    python_tool(
        write_kit(root / "folder", "folded", allow_types=["python_script"]).parent
        / "folded/tool-folded",
        "folded",
        "return 1",
    )
    if verb.name == "lint many":
        for number in range(500):
            python_tool(root / f"many/.vespe/tools/tool-n{number}", f"n{number}", "return 1")
    if "../folder" in verb.command or any("../folder" in step for step in verb.before):
        (root / "folder/folded").rename(root / "folded")
        (root / "folder").rmdir()
        (root / "folded").rename(root / "folder")
    for step in verb.before:
        _step(world, step)
    staging.delete(str(root / "tmp"))
    (root / "tmp").mkdir()
    return world


def _step(world: World, step: tuple[str, ...]) -> None:
    if step == FORGET:
        for kind in ("data", "state"):
            staging.delete(str(world.home / kind / "vespe"))
    elif step == MOVE:
        subprocess.run(
            ["git", "-C", str(world.root / "source"), "branch", "-qf", "main", "next"], check=True
        )
    elif code := world.run(step):
        raise SystemExit(f"vespe {' '.join(step)}: exit {code}\n{world.said}")


def _make_tools(tools: Path, port: int) -> None:
    harmless = {"readOnlyHint": True}
    examples = [{"input": {}, "output": 1}, {"input": {}, "output": 1}]
    python_tool(
        tools / "tool-given",
        "given",
        "import time\ntime.sleep(0.1)\nreturn 1",
        annotations=harmless,
        examples=examples,
    )
    number = {"type": "object", "properties": {"n": {"type": "integer"}}}
    python_tool(tools / "tool-quick", "quick", "return n", params="n: int = 1", schema=number)
    nap = "import subprocess\nsubprocess.run(['sleep', '600'], start_new_session=True)"
    python_tool(tools / "tool-nap", "nap", nap, annotations=harmless)
    shell = {
        "type": "shell_command",
        "entrypoint": "sh",
        "args": {"argv": ["-c", "sleep 0.2 & wait; echo done"]},
    }
    write_tool(
        tools / "tool-shell",
        "shell",
        implementation=shell,
        annotations=harmless,
        examples=[{"input": {}, "output": "done\n"}],
    )
    http = {
        "type": "http_request",
        "path": f"http://127.0.0.1:{port}/slow",
        "entrypoint": "GET",
        "args": {},
    }
    write_tool(tools / "tool-slow", "slow", implementation=http, annotations=harmless)


def _make_files(project: Path) -> None:
    calls = [
        {"name": "given", "arguments": {}},
        {"name": "shell", "arguments": {}},
        {"name": "slow", "arguments": {}},
    ]
    turns = [
        {"tool_calls": calls},
        {"tool_calls": [{"name": "quick", "arguments": {}}]},
        {"text": "It is done. " * 50},
    ]
    asked = [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": call["name"], "arguments": "{}"},
        }
        for n, call in enumerate(calls)
    ]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": asked},
    ]
    empty = {"type": "object", "properties": {}}
    definitions = [
        {"name": f"foreign_{n}", "description": "A tool.", "input_schema": empty} for n in range(3)
    ]
    for name, value in (
        ("script.json", {"turns": turns}),
        ("waiting.json", {"messages": messages}),
        ("foreign.json", definitions),
    ):
        (project / name).write_text(json.dumps(value), encoding="utf-8")
    (project / "inputs.jsonl").write_text("{}\n" * 8, encoding="utf-8")
