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
from tests.benchmarks.interleaved import vespe_command
from tests.benchmarks.startup import PEERS_DIR
from vespe.features.mcp.server.tools import ServedTools
from vespe.projects.workspace import open_workspace

_WARM = 20_000
"""Calls before Node is measured: its compiler needs them. For the others a few hundred do."""
_CALLS = 3000


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure stdio, HTTP, and lists of very many tools."""
    with mcp.project() as root:
        yield from _stdio(root)
        yield from serving_http.axes(root)
    yield from _lists(scratch)


def _stdio(root: Path) -> Iterator[Axis]:
    """Measure, by the clock, the start of each server, then calls of all of them in turn while they
    live.
    """
    names = ("vespe", "bare loop", "TypeScript SDK", "SDK low-level")
    servers = {name: argv for name in names if (argv := mcp.command(name, sys.executable))}
    fastmcp = PEERS_DIR / "fastmcp/bin/python"
    if fastmcp.exists() and (argv := mcp.command("fastmcp", str(fastmcp))):
        servers["fastmcp"] = argv
    starting = {"vespe mcp serve": [*vespe_command(), "mcp", "serve", "--trust"]} | servers
    starts: dict[str, list[float]] = {name: [] for name in starting}
    for _ in range(7):
        for name, argv in starting.items():
            client = mcp.Client(argv, root)
            starts[name].append(client.begin())
            client.end()
    for name, peer, goal in (
        ("vespe mcp serve", "TypeScript SDK", 0.5),
        ("vespe mcp serve", "SDK low-level", None),
        ("vespe mcp serve", "fastmcp", None),
        ("vespe", "TypeScript SDK", None),
    ):
        if peer in starts:
            said = "MCP stdio, start to list" + (", a program's own" if name == "vespe" else "")
            pair = (starts[name], starts[peer])
            yield compared(said, "ms", pair, peer=_said(peer), goal=goal, more=False)
    found = _rates_of(servers, root)
    for in_flight, said in ((1, "one at a time"), (16, "16 in flight")):
        for peer in [name for name in servers if name != "vespe"]:
            pair = (found["vespe", in_flight], found[peer, in_flight])
            goal = 0.35 if (in_flight, peer) == (16, "bare loop") else None
            row = f"MCP stdio, calls, {said}"
            yield compared(row, "calls/s", pair, peer=_said(peer), goal=goal)


def _rates_of(servers: dict[str, list[str]], root: Path) -> dict[tuple[str, int], list[float]]:
    """Return the calls a second of each server, one at a time and 16 in flight."""
    clients = {name: mcp.Client(argv, root) for name, argv in servers.items()}
    try:
        found: dict[tuple[str, int], list[float]] = {}
        for name, client in clients.items():
            client.begin()
            client.calls(_WARM if name == "TypeScript SDK" else 500, 16)
        for _ in range(5):
            for in_flight in (1, 16):
                for name, client in clients.items():
                    found.setdefault((name, in_flight), []).append(client.calls(_CALLS, in_flight))
        return found
    finally:
        for client in clients.values():
            client.end()


def _said(peer: str) -> str:
    return {"SDK low-level": "Python SDK", "bare loop": "a bare loop in Python"}.get(peer, peer)


def _lists(scratch: Path) -> Iterator[Axis]:
    root = make_project(scratch / "of-10000", tools=10_000)
    with ServedTools(open_workspace(root)) as tools:
        began = time.perf_counter()
        pages = whole(tools)
        first = (time.perf_counter() - began) * 1000
        again = statistics.median(times({"again": lambda: whole(tools)}, rounds=3)["again"])
    yield at_most(f"tools/list of 10,000, unchanged ({pages} pages)", again, 150)
    yield Axis(
        name="tools/list of 10,000, asked first", unit="ms", ours=first, peer="-", theirs=0, ratio=0
    )


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
