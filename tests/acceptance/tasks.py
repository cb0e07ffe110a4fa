"""Tasks whose process is killed: is one lost, does one run twice, does one say that it still runs?

`vespe tool run --background` starts a call that adds a line to a file; the process that runs it is
killed at so many moments, from before the task exists until after it has ended. The judge is the
file, and what `vespe task list` says afterwards.
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
from pathlib import Path
from typing import Any

from tests.support.ondisk import vespe, write_tool

_SCRIPT = 'echo "$1" >> "$2"; sleep 0.3; echo "$1" >> "$2"'
_RUNS = "vespe.features.tasks.background"


def make(root: Path) -> Path:
    """Make a project with the tool, which writes a line before it takes a while and one after."""
    root.mkdir(parents=True)
    assert vespe("init", cwd=root).returncode == 0
    argv = ["-c", _SCRIPT, "sh", "{n}", "{file}"]
    implementation = {"type": "shell_command", "entrypoint": "sh", "args": {"argv": argv}}
    schema = {"type": "object", "properties": {"n": {"type": "string"}, "file": {"type": "string"}}}
    write_tool(
        root / ".vespe/tools/tool-count", "count", schema=schema, implementation=implementation
    )
    assert vespe("trust", "--yes", cwd=root).returncode == 0
    return root


def killed(root: Path, points: int, *, span_s: float) -> dict[str, Any]:
    """Kill a task's process at so many moments within a span, and count what is wrong."""
    found = {"points": points, "lost": 0, "twice": 0, "stuck": 0, "completed": 0, "interrupted": 0}
    for point in range(points):
        file = root / f"counted-{point}"
        delay_s = span_s * point / points
        identifier = _one(root, str(point), file.name, delay_s)
        time.sleep(0.05)
        listed = json.loads(vespe("task", "list", "--json", cwd=root).stdout)["tasks"]
        known = {task["task"]: task for task in listed}
        lines = file.read_text(encoding="utf-8").split() if file.exists() else []
        if len(lines) > 2:
            found["twice"] += 1
        if identifier and identifier not in known:
            found["lost"] += 1
        found["stuck"] += sum(1 for task in listed if task["status"] == "working")
        status = known.get(identifier, {}).get("status", "")
        if status == "completed":
            found["completed"] += 1
            found["lost"] += len(lines) != 2
        elif status == "failed":
            found["interrupted"] += 1
    return found


def _one(root: Path, name: str, file: str, delay_s: float) -> str:
    """Start a task, kill what runs it after a while, and return its id, or "" for none."""
    argv = [sys.executable, "-m", "vespe", "tool", "run", "count", f"n={name}", f"file={file}"]
    with subprocess.Popen(
        [*argv, "--background"], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as starting:
        runner = None
        while runner is None and starting.poll() is None:
            runner = _child(starting.pid)
            time.sleep(0.002)
        time.sleep(delay_s)
        if runner is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(runner, signal.SIGKILL)
        assert starting.stdout is not None
        return starting.stdout.read().decode().strip()


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
    """Print what was counted, and return 1 where a task was lost, stuck or run twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print data")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {f"XDG_{n}_HOME": f"{home}/{n}" for n in ("CONFIG", "DATA", "STATE", "CACHE")}
        found = killed(make(Path(home, "project")), asked.points, span_s=2.0)
    sys.stdout.write(json.dumps(found, indent=None if asked.json else 1) + "\n")
    return 1 if found["lost"] + found["twice"] + found["stuck"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
