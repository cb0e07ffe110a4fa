"""One row of the table of figures, and how what is compared is measured: in one run, in turn, in
shuffled order.
"""

import os
import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.ondisk import write_tool
from vespe.projects.init import found_project

ADD = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What was measured: Vespe's figure and that of the `peer` in the same run, and their `ratio`,
    with the goal for that.

    `more` says whether more is better: then the ratio is to be `goal` at least, else at most.
    """

    name: str
    unit: str
    ours: float
    peer: str
    theirs: float
    ratio: float
    goal: float | None = None
    more: bool = True

    @property
    def met(self) -> str:
        """Whether the goal is met; "" where there is none."""
        if self.goal is None:
            return ""
        return (
            "yes" if (self.ratio >= self.goal if self.more else self.ratio <= self.goal) else "no"
        )


def compared(
    name: str,
    unit: str,
    found: tuple[list[float], list[float]],
    *,
    peer: str,
    goal: float | None,
    more: bool = True,
) -> Axis:
    """Return the row of two cases that were measured in pairs: medians, and the median of the
    pairs' ratios.
    """
    ours, theirs = found
    ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
    return Axis(
        name=name,
        unit=unit,
        ours=statistics.median(ours),
        peer=peer,
        theirs=statistics.median(theirs),
        ratio=ratio,
        goal=goal,
        more=more,
    )


def bounded(
    name: str, unit: str, found: float, *, at_most: float | None, more: bool = False
) -> Axis:
    """Return the row of a figure that has no peer: its goal is a bound."""
    return Axis(
        name=name,
        unit=unit,
        ours=found,
        peer="" if at_most is None else "the bound",
        theirs=at_most or 0,
        ratio=found / at_most if at_most else 0,
        goal=None if at_most is None else 1.0,
        more=more,
    )


def rates(
    cases: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 7,
    seconds: float = 0.15,
    each: int = 20,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return how often each case runs in a second by a `clock`, once for each round."""
    found: dict[str, list[float]] = {name: [] for name in cases}
    for case in cases.values():
        case()
    for _ in range(rounds):
        for name in random.sample(sorted(cases), len(cases)):
            found[name].append(_rate(cases[name], seconds, clock, each))
    return found


def times(
    cases: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return the milliseconds that each case takes by a `clock`, once for each round after the
    first.
    """
    found: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name in random.sample(sorted(cases), len(cases)):
            began = clock()
            cases[name]()
            if number:
                found[name].append((clock() - began) * 1000)
    return found


def make_home(directory: Path) -> None:
    """Give this process a home of its own, with nothing in it."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        os.environ[name] = str(directory / "home" / name)


def make_project(root: Path, *, tools: int, **fields: object) -> Path:
    """Make a project with the tool `add`, and others to make up the number; they are old enough to
    be believed.
    """
    root.mkdir(parents=True)
    found_project(root)
    write_tool(root / ".vespe/tools/tool-add", "add", schema=ADD, **fields)  # type: ignore[arg-type]  # keys of config.json
    shell = {"type": "shell_command", "entrypoint": "echo", "args": {"argv": ["{a}"]}}
    for number in range(tools - 1):
        write_tool(
            root / f".vespe/tools/tool-{number:05d}",
            f"tool_{number:05d}",
            schema=ADD,
            implementation=shell,
        )
    time.sleep(0.2)
    return root


def _rate(
    case: Callable[[], object], seconds: float, clock: Callable[[], float], each: int
) -> float:
    began, number = clock(), 0
    while (spent := clock() - began) < seconds:
        for _ in range(each):
            case()
        number += each
    return number / spent
