"""Where secrets leak: each store of a secret with each fault, and all that Vespe then gives back,
writes or starts.

    python -m tests.acceptance.secrets [--json]

Commands of their own run tools that print, raise, send and return a secret, and one that spies on
the processes above it without declaring the secret. The secret is then looked for in what the
commands and an MCP server said, every file that they wrote (logs, recordings, conversations, rows
of a batch, state), the pages of the inspector, what a collector of OpenTelemetry was sent, and,
while a tool sleeps, the command line and the environment of every process. Only the processes of
the tool that declares it may have it there, and those that start and bound them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.acceptance.test_secrets import ECHO, SECRET, SPY, store
from tests.support.inspecting import inspecting
from tests.support.keyrings import use_a_keyring
from tests.support.loopback import Exchange, Loopback
from tests.support.ondisk import python_tool, write_tool
from vespe.features.inspector.site import PAGES

STORES: Final = {
    "value": ("there",),
    "env": ("there", "missing"),
    "file": ("there", "missing", "wrong kind", "slow", "huge", "wrong mode"),
    "keyring": ("there", "missing", "locked", "slow", "huge", "killed"),
    "command": ("there", "missing", "locked", "slow", "huge", "killed"),
    "token": ("there", "missing", "locked", "slow", "huge", "killed"),
}
"""What can be wrong with each. A file of the wrong kind is a directory, a slow one a FIFO."""
_CLIENT: Final = {"name": "sweep", "version": "1"}
_TOOLS: Final = ("echo", "shell", "send", "spy")


class World:
    """A home and a project, and what was said there; `served` is where requests go."""

    def __init__(self, root: Path, served: Loopback, collector: Loopback) -> None:
        self.home, self.project = root / "home", root / "project"
        self.home.mkdir()
        (self.project / ".vespe").mkdir(parents=True)
        (self.project / ".vespe/config.json").write_text("{}", encoding="utf-8")
        self.served, self.collector = served, collector
        self.said: dict[str, bytes] = {}
        self.environment = {
            **{key: os.environ[key] for key in ("PATH", "LANG", "PYTHONPATH") if key in os.environ},
            "HOME": str(self.home),
            **{
                f"XDG_{kind}_HOME": str(self.home / kind.lower())
                for kind in ("CONFIG", "DATA", "STATE", "CACHE")
            },
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url("").rstrip("/"),
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_only",
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        with pytest.MonkeyPatch.context() as patch:
            use_a_keyring(self.home, patch)
        settings = self.home / "config/python_keyring"
        assert settings.is_dir()
        self._tools()

    def _tools(self) -> None:
        tools = self.project / ".vespe/tools"
        schema = {"type": "object", "properties": {"fail": {}, "said": {}}}
        python_tool(tools / "tool-e", "echo", ECHO, secrets=["TOKEN"], schema=schema)
        python_tool(tools / "tool-p", "spy", SPY)
        sleep = "import time\ntime.sleep(inputs['seconds'])"
        python_tool(
            tools / "tool-n",
            "nap",
            sleep,
            secrets=["TOKEN"],
            schema={"type": "object", "properties": {"seconds": {}}},
        )
        write_tool(
            tools / "tool-s",
            "shell",
            implementation={
                "type": "shell_command",
                "entrypoint": "sh",
                "args": {"argv": ["-c", 'echo "$TOKEN"; echo "$TOKEN" >&2']},
            },
            secrets=["TOKEN"],
        )
        write_tool(
            tools / "tool-h",
            "send",
            implementation={
                "type": "http_request",
                "path": self.served.url("/echo"),
                "entrypoint": "post",
                "args": {
                    "auth": {"type": "bearer", "token": "${env:TOKEN}"},
                    "body": {"text": "say"},
                },
            },
            secrets=["TOKEN"],
        )

    def configure(self, said: Any) -> None:
        directory = self.home / "config/vespe"
        directory.mkdir(parents=True, exist_ok=True)
        host = self.served.url("").removeprefix("http://").rstrip("/")
        config = {
            "version": 2,
            "allow_hosts": [host],
            "secrets": {"TOKEN": said},
            "providers": {
                "here": {"api": "openai", "base_url": self.served.url("/v1"), "api_key": said}
            },
        }
        path = directory / "config.json"
        path.touch(0o600)
        path.write_text(json.dumps(config), encoding="utf-8")

    def vespe(self, *words: str) -> int:
        done = subprocess.run(
            [sys.executable, "-m", "vespe", *words],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=600,
            check=False,
        )
        self.said[" ".join(words)] = done.stdout + done.stderr
        return done.returncode

    def written(self) -> Iterator[tuple[str, bytes]]:
        for directory in (self.home, self.project):
            for path in directory.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    yield str(path), path.read_bytes()


def cases() -> Iterator[tuple[str, str]]:
    """Return each store with each of its faults."""
    yield from ((name, fault) for name, faults in STORES.items() for fault in faults)


def place(name: str, fault: str, world: World) -> Any:
    """Make a store with a fault, and return what the configuration says of it."""
    if name == "value":
        return SECRET
    if name == "env":
        if fault == "there":
            world.environment["ELSEWHERE"] = SECRET
        return {"ref": "env:ELSEWHERE"}
    if name == "token":
        form = {"client_id": "vespe", "client_secret": {"ref": f"file:{world.home / 'client'}"}}
        kept = world.home / "client"
        kept.touch(0o600)
        kept.write_text("client-" + SECRET, encoding="utf-8")
        url = world.served.url(f"/token/{fault}")
        if fault == "missing":
            url = "http://127.0.0.1:9/token"
        return {"token": {"url": url, **form}}
    if name == "file" and fault in ("wrong kind", "slow"):
        path = world.home / "kept-file"
        if fault == "slow":
            os.mkfifo(path, 0o600)
        else:
            path.mkdir(0o700)
        return {"ref": f"file:{path}"}
    return store(name, fault, world.home)


def serve(exchange: Exchange) -> bool:
    """Hand tokens out, well and badly; everywhere else quote whatever came, as servers do."""
    if exchange.target == "/token/killed":
        return False
    if exchange.target == "/token/slow":
        time.sleep(2)
        return False
    if exchange.target == "/token/locked":
        return exchange.reply(exchange.raw, status=401)
    if exchange.target == "/token/huge":
        return exchange.reply(json.dumps({"access_token": SECRET * 10_000}).encode())
    if exchange.target == "/token/there":
        return exchange.reply(json.dumps({"access_token": SECRET, "expires_in": 900}).encode())
    return exchange.reply(exchange.raw, status=401, kind="text/plain")


def tried(name: str, fault: str) -> dict[str, Any]:
    """Try one store with one fault, and return where the secret was found and what calls said."""
    with (
        tempfile.TemporaryDirectory() as root,
        Loopback(serve) as served,
        Loopback(lambda one: one.reply(b"", kind="application/x-protobuf")) as collector,
    ):
        world = World(Path(root), served, collector)
        world.configure(place(name, fault, world))
        own = {path for path, data in world.written() if SECRET.encode() in data}
        codes = _played(world)
        processes = _slept(world) if fault == "there" else {}
        pages = _seen(world)
        found = [
            f"said by: {words}" for words, said in world.said.items() if SECRET.encode() in said
        ]
        found += [f"on the page: {page}" for page, body in pages.items() if SECRET.encode() in body]
        found += [
            f"written to: {os.path.relpath(path, root)}"
            for path, data in world.written()
            if path not in own and SECRET.encode() in data
        ]
        found += ["sent to the collector"] * any(
            SECRET.encode() in raw for raw in collector.requests
        )
        found += processes.get("leaks", [])
        return {
            "store": name,
            "fault": fault,
            "leaks": found,
            "codes": codes,
            "only redacted": {
                "said": _struck(world.said.values()),
                "pages": _struck(pages.values()),
                "files": _struck(data for path, data in world.written() if path not in own),
                "spans": _struck(collector.requests),
            },
            "surfaces": {
                "said": len(world.said),
                "pages": len(pages),
                "files": sum(1 for _ in world.written()),
                "spans": len(collector.requests),
                "processes": processes.get("seen", 0),
            },
        }


def _struck(texts: Iterable[bytes]) -> int:
    """Count those that the secret was only redacted of, so that it was on its way there."""
    return sum(b"***" in text for text in texts)


def _played(world: World) -> dict[str, int]:
    assert world.vespe("trust", "--yes") == 0, world.said
    codes = {"echo": world.vespe("tool", "run", "echo", "--args", '{"fail": false}', "--json")}
    world.vespe("tool", "run", "echo", "--args", '{"fail": true}')
    codes |= {tool: world.vespe("tool", "run", tool, "--json") for tool in _TOOLS[1:]}
    turns: list[dict[str, Any]] = [
        {"tool_calls": [{"name": tool, "arguments": {}}]} for tool in ("shell", "send", "spy")
    ]
    turns[0]["tool_calls"].append({"name": "echo", "arguments": {"fail": False}})
    script = world.project / "script.json"
    script.write_text(json.dumps({"turns": [*turns, {"text": "done"}]}), encoding="utf-8")
    simulated = ("--provider", "simulated", "--script", "script.json", "--approve", "all")
    kept = ("--record", "record.json", "--save", "talk.json")
    codes["agent"] = world.vespe("agent", "run", "go", *simulated, *kept)
    codes["provider"] = world.vespe("agent", "run", "go", "--provider", "here", "--model", "m")
    codes["served"] = _served(world)
    (world.project / "rows.jsonl").write_text('{"fail": false}\n{"fail": true}\n', encoding="utf-8")
    codes["batch"] = world.vespe("batch", "echo", "rows.jsonl", "-o", "done.jsonl")
    for words in (
        ("log", "--json"),
        ("doctor",),
        ("secret", "list", "--json"),
        ("secret", "check", "--json"),
        ("secret", "check", "providers.here.api_key"),
        ("config", "list"),
        ("tool", "show", "echo"),
        ("lint",),
    ):
        world.vespe(*words)
    return codes


def _served(world: World) -> int:
    """Call every tool over MCP, and keep what the server answered and said."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}
    calls: list[dict[str, Any]] = [{"name": tool, "arguments": {}} for tool in _TOOLS[1:]]
    calls += [{"name": "echo", "arguments": {"fail": fail}} for fail in (False, True)]
    asked = [("initialize", hello), ("tools/list", {}), *(("tools/call", one) for one in calls)]
    server = subprocess.Popen(
        [sys.executable, "-m", "vespe", "mcp", "serve", "--ask", "allow"],
        cwd=world.project,
        env=world.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdin and server.stdout
    answers = []
    for number, (method, params) in enumerate(asked):
        line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(line).encode() + b"\n")
        server.stdin.flush()
        answers.append(server.stdout.readline())
        while json.loads(answers[-1]).get("id") != number:
            answers.append(server.stdout.readline())
    out, said = server.communicate(timeout=60)
    world.said["mcp serve"] = b"".join(answers) + out + said
    return server.returncode


def _slept(world: World) -> dict[str, Any]:
    """Look into every process while a tool that declares the secret sleeps."""
    sleeping = subprocess.Popen(
        [sys.executable, "-m", "vespe", "tool", "run", "nap", "seconds=4"],
        cwd=world.project,
        env=world.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    own = {str(sleeping.pid), str(os.getpid())}
    leaks, seen, until = set[str](), set[str](), time.monotonic() + 3.5
    in_own_environment = SECRET in world.environment.values()
    while time.monotonic() < until:
        for process in Path("/proc").glob("[0-9]*"):
            for file in ("cmdline", "environ"):
                try:
                    data = (process / file).read_bytes()
                except OSError:
                    continue
                seen.add(process.name)
                is_own = file == "environ" and (process.name not in own or in_own_environment)
                if SECRET.encode() in data and not (is_own and _is_below(process, sleeping.pid)):
                    leaks.add(f"/proc/PID/{file} of {_name(process)}")
        time.sleep(0.1)
    sleeping.wait(60)
    return {"leaks": sorted(leaks), "seen": len(seen)}


def _is_below(process: Path, ancestor: int) -> bool:
    number = process.name
    while number not in ("0", "1", ""):
        if number == str(ancestor):
            return True
        try:
            status = Path("/proc", number, "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return True  # it has ended meanwhile
        number = status.rpartition(")")[2].split()[1]
    return False


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text(encoding="utf-8").strip()
    except OSError:
        return "a process that ended"


def _seen(world: World) -> dict[str, bytes]:
    """Return the pages of the inspector, with calls that were made in it."""
    with inspecting(world.project, "record.json", env=world.environment) as inspector:
        inspector.open()
        pages = {"": inspector.get()[1]}
        for uid in ("tool-e", "tool-s", "tool-h", "tool-p"):
            page = f"tool/project_tools/{uid}"
            pages[page] = inspector.get(page)[1]
            asked = inspector.post(page, {"whole": '{"fail": false}' if uid == "tool-e" else "{}"})[
                1
            ]
            pages[f"{page} asked"] = asked
            if b"waiting=" in asked:
                key = asked.partition(b"waiting=")[2].partition(b"#")[0].decode()
                fields = {"waiting": key, "answer": "once"}
                ran = inspector.post(page, fields)[1]
                pages[f"{page} answered"] = ran
                where = ran.partition(b"ocation: ")[2].partition(b"\r\n")[0].partition(b"#")[0]
                pages[f"{page} ran"] = inspector.send("GET", where.decode())[1]
        for page in PAGES:
            pages[page] = inspector.get(page)[1]
    return pages


def main() -> int:
    """Try all, and say where the secret was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    rows = []
    for name, fault in cases():
        rows.append(tried(name, fault))
        sys.stderr.write(f"{name} {fault}: {rows[-1]['leaks'] or 'nowhere'}\n")
    leaks = sum(len(row["leaks"]) for row in rows)
    said = {"cases": len(rows), "leaks": leaks, "rows": rows}
    sys.stdout.write(f"{json.dumps(said) if as_json else f'{len(rows)} cases, {leaks} leaks'}\n")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
