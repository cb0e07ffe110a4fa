"""Whole processes timed in interleaved rounds, so that what the machine does meanwhile falls on all
of them alike.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

RUN_MAIN = "from vespe.__main__ import main; main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One command line to time; `before` runs ahead of each start and is not timed."""

    name: str
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one program, in milliseconds; `ratio` is its median over that of the
    reference.
    """

    name: str
    median: float
    fastest: float
    ratio: float


def vespe_command() -> list[str]:
    """Give the installed `vespe` beside this interpreter, as a user starts it, else its entry point
    by hand.
    """
    script = Path(sys.executable).with_name("vespe")
    return [str(script)] if script.exists() else [sys.executable, "-c", RUN_MAIN]


def home_environment(home: Path) -> dict[str, str]:
    """Give the environment of a user who has nothing yet: a home of its own, and no settings of
    Vespe, XDG or Python.

    With PYTHONDONTWRITEBYTECODE every start would compile every module again.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("VESPE_", "XDG_", "COV_", "COVERAGE_", "PYTHON"))
    }
    return kept | {"HOME": str(home), "NO_COLOR": "1"}


def measure(
    programs: Sequence[Program],
    *,
    rounds: int,
    reference: str,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Row]:
    """Time every program once in each round, after one round that is not counted; ends with the
    first that fails.

    With `processor_time` as the `clock` what counts is the work of each program and its children,
    whatever else the machine does.
    """
    times: dict[str, list[float]] = {program.name: [] for program in programs}
    for number in range(rounds + 1):
        shift = number % len(programs)
        for program in [*programs[shift:], *programs[:shift]]:
            elapsed = _once(program, clock)
            if number:
                times[program.name].append(elapsed)
    floor = statistics.median(times[reference])
    return [
        Row(
            name=name,
            median=statistics.median(taken),
            fastest=min(taken),
            ratio=statistics.median(taken) / floor,
        )
        for name, taken in times.items()
    ]


def show(rows: Sequence[Row], *, reference: str, as_json: bool) -> None:
    """Print the rows as a table, or as one JSON document."""
    if as_json:
        print(
            json.dumps(
                {
                    row.name: {"median_ms": row.median, "min_ms": row.fastest, "ratio": row.ratio}
                    for row in rows
                },
                indent=2,
            )
        )
        return
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}}  median ms     min ms   x {reference}")
    for row in rows:
        print(f"{row.name:{width}}  {row.median:9.1f}  {row.fastest:9.1f}   {row.ratio:.2f}")


def processor_time() -> float:
    """Return the seconds of processor time that children of this process have taken until they
    ended.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _once(program: Program, clock: Callable[[], float]) -> float:
    if program.before:
        program.before()
    started = clock()
    done = subprocess.run(
        program.argv,
        cwd=program.cwd,
        env=dict(program.env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    elapsed = (clock() - started) * 1000
    if done.returncode:
        sys.exit(
            f"{program.name} ended with {done.returncode}:\n"
            f"{done.stderr.decode('utf-8', 'replace')}"
        )
    return elapsed
