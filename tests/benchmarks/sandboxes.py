"""What the sandbox costs each call, in time that one waits: beside none, and beside the programs
that hold others, where they are there.
"""

import functools
import json
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.axes import ADD, Axis, compared, make_project, times
from tests.benchmarks.workers import of_two
from tests.support.ondisk import python_tool
from vespe import Project
from vespe.projects import user_config

GIVEN = {"a": 1, "b": 2}
STATED = {"read": ["."], "write": [], "network": [], "programs": []}
PEERS = {
    "bwrap": (
        "bwrap",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--unshare-net",
        "--unshare-ipc",
        "--",
        "echo",
        "1",
    ),
    "srt": ("srt", "echo", "1"),
}
ROUNDS = 60


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure a Python tool with and without the sandbox, and a program's launch beside bwrap and
    srt.
    """
    yield from _homes(scratch / "homes")
    user_config.set_value("sandbox", "off")
    free, held = (_project(scratch / name) for name in ("free", "held"))
    config = held / ".vespe/config.json"
    config.write_text(
        json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"sandbox": "auto"}),
        encoding="utf-8",
    )
    with Project(free, trusted=True) as without, Project(held, trusted=True) as within:
        cases: dict[str, Callable[[], object]] = {
            "without": lambda: without.call("total", **GIVEN).unwrap(),
            "plain": lambda: within.call("total", **GIVEN).unwrap(),
            "stated": lambda: within.call("closed", **GIVEN).unwrap(),
            "program": lambda: without.call("tool_00000", **GIVEN).unwrap(),
            "held program": lambda: within.call("tool_00000", **GIVEN).unwrap(),
        }
        for name, command in PEERS.items():
            if shutil.which(command[0]):
                cases[name] = lambda command=command: subprocess.run(
                    command, capture_output=True, check=True
                )  # type: ignore[misc]  # a default binds it
        cases["echo"] = lambda: subprocess.run(("echo", "1"), capture_output=True, check=True)
        found = times(cases, rounds=ROUNDS, clock=time.perf_counter)
        two = [[of_two(cases[name]) for _ in range(5)] for name in ("plain", "without")]
    yield _rate("Python tool, default sandbox", (found["plain"], found["without"]), 0.8)
    yield compared(
        "the same, two callers",
        "calls/s",
        (two[0], two[1]),
        peer="no sandbox",
        goal=0.5,
    )
    yield _rate("shell tool, default sandbox", (found["held program"], found["echo"]), 0.3)
    yield compared(
        "Python tool in the sandbox, nothing stated",
        "ms",
        (found["plain"], found["without"]),
        peer="no sandbox",
        goal=None,
    )
    yield compared(
        "Python tool in the sandbox, everything stated",
        "ms",
        (found["stated"], found["without"]),
        peer="no sandbox",
        goal=None,
    )
    yield _added(
        "what the sandbox adds to a Python tool, everything stated",
        found["stated"],
        found["without"],
        at_most=7,
    )
    yield _added(
        "what the sandbox adds to a program", found["held program"], found["program"], at_most=10
    )
    for name in PEERS:
        if name in found:
            yield compared(
                "program in the sandbox",
                "ms",
                (found["held program"], found[name]),
                peer=name,
                goal=None,
            )


def _homes(scratch: Path) -> Iterator[Axis]:
    """Measure what a home directory of many entries adds to a call."""
    user_config.set_value("sandbox", "auto")
    home = os.environ["HOME"]
    with ExitStack() as opened:
        cases = {}
        for entries in (30, 1000, 10_000):
            place = scratch / f"home-{entries}"
            for number in range(entries):
                (place / f"entry-{number}").mkdir(parents=True)
            root = _project(scratch / f"of-{entries}")
            project = opened.enter_context(Project(root, trusted=True))
            cases[str(entries)] = functools.partial(_at_home, place, project)
        found = times(cases, rounds=ROUNDS, clock=time.perf_counter)
    os.environ["HOME"] = home
    for entries, at_most in ((1000, 1.0), (10_000, 5.0)):
        name = f"what a home of {entries} entries adds to a call"
        yield _added(name, found[str(entries)], found["30"], at_most=at_most)


def _at_home(home: Path, project: Project) -> None:
    os.environ["HOME"] = str(home)
    project.call("total", **GIVEN).unwrap()


def _rate(name: str, spans: tuple[list[float], list[float]], goal: float) -> Axis:
    """Return the row of two cases by how many of them run in a second."""
    ours, theirs = ([1000 / span for span in one] for one in spans)
    peer = "subprocess.run" if name.startswith("shell") else "no sandbox"
    return compared(name, "calls/s", (ours, theirs), peer=peer, goal=goal)


def _project(root: Path) -> Path:
    make_project(root, tools=2)
    for name, permissions in (("total", {}), ("closed", {"permissions": STATED})):
        python_tool(
            root / f".vespe/tools/tool-{name}",
            name,
            "return a + b",
            params="a, b",
            schema=ADD,
            **permissions,
        )
    return root


def _added(name: str, held: list[float], free: list[float], *, at_most: float) -> Axis:
    added = [statistics.median(held) - statistics.median(free)]
    return compared(name, "ms", (added, [at_most]), peer=f"{at_most:g} ms", goal=1, more=False)
