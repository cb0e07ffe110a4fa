"""One million calls in one batch: `python -m tests.benchmarks.million [CALLS] [KILLS]`.

First through `Project.batch`, for the rate and the memory; then into a file by a process that is
killed with -9 at random moments and goes on each time, until it is done: each id must have exactly
one line, and a call that must not run twice must have begun at most once.
"""

import array
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.axes import make_home, make_project
from vespe import Project
from vespe.features.batch.engines import Batch
from vespe.features.batch.items import Item
from vespe.features.batch.local import Plan
from vespe.features.batch.outcomes_file import OutcomesFile

FIRST_KILL_S = 2.0
"""Time to start, and to get somewhere."""


def peak_mib() -> float:
    """Return the most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(root: Path, calls: int) -> None:
    """Call a function of this process so often, and say how quickly, and with how much memory after
    a tenth and at the end.
    """
    project = Project(root)
    project.register(lambda a, b: a + b, name="add")
    began, spent, total = time.perf_counter(), time.process_time(), 0
    for number, outcome in enumerate(
        project.batch("add", ({"a": n, "b": 1} for n in range(calls))), 1
    ):
        total += outcome.unwrap()
        if number == calls // 10:
            early = peak_mib()
    assert total == calls * (calls + 1) // 2
    spent, took = time.process_time() - spent, time.perf_counter() - began
    print(
        f"{calls:,} calls: {calls / took:,.0f}/s, {calls / spent:,.0f} a second of processor time, "
        f"{early:.1f} MiB, then {peak_mib():.1f}"
    )


def run(root: Path, out: str, calls: int, once: bool) -> None:
    """Run the batch into a file, or go on with it; each call is noted in a file, as eight bytes."""
    notes = os.open(f"{out}.calls", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    project = Project(root)

    def add(a: int, b: int) -> int:
        os.write(notes, a.to_bytes(8, sys.byteorder))
        return a + b

    project.register(add)
    path = project.call_path()
    items = (Item(n, {"a": n, "b": 1}) for n in range(calls))
    with OutcomesFile(out, resume=os.path.exists(out), journal=once) as file:
        for _ in Batch("local", items, path.tool("add"), path, Plan(jobs=1)).run_to(file):
            pass
    print(f"{peak_mib():.1f} MiB", flush=True)


def torn(root: Path, calls: int, kills: int, *, once: bool) -> None:
    """Run the batch through so many kills, and check that nothing is lost and nothing twice."""
    out, rng, killed, done = str(root / "out.jsonl"), random.Random(0), 0, 0
    began = time.perf_counter()
    while True:
        argv = [
            sys.executable,
            "-m",
            "tests.benchmarks.million",
            "run",
            str(root),
            out,
            str(calls),
            "once" * once,
        ]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, encoding="utf-8") as process:
            try:
                said, _ = process.communicate(
                    timeout=FIRST_KILL_S + rng.uniform(0, 20) if killed < kills else None
                )
                assert process.returncode == 0
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        killed, done = (
            killed + 1,
            len(Path(out).read_bytes().splitlines()) if os.path.exists(out) else 0,
        )
        print(f"killed, with {done:,} lines", flush=True)
    seen, failed = bytearray(calls), 0
    with open(out, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            assert not seen[line["id"]], "a line that comes twice"
            seen[line["id"]] = 1
            assert (
                line["result"] == line["id"] + 1
                if line["ok"]
                else line["error"]["code"] == "unknown_outcome"
            )
            failed += not line["ok"]
    called, times = array.array("q", Path(f"{out}.calls").read_bytes()), bytearray(calls)
    for n in called:
        times[n] += 1
    assert all(seen) and (max(times) == 1 or not once) and sum(map(bool, times)) >= calls - failed
    kind = "must not run twice" if once else "may run twice"
    print(
        f"{kind}: {killed} kills, {calls:,} lines, {failed} unknown, "
        f"{sum(times) - sum(map(bool, times))} calls again, {said.strip()}, "
        f"{time.perf_counter() - began:.0f} s",
        flush=True,
    )


def main() -> None:
    """Measure, then tear."""
    if sys.argv[1:2] == ["run"]:
        run(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), bool(sys.argv[5]))
        return
    calls, kills = int((sys.argv[1:2] or ["1000000"])[0]), int((sys.argv[2:3] or ["3"])[0])
    with tempfile.TemporaryDirectory() as scratch:
        make_home(Path(scratch))
        measure(make_project(Path(scratch) / "rate", tools=1), calls)
        for once in (False, True):
            hints = {"annotations": {} if once else {"readOnlyHint": True}}
            torn(
                make_project(Path(scratch) / f"torn-{once}", tools=1, **hints),
                calls,
                kills,
                once=once,
            )


if __name__ == "__main__":
    main()
