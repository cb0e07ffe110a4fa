"""Batches: in-process calls beside a loop by hand, Python tools on all cores beside one, Dask
beside no cluster, joblib beside both.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.axes import Axis, compared, make_project
from tests.benchmarks.calls import Floor, add
from tests.support.ondisk import python_tool
from vespe import Project

MANY = int(os.environ.get("VESPE_BENCH_CALLS", "100000"))
"""In-process calls of one round; 1,000,000 takes a minute."""
FEW = int(os.environ.get("VESPE_BENCH_TOOL_CALLS", "200"))
"""Calls of a Python tool of one round."""
_LARGE = 10_000
ROUNDS = 3
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
BODY = "return sum(range(inputs['n'] % 7 + 1000))"


def work(n: int) -> int:
    """Do what the Python tool does, for those who call a function."""
    return sum(range(n % 7 + 1000))


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure each pair in turn."""
    root = make_project(scratch / "batches", tools=4)
    python_tool(
        root / ".vespe/tools/tool-sums",
        "sums",
        BODY,
        schema=NUMBER,
        annotations={"readOnlyHint": True},
    )
    project, floor = Project(root, trusted=True), Floor(scratch / "floor.log")
    project.registry.register(add)
    cores = os.cpu_count() or 1
    found = turns(
        MANY,
        {
            "ours": lambda: through(project, "add", ({"a": n, "b": 1} for n in range(MANY))),
            "floor": lambda: [floor.call("add", {"a": n, "b": 1}) for n in range(MANY)],
        },
    )
    peer = "a loop by hand, with a log line"
    yield compared(
        f"batch of {MANY:,} in-process calls",
        "calls/s",
        (found["ours"], found["floor"]),
        peer=peer,
        goal=0.5,
    )
    cases: dict[str, Callable[[], object]] = {
        "all": lambda: through(project, "sums", ({"n": n} for n in range(FEW)), jobs=cores),
        "one": lambda: through(project, "sums", ({"n": n} for n in range(FEW)), jobs=1),
        "dask": lambda: through(
            project, "sums", ({"n": n} for n in range(FEW)), jobs=cores, on="dask"
        ),
    }
    if (peer_case := loky(cores)) is not None:
        cases["loky"] = peer_case
    found = turns(FEW, cases)
    yield compared(
        f"batch of a Python tool, {cores} jobs",
        "calls/s",
        (found["all"], [rate * cores for rate in found["one"]]),
        peer=f"{cores} times one job",
        goal=0.8,
    )
    yield compared(
        "batch of a Python tool on Dask, its start included",
        "calls/s",
        (found["dask"], found["all"]),
        peer="here",
        goal=0.85,
    )
    yield from _beside_xargs(scratch)
    if "loky" in found:
        yield compared(
            "batch of a Python tool",
            "calls/s",
            (found["all"], found["loky"]),
            peer="joblib with loky, no isolation",
            goal=None,
        )


def _beside_xargs(scratch: Path) -> Iterator[Axis]:
    """Measure 10,000 calls of a program and of a Python tool with default settings, beside what
    `xargs -P2` starts.
    """
    root = make_project(scratch / "beside", tools=2)
    python_tool(root / ".vespe/tools/tool-sums", "sums", BODY, schema=NUMBER)
    project = Project(root, trusted=True)
    echo = ["xargs", "-P2", "-I{}", "echo", "{}"]
    python = ["xargs", "-P2", "-I{}", sys.executable, "-I", "-c", "print(sum(range({})))"]
    for row, name, given, argv, some, goal in (
        ("a shell tool", "tool_00000", {"a": 1, "b": 2}, echo, _LARGE, 0.25),
        ("a Python tool", "sums", {"n": 1}, python, 300, 4.0),
    ):
        began = time.perf_counter()
        through(project, name, (dict(given) for _ in range(_LARGE)))
        ours = _LARGE / (time.perf_counter() - began)
        lines = "".join(f"{number}\n" for number in range(some)).encode()
        began = time.perf_counter()
        subprocess.run(argv, input=lines, stdout=subprocess.DEVNULL, check=True)
        theirs = some / (time.perf_counter() - began)
        yield compared(
            f"batch of {_LARGE:,} calls of {row}, default sandbox",
            "calls/s",
            ([ours], [theirs]),
            peer="xargs -P2" if goal < 1 else "an interpreter a call by xargs -P2",
            goal=goal,
        )


def through(
    project: Project,
    name: str,
    inputs: Iterator[dict[str, int]],
    *,
    jobs: int = 0,
    on: str = "local",
) -> None:
    """Run a batch to its end."""
    for outcome in project.batch(name, inputs, jobs=jobs, on=on):
        assert outcome.ok, outcome


def loky(cores: int) -> Callable[[], object] | None:
    """Return the same work through joblib's processes; None where there is no joblib."""
    try:
        from joblib import Parallel, delayed
    except ImportError:
        return None
    return lambda: Parallel(n_jobs=cores, backend="loky")(delayed(work)(n) for n in range(FEW))


def turns(
    calls: int,
    cases: dict[str, Callable[[], object]],
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return the calls a second of each case, once for each round, by a clock."""
    found: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, case in cases.items():
            began = clock()
            case()
            found[name].append(calls / (clock() - began))
    return found
