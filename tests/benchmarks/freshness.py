"""What it costs to be sure that nothing is stale, by the clock: `python -m tests.benchmarks
freshness`.

A call after a silence, and one of a function that the program registered; the list of an MCP server
after one of 10,000 tools changed; a server that has nothing to do; the second start among 100,000.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.axes import Axis, compared, make_project, rates, times
from tests.benchmarks.mcp import Client, processor_time_of
from tests.benchmarks.serving import at_most, whole
from vespe import Project, tool
from vespe.features.mcp.server.tools import ServedTools
from vespe.projects.workspace import open_workspace

_SILENCE_S = 3.0
_IDLE_S = 20.0


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure calls, then servers."""
    roots = {n: make_project(scratch / f"of-{n}", tools=n) for n in (10, 1_000, 10_000)}
    for number, root in roots.items():
        name = f"a call after {_SILENCE_S:g} s of silence, {number:,} tools"
        yield at_most(name, _after_silence(root), 1.5)
    yield _registered(roots[10])
    yield from _changed(roots[10_000])
    yield from _idle(roots[10_000])
    root = make_project(scratch / "of-100000", tools=100_000)
    yield _first_page(root)
    yield from _second_start(root)


def _after_silence(root: Path) -> float:
    """Return the median of five, in ms."""
    project, found = Project(root), []
    project.register(lambda a, b: a + b, name="add")
    until = time.monotonic() + 3
    while time.monotonic() < until:
        project.call("add", a=1, b=2)
    for _ in range(5):
        time.sleep(_SILENCE_S)
        began = time.perf_counter()
        project.call("add", a=1, b=2)
        found.append((time.perf_counter() - began) * 1000)
    return statistics.median(found)


def _registered(root: Path) -> Axis:
    project = Project(root)

    @project.register
    @tool
    def decorated(a: int, b: int) -> int:
        """Add."""
        return a + b

    project.register(lambda a, b: a + b, name="plain")
    found = rates(
        {name: lambda name=name: project.call(name, a=1, b=2) for name in ("plain", "decorated")},  # type: ignore[misc]  # the loop's name
        clock=time.perf_counter,
    )
    return compared(
        "a plain function that was registered",
        "calls/s",
        (found["plain"], found["decorated"]),
        peer="@tool",
        goal=0.9,
    )


def _changed(root: Path) -> Iterator[Axis]:
    config, found = root / ".vespe/tools/tool-00500/config.json", []
    with ServedTools(open_workspace(root)) as tools:
        whole(tools)
        for number in range(5):
            text = json.loads(config.read_text(encoding="utf-8")) | {"description": f"No {number}."}
            config.write_text(json.dumps(text), encoding="utf-8")
            began = time.perf_counter()
            whole(tools)
            found.append((time.perf_counter() - began) * 1000)
            time.sleep(0.2)
    yield at_most("tools/list of 10,000 after one changed", statistics.median(found[1:]), 150)


def _idle(root: Path) -> Iterator[Axis]:
    """Measure a server that listed all its tools, as it is left alone."""
    client = Client([sys.executable, "-m", "vespe", "mcp", "serve"], root)
    try:
        listed(client)
        time.sleep(5)
        began, spent = time.monotonic(), processor_time_of(client.process.pid)
        time.sleep(_IDLE_S)
        spent = processor_time_of(client.process.pid) - spent
        share = spent / (time.monotonic() - began) * 100
        yield at_most("mcp serve of 10,000 tools, idle", share, 0.5, unit="% of a core")
        yield at_most(
            "the same, resident after a whole list", client.resident_mib(), 100, unit="MiB"
        )
    finally:
        client.end()


def listed(client: Client) -> float:
    """Shake hands and list every page; return the seconds until the first page was there."""
    first, cursor, number = 0.0, None, 1
    info = {"name": "bench", "version": "1"}
    shaken = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    client.send("initialize", shaken, 0)
    client.read()
    client.send("notifications/initialized", {}, None)
    while number == 1 or cursor is not None:
        client.send("tools/list", {} if cursor is None else {"cursor": cursor}, number)
        answer = client.read()["result"]
        first = first or time.perf_counter() - client.began
        cursor, number = answer.get("nextCursor"), number + 1
    return first


def _first_page(root: Path) -> Axis:
    """Measure the first page of very many tools, in a server that has given one."""
    with ServedTools(open_workspace(root)) as tools:
        found = times({"page": lambda: tools.page("2025-11-25", None)}, rounds=3)["page"]
    return at_most("tools/list of 100,000, first page", statistics.median(found), 1000)


def _second_start(root: Path) -> Iterator[Axis]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    program = [sys.executable, "-m", "vespe", "tool", "list"]
    subprocess.run(program, cwd=root, env=environment, stdout=subprocess.DEVNULL, check=True)
    found = []
    for _ in range(3):
        client = Client([sys.executable, "-m", "vespe", "mcp", "serve"], root)
        info = {"name": "bench", "version": "1"}
        shaken = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        client.send("initialize", shaken, 0)
        client.read()
        client.send("notifications/initialized", {}, None)
        client.send("tools/list", {}, 1)
        assert len(client.read()["result"]["tools"]) == 500
        found.append((time.perf_counter() - client.began) * 1000)
        client.process.kill()
        client.process.wait()
    yield at_most("mcp serve of 100,000 tools, next start to first page", found[-1], 1000)
