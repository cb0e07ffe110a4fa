"""Tools out of process, in a process that lives: beside an interpreter, and a bare program, started
for each call.
"""

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.axes import ADD, Axis, bounded, compared, make_home, make_project, rates
from tests.support.ondisk import python_tool
from vespe import Project
from vespe.projects import user_config

GIVEN = {"a": 1, "b": 2}
ALONE = (
    sys.executable,
    "-I",
    "-B",
    "-c",
    "import json,sys; a = json.load(sys.stdin); print(json.dumps(a['a'] + a['b']))",
)


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure tools with the default settings: beside the same without the sandbox, and beside what
    starts a process for each call.
    """
    held, free = (_made(scratch / name) for name in ("held", "free"))
    user_config.set_value("sandbox", "off")
    config = held / ".vespe/config.json"
    said = json.loads(config.read_text(encoding="utf-8")) | {"sandbox": "auto"}
    config.write_text(json.dumps(said), encoding="utf-8")
    with Project(held, trusted=True) as within, Project(free, trusted=True) as without:
        cases: dict[str, Callable[[], object]] = {
            "held": lambda: within.call("total", **GIVEN).unwrap(),
            "free": lambda: without.call("total", **GIVEN).unwrap(),
            "interpreter": lambda: subprocess.run(
                ALONE, input=json.dumps(GIVEN).encode(), capture_output=True, check=True
            ),
            "shell": lambda: within.call("tool_00000", **GIVEN).unwrap(),
            "echo": lambda: subprocess.run(("echo", "1"), capture_output=True, check=True),
        }
        # most of the work is other processes'
        found = rates(cases, rounds=5, seconds=0.5)
        two = {
            name: [of_two(cases[name]) for _ in range(5)]
            for name in ("held", "free", "interpreter")
        }
        for row, rated, ours, theirs, peer, goal in (
            ("Python tool, one caller", found, "held", "free", "no sandbox", 0.8),
            ("Python tool, two callers", two, "held", "free", "no sandbox", 0.5),
            (
                "Python tool, one caller",
                found,
                "held",
                "interpreter",
                "an interpreter a call",
                None,
            ),
            ("Python tool, two callers", two, "held", "interpreter", "an interpreter a call", None),
            ("shell tool, one caller", found, "shell", "echo", "subprocess.run", 0.3),
        ):
            pair = (rated[ours], rated[theirs])
            yield compared(row, "calls/s", pair, peer=peer, goal=goal)
        spans = sorted(_span(cases["held"]) for _ in range(500))
        yield compared(
            "Python tool, slowest in a hundred",
            "ms",
            ([spans[-5]], [spans[len(spans) // 2]]),
            peer="the middle one",
            goal=4,
            more=False,
        )
    yield from _questions(held)


def _made(root: Path) -> Path:
    make_project(root, tools=2)
    python_tool(root / ".vespe/tools/tool-sum", "total", "return a + b", params="a, b", schema=ADD)
    return root


_ASKED = 9
_ASKS = f"""
import os, sys
from vespe import Project
with Project(sys.argv[1], trusted=True) as project:
    for _ in range(60):
        project.call("total", a=1, b=2).unwrap()
    os.sched_yield()
    for _ in range({_ASKED}):
        project.call("total", a=1, b=2).unwrap()
        os.sched_yield()
"""


def _questions(root: Path) -> Iterator[Axis]:
    """Count how often Vespe's own process asks for the status of a file in a call, by strace: the
    median of some, since one in a second looks at everything again.
    """
    if (strace := shutil.which("strace")) is None:
        return
    said = root.parent / "strace.txt"
    subprocess.run(
        [
            strace,
            "--seccomp-bpf",
            "-f",
            "-qq",
            "-e",
            "trace=stat,lstat,newfstatat,statx,sched_yield",
            "-o",
            said,
            sys.executable,
            "-c",
            _ASKS,
            root,
        ],
        check=True,
        capture_output=True,
    )
    lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
    marks = [at for at, line in enumerate(lines) if "sched_yield(" in line]
    own = lines[marks[0]].split()[0]
    count = statistics.median(
        sum(line.split()[0] == own for line in lines[begin + 1 : end])
        for begin, end in itertools.pairwise(marks)
    )
    yield bounded("questions for a file's status in a sandboxed call", "", count, at_most=40)


def of_two(case: Callable[[], object], *, seconds: float = 0.5) -> float:
    """Return how often a case runs in a second, in two threads."""
    until, counts = time.perf_counter() + seconds, [0, 0]

    def calls(which: int) -> None:
        while time.perf_counter() < until:
            case()
            counts[which] += 1

    threads = [threading.Thread(target=calls, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def _span(case: Callable[[], object]) -> float:
    began = time.perf_counter()
    case()
    return (time.perf_counter() - began) * 1000


def soak(directory: Path, calls: int) -> None:
    """Print what so many calls leave: memory, descriptors, processes."""
    make_home(directory)
    root = make_project(directory / "soak", tools=1)
    python_tool(root / ".vespe/tools/tool-sum", "total", "return a + b", params="a, b", schema=ADD)
    with Project(root, trusted=True) as project:
        for number in range(calls + 1):
            project.call("total", **GIVEN).unwrap()
            if number in (1000, calls):
                zygote = next(iter(project._workers._zygotes.values()))  # type: ignore[union-attr]  # it is there inside `with`
                print(
                    number,
                    {
                        name: _resident(pid)
                        for name, pid in (("vespe", os.getpid()), ("zygote", zygote.pid))
                    },
                    end=" ",
                )
                print(
                    "descriptors",
                    len(os.listdir("/proc/self/fd")),
                    "below the zygote",
                    len(_children(zygote.pid)),
                    flush=True,
                )


def _resident(pid: int) -> str:
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return f"{int(file.read().split()[1]) * 4 / 1024:.1f} MiB"


def _children(pid: int) -> list[str]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()
