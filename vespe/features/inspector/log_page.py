"""The log of the project's calls, and how long they took."""

from collections.abc import Sequence
from typing import Any, Final

from vespe.calls import log
from vespe.features.inspector.logged import LoggedCall, logged
from vespe.features.inspector.page import Page, Visit
from vespe.features.inspector.plots import Scatter, scatter
from vespe.records import dataclass

MOST: Final = 2000
"""Calls that are looked at, the newest."""
_TIMED: Final = 30
LISTED: Final = 100
_SHAPES: Final = (("wide", 1000, 260), ("narrow", 360, 240))
_OUTCOMES: Final = ("ok", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTimes:
    """How long one tool's calls took, in milliseconds; `reach` is the 95th percentile as a share of
    the longest one.
    """

    tool: str
    calls: int
    failed: int
    median: float
    late: float
    reach: float


def show(visit: Visit) -> Page:
    """Return the newest calls, the newest first, with plots of their durations."""
    tool, outcome, everything = (
        visit.asked("tool"),
        visit.asked("outcome", _OUTCOMES),
        bool(visit.asked("all")),
    )
    lines = log.read(
        visit.project.root, limit=MOST, wanted=lambda line: everything or not line.get("purpose")
    )
    every = [logged(line) for line in lines]
    ended = {"": (True, False), "ok": (True,), "failed": (False,)}[outcome]
    calls = [call for call in every if tool in ("", call.tool) and call.ok in ended]
    times = _times(calls)
    context: dict[str, Any] = {
        "calls": calls[: -LISTED - 1 : -1],
        "found": len(calls),
        "counts": {
            "ok": sum(call.ok for call in every),
            "failed": sum(not call.ok for call in every),
        },
        "names": sorted({call.tool for call in every}),
        "times": times[:_TIMED],
        "untimed": len(times[_TIMED:]),
        "plots": _plots(calls),
        "tool": tool,
        "outcome": outcome,
        "everything": everything,
    }
    return Page(template="log.html", title="Log", context=context)


def _plots(calls: Sequence[LoggedCall]) -> list[tuple[str, Scatter]]:
    known = [(call.at, call.duration_ms, call) for call in calls if call.at]
    return (
        [(kind, scatter(known, width, height=height)) for kind, width, height in _SHAPES]
        if len(known) > 1
        else []
    )


def _times(calls: Sequence[LoggedCall]) -> list[ToolTimes]:
    """Return the durations by tool, the slowest first."""
    by_tool: dict[str, list[LoggedCall]] = {}
    for call in calls:
        by_tool.setdefault(call.tool, []).append(call)
    lates = {tool: _part(found, 0.95) for tool, found in by_tool.items()}
    longest = max(lates.values(), default=0.0) or 1.0
    return [
        ToolTimes(
            tool=tool,
            calls=len(by_tool[tool]),
            failed=sum(not call.ok for call in by_tool[tool]),
            median=_part(by_tool[tool], 0.5),
            late=late,
            reach=late / longest,
        )
        for tool, late in sorted(lates.items(), key=lambda pair: -pair[1])
    ]


def _part(calls: Sequence[LoggedCall], share: float) -> float:
    durations = sorted(call.duration_ms for call in calls)
    return durations[min(len(durations) - 1, int(share * len(durations)))]
