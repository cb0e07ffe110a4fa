"""What the sandbox costs each call, in time that one waits: beside none, and beside the programs
that hold others, where they are there.
"""

import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.axes import ADD, Axis, compared, make_project, times
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
        found = times(cases, rounds=ROUNDS, clock=time.perf_counter)
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
