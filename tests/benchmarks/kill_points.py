"""Kills a batch at random points and goes on with it, until it is done:
`python -m tests.benchmarks.kill_points [POINTS] [ENGINE]`.

Then every id must have exactly one line, and a call of a tool that must not run twice must have
begun at most once.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.benchmarks.axes import make_home, make_project
from tests.support.batches import calls_in, counting_tool

COMMAND = (
    sys.executable,
    "-m",
    "vespe",
    "batch",
    "count",
    "in.jsonl",
    "-o",
    "out.jsonl",
    "--jobs",
    "2",
    "--trust",
)


def children_of(pid: int) -> list[int]:
    """Return the processes below one, itself left out."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (
                (entry / "stat")
                .read_text(encoding="ascii", errors="replace")
                .rpartition(")")[2]
                .split()
            )
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, queue = list[int](), [pid]
    while queue:
        below = parents.get(queue.pop(), [])
        found += below
        queue += below
    return found


def kill_at_random(process: "subprocess.Popen[bytes]", rng: random.Random, notes: Path) -> str:
    """Kill the driver or one of its processes a random while after it called; returns which, or
    "done" where it ended before.
    """
    before = len(calls_in(notes))
    while process.poll() is None and len(calls_in(notes)) == before:
        time.sleep(0.01)
    try:
        process.wait(rng.uniform(0.0, 0.5))
        return "done"
    except subprocess.TimeoutExpired:
        below = children_of(process.pid)
    if below and rng.random() < 0.5:
        try:
            os.kill(rng.choice(below), signal.SIGKILL)
        except ProcessLookupError:
            return "nobody"
        return "a process below it"
    process.kill()
    process.wait()
    return "the driver"


def started(argv: list[str], root: Path) -> "subprocess.Popen[bytes]":
    """Start the command."""
    with (root / "said.log").open("ab") as log:
        return subprocess.Popen(argv, cwd=root, stderr=log, stdout=log)


def torn(
    directory: Path, *, points: int, inputs: int, engine: str, read_only: bool, seed: int = 0
) -> Counter[str]:
    """Run one batch through so many kills, check its output, and return what was killed and what
    became of the inputs.
    """
    rng, happened = random.Random(seed), Counter[str]()
    root = make_project(directory / ("again" if read_only else "once"), tools=1)
    notes = counting_tool(root, "count", read_only=read_only)
    (root / "in.jsonl").write_text(
        "".join(f'{{"n": {n}, "s": 0.05}}\n' for n in range(inputs)), encoding="utf-8"
    )
    argv = [*COMMAND, "--on", engine]
    process = started(argv, root)
    for _ in range(points):
        happened[kill_at_random(process, rng, notes)] += 1
        if process.poll() in (0, 1):
            break
        if process.poll() is not None:
            process = started([*argv, "--resume"], root)
    while process.wait() not in (0, 1):
        process = started([*argv, "--resume"], root)
    lines = [
        json.loads(line) for line in (root / "out.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert sorted(line["id"] for line in lines) == list(range(1, inputs + 1)), (
        "an id is lost, or comes twice"
    )
    called = Counter(calls_in(notes))
    assert all(line["result"] == 2 * (line["id"] - 1) for line in lines if line["ok"])
    assert read_only or max(called.values()) == 1, "a call that must not run twice did"
    assert all(called[line["id"] - 1] for line in lines if line["ok"])
    happened.update(f"line: {'ok' if line['ok'] else line['error']['code']}" for line in lines)
    return happened


def main() -> None:
    """Tear a batch of a read-only tool and one of a tool that must not run twice."""
    points, engine = int((sys.argv[1:2] or ["50"])[0]), (sys.argv[2:3] or ["local"])[0]
    with tempfile.TemporaryDirectory() as scratch:
        make_home(Path(scratch))
        for read_only in (True, False):
            began = time.perf_counter()
            happened = torn(
                Path(scratch), points=points, inputs=20 * points, engine=engine, read_only=read_only
            )
            print(
                f"{engine}, {'read-only' if read_only else 'once'}: {dict(happened)}, "
                f"{time.perf_counter() - began:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
