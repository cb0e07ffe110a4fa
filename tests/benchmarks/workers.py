"""Tools out of process, in a process that lives: beside an interpreter, and a bare program, started
for each call.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.axes import ADD, Axis, compared, make_home, make_project, rates
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
    """Measure a Python tool with one caller and two, the slowest call in a hundred, and a program:
    as their peers, without the sandbox.
    """
    user_config.set_value("sandbox", "off")
    root = make_project(scratch / "workers", tools=2)
    python_tool(root / ".vespe/tools/tool-sum", "total", "return a + b", params="a, b", schema=ADD)
    with Project(root, trusted=True) as project:
        cases = {
            "ours": lambda: project.call("total", **GIVEN).unwrap(),
            "theirs": lambda: subprocess.run(
                ALONE, input=json.dumps(GIVEN).encode(), capture_output=True, check=True
            ),
            "shell": lambda: project.call("tool_00000", **GIVEN).unwrap(),
            "echo": lambda: subprocess.run(("echo", "1"), capture_output=True, check=True),
        }
        # most of the work is other processes'
        found = rates(cases, rounds=5, seconds=0.5, clock=time.perf_counter)
        yield compared(
            "Python tool, one caller",
            "calls/s",
            (found["ours"], found["theirs"]),
            peer="an interpreter a call",
            goal=7,
        )
        both = [[_of_two(cases[name]) for _ in range(5)] for name in ("ours", "theirs")]
        yield compared(
            "the same, two callers",
            "calls/s",
            (both[0], both[1]),
            peer="an interpreter a call",
            goal=7,
        )
        yield compared(
            "shell tool, one caller",
            "calls/s",
            (found["shell"], found["echo"]),
            peer="subprocess.run",
            goal=0.5,
        )
        spans = sorted(_span(cases["ours"]) for _ in range(500))
        slowest, middle = spans[-5], spans[len(spans) // 2]
        yield compared(
            "Python tool, slowest in a hundred",
            "ms",
            ([slowest], [middle]),
            peer="the middle one",
            goal=4,
            more=False,
        )


def _of_two(case: Callable[[], object], *, seconds: float = 0.5) -> float:
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
