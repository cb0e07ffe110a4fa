"""Tasks whose process is killed: is one lost, does one run twice, does one say that it still runs?

A tool adds a line to a file, takes a while, and adds another. Its call is a task: of
`vespe tool run --background`, whose runner is killed, or of a client of `vespe mcp serve`, where
the server is. A tenth of the moments lie before the id of the task is known, the others from then
on until after the task has ended. The judge is the file, and what `vespe task list` says
afterwards, of each task and once more of all.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tests.support.ondisk import vespe, write_tool

_SCRIPT: Final = 'echo "$1" >> "$2"; sleep 0.3; echo "$1" >> "$2"'
_RUNS: Final = "vespe.features.tasks.background"
_EARLY: Final = 10
"""Each so manieth moment lies before the id is known."""
_BEYOND: Final = 1.15
"""How far behind a task's usual end the last moments lie."""
_WORKERS: Final = 4
"""Projects in which moments are tried at the same time."""
_STRIDE: Final = 37
"""Moments are tried in no order, so that a machine that becomes slower does not spoil them all."""
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {
        "extensions": {"io.modelcontextprotocol/tasks": {}}
    },
}


def make(root: Path) -> Path:
    """Make a project with the tool, which writes a line before it takes a while and one after."""
    root.mkdir(parents=True)
    assert vespe("init", cwd=root).returncode == 0
    argv = ["-c", _SCRIPT, "sh", "{n}", "{file}"]
    implementation = {"type": "shell_command", "entrypoint": "sh", "args": {"argv": argv}}
    schema = {"type": "object", "properties": {"n": {"type": "string"}, "file": {"type": "string"}}}
    place = root / ".vespe/tools/tool-count"
    write_tool(place, "count", schema=schema, implementation=implementation, task="always")
    assert vespe("trust", "--yes", cwd=root).returncode == 0
    return root


def killed(root: Path, points: int, some: range | None = None) -> dict[str, Any]:
    """Kill what runs a task at so many moments, or at `some` of them, and count what is wrong."""
    tried = range(points) if some is None else some
    found = {"points": len(tried), "runner": 0, "server": 0, "before_the_id": 0, "begun": 0}
    found |= {"lost": 0, "twice": 0, "stuck": 0, "wrong": 0, "completed": 0, "interrupted": 0}
    spans_s = {kind: _usual_s(root, kind) for kind in ("runner", "server")}
    known: dict[str, Path] = {}
    for point in tried:
        file = root / f"counted-{point}"
        kind = ("runner", "server")[point % 2]
        early = point // 2 % _EARLY == 0
        delay_s = spans_s[kind] * _BEYOND * (point * _STRIDE % points) / points
        identifier = (_of_runner if kind == "runner" else _of_server)(
            root, str(point), file.name, delay_s=delay_s, early=early
        )
        found[kind] += 1
        found["before_the_id"] += not identifier
        if identifier:
            known[identifier] = file
        _judge(root, {identifier: file} if identifier else {}, found)
    again = found | {"lost": 0, "stuck": 0, "wrong": 0}
    _judge(root, known, again)
    found |= {name: max(found[name], again[name]) for name in ("lost", "stuck", "wrong")}
    for point in tried:
        file = root / f"counted-{point}"
        found["twice"] += file.exists() and len(file.read_text(encoding="utf-8").split()) > 2
    return found


def _judge(root: Path, tasks: dict[str, Path], found: dict[str, Any]) -> None:
    """Compare what the tasks say with what their calls did."""
    until = time.monotonic() + 10
    listed: dict[str, Any] = {}
    while time.monotonic() < until:
        said = vespe("task", "list", "--all", "--json", cwd=root).stdout
        listed = {task["task"]: task for task in json.loads(said)["tasks"]}
        if all(task["status"] != "working" for task in listed.values()):
            break
    found["stuck"] += sum(task["status"] == "working" for task in listed.values())
    for identifier, file in tasks.items():
        task = listed.get(identifier)
        lines = file.read_text(encoding="utf-8").split() if file.exists() else []
        if task is None:
            found["lost"] += 1
        elif task["status"] == "completed":
            found["completed"] += 1
            found["lost"] += len(lines) != 2
        elif task["status"] == "failed" and task["message"].startswith("interrupted"):
            found["interrupted"] += 1
            found["begun"] += bool(lines)
        else:
            found["wrong"] += 1


def _usual_s(root: Path, kind: str) -> float:
    """Return how long the call of a task takes that nobody kills."""
    file = root / f"usual-{kind}"
    if kind == "runner":
        words = ("tool", "run", "count", "n=0", f"file={file.name}", "--background")
        identifier = vespe(*words, cwd=root).stdout.strip()
        assert vespe("task", "show", identifier, "--wait", cwd=root).returncode == 0
    else:
        identifier = _of_server(root, "0", file.name, delay_s=0, early=False, until=file)
    listed = json.loads(vespe("task", "list", "--json", cwd=root).stdout)["tasks"]
    made = next(task["created_at"] for task in listed if task["task"] == identifier)
    return file.stat().st_mtime - datetime.fromisoformat(made).timestamp()


def _of_runner(root: Path, name: str, file: str, *, delay_s: float, early: bool) -> str:
    """Start a task, kill what runs it after a while, and return its id, or "" for none."""
    argv = [sys.executable, "-m", "vespe", "tool", "run", "count", f"n={name}", f"file={file}"]
    with subprocess.Popen(
        [*argv, "--background"], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as starting:
        assert starting.stdout is not None
        runner, identifier = None, ""
        while runner is None and starting.poll() is None:
            runner = _child(starting.pid)
            time.sleep(0.002)
        if not early:
            identifier = starting.stdout.readline().decode().strip()
        time.sleep(delay_s)
        if runner is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(runner, signal.SIGKILL)
        return identifier or starting.stdout.read().decode().strip()


def _of_server(
    root: Path, name: str, file: str, *, delay_s: float, early: bool, until: Path | None = None
) -> str:
    """Ask a server for a call that is a task, kill the server after a while, or once a file has two
    lines, and return the task's id, or "" for none.
    """
    params = {"name": "count", "arguments": {"n": name, "file": file}, "_meta": _META}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with subprocess.Popen(
        [sys.executable, "-m", "vespe", "mcp", "serve"],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        line = b"" if early else server.stdout.readline()
        time.sleep(delay_s)
        while until is not None and not (until.exists() and until.read_bytes().count(b"\n") == 2):
            time.sleep(0.01)
        server.kill()
        line = line or server.stdout.readline()
        return str(json.loads(line)["result"]["taskId"]) if line.strip() else ""


def _child(pid: int) -> int | None:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        return next(
            (
                int(one)
                for one in children
                if _RUNS in Path(f"/proc/{one}/cmdline").read_text(encoding="utf-8")
            ),
            None,
        )
    except OSError:
        return None


def main() -> int:
    """Print what was counted, and return 1 where a task was lost, stuck or run twice, or ended otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print data")
    asked = parser.parse_args()
    size = -(-asked.points // _WORKERS)
    parts = [range(n, min(n + size, asked.points)) for n in range(0, asked.points, size)]
    with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(_WORKERS) as threads:
        os.environ |= {f"XDG_{n}_HOME": f"{home}/{n}" for n in ("CONFIG", "DATA", "STATE", "CACHE")}
        roots = [make(Path(home, f"project-{part.start}")) for part in parts]
        counted = list(threads.map(killed, roots, [asked.points] * len(parts), parts))
    found = {name: sum(one[name] for one in counted) for name in counted[0]}
    sys.stdout.write(json.dumps(found, indent=None if asked.json else 1) + "\n")
    return 1 if found["lost"] + found["twice"] + found["stuck"] + found["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
