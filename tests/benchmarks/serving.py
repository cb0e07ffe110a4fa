"""Serving over MCP: a function of one's own process beside the SDKs, and lists of very many
tools.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import mcp, serving_http
from tests.benchmarks.axes import Axis, compared, make_project, times
from vespe.features.mcp.server.tools import ServedTools
from vespe.projects.workspace import open_workspace

ROWS = (
    ("start to list", 0, 0.5, False),
    ("calls, one at a time", 1, None, True),
    ("calls, 16 in flight", 2, 0.8, True),
)
"""What `mcp.measured` returns: its name, the column, the goal, and whether more is better."""
_CALLS = 3000


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure stdio, HTTP, and lists of very many tools."""
    with mcp.project() as root:
        yield from _stdio(root)
        yield from serving_http.axes(root)
    yield from _lists(scratch)


def _stdio(root: Path) -> Iterator[Axis]:
    servers = {
        name: argv
        for name in ("vespe", "TypeScript SDK", "SDK low-level")
        if (argv := mcp.command(name, sys.executable))
    }
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in servers}
    for _ in range(5):
        for name, argv in servers.items():
            found[name].append(_spent(mcp.Client(argv, root)))
    peer = "TypeScript SDK" if "TypeScript SDK" in servers else "SDK low-level"
    columns = {name: list(zip(*rows, strict=True)) for name, rows in found.items()}
    for name, column, goal, more in ROWS:
        pair = [list(columns[server][column]) for server in ("vespe", peer)]
        yield compared(
            f"MCP stdio, {name}",
            "ms" if column == 0 else "calls/CPU s",
            (pair[0], pair[1]),
            peer=peer,
            goal=goal,
            more=more,
        )


def _spent(client: mcp.Client) -> tuple[float, float, float]:
    """Return what a server takes of the processor: milliseconds until it has listed, and calls a
    second, one at a time and 16 in flight.
    """
    try:
        client.begin()
        started = client.spent_s()
        client.calls(200, 1)
        rates = []
        for in_flight in (1, 16):
            before = client.spent_s()
            client.calls(_CALLS, in_flight)
            rates.append(_CALLS / (client.spent_s() - before))
        return started * 1000, rates[0], rates[1]
    finally:
        client.end()


def _lists(scratch: Path) -> Iterator[Axis]:
    root = make_project(scratch / "of-10000", tools=10_000)
    with ServedTools(open_workspace(root)) as tools:
        began = time.process_time()
        pages = whole(tools)
        first = (time.process_time() - began) * 1000
        again = statistics.median(times({"again": lambda: whole(tools)}, rounds=3)["again"])
    yield at_most(f"tools/list of 10,000, unchanged ({pages} pages)", again, 150)
    yield Axis(name="the same, asked first", unit="ms", ours=first, peer="-", theirs=0, ratio=0)
    root = make_project(scratch / "of-100000", tools=100_000)
    with ServedTools(open_workspace(root)) as tools:
        page = statistics.median(
            times({"page": lambda: tools.page("2025-11-25", None)}, rounds=3)["page"]
        )
    yield at_most("tools/list of 100,000, first page", page, 1000)


def at_most(name: str, found: float, most: float, *, unit: str = "ms") -> Axis:
    """Return the row of a figure that has a bound and no peer."""
    return Axis(
        name=name,
        unit=unit,
        ours=found,
        peer=f"{most:,g} {unit}",
        theirs=most,
        ratio=found / most,
        goal=1.0,
        more=False,
    )


def whole(tools: ServedTools) -> int:
    """Ask for every page of a list, and return how many there are."""
    cursor, pages = None, 0
    while True:
        page = tools.page("2025-11-25", cursor)
        pages += 1
        if (cursor := page.get("nextCursor")) is None:
            return pages
