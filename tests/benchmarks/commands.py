"""Whole commands: start-up beside an empty click command, and one tool among 10,000 beside one
among ten.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import listing, startup
from tests.benchmarks.axes import Axis
from tests.benchmarks.interleaved import (
    Program,
    Row,
    home_environment,
    measure,
    vespe_command,
)

GOALS: dict[str, float | None] = {
    "vespe --version": None,
    "vespe tool list (100 tools)": 1.4,
    "vespe tool run (shell)": 2.0,
    "vespe tool run (Python)": 2.4,
    "from vespe import Project": 1.5,
}


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure start-up, then large projects."""
    (scratch / "commands").mkdir()
    env = home_environment(scratch / "commands")
    programs = startup.own_programs(scratch / "commands", env, tools=100)
    project = programs[0].cwd
    programs.append(
        Program(
            name="from vespe import Project",
            argv=[sys.executable, "-c", "from vespe import Project"],
            cwd=project,
            env=env,
        )
    )
    rows = measure(programs, rounds=15, reference=startup.REFERENCE)
    yield from (
        _axis(row, rows, startup.REFERENCE, GOALS[row.name]) for row in rows if row.name in GOALS
    )
    yield from _peers(scratch / "commands", project, env)
    yield from _large(scratch / "commands", env)


def _peers(scratch: Path, cwd: Path, env: dict[str, str]) -> Iterator[Axis]:
    """Measure programs of the same field, each in an environment of its own; those that no registry
    can be reached for are left out.
    """
    ours = Program(name="vespe --version", argv=[*vespe_command(), "--version"], cwd=cwd, env=env)
    try:
        programs = [ours, *startup.peer_programs(startup.PEERS_DIR, scratch, env)]
        rows = measure(programs, rounds=5, reference=ours.name)
    except (subprocess.CalledProcessError, SystemExit) as error:
        print(f"llm and fastmcp are left out: {error}", file=sys.stderr)
        return
    for row in rows[1:]:
        yield _axis(rows[0], rows, row.name, None)


def _large(scratch: Path, env: dict[str, str]) -> Iterator[Axis]:
    for number in (10, 10_000):
        listing.make_project(scratch / f"large-{number}", env, tools=number)
    vespe, large = vespe_command(), scratch / "large-10000"
    run = [*vespe, "tool", "run", "tool_00005", "field_0=hi"]
    programs = [
        Program(name="one of 10", argv=run, cwd=scratch / "large-10", env=env),
        Program(name="vespe tool run, one of 10,000", argv=run, cwd=large, env=env),
        Program(
            name=listing.REFERENCE,
            argv=[sys.executable, "-c", listing.READ_AND_PARSE],
            cwd=large,
            env=env,
        ),
        Program(
            name="vespe tool list of 10,000, warm",
            argv=[*vespe, "tool", "list"],
            cwd=large,
            env=env,
        ),
    ]
    rows = measure(programs, rounds=5, reference="one of 10")
    yield _axis(rows[1], rows, "one of 10", 1.3)
    yield _axis(rows[3], rows, listing.REFERENCE, None)


def _axis(row: Row, rows: list[Row], reference: str, goal: float | None) -> Axis:
    peer = next(other for other in rows if other.name == reference)
    ratio = row.median / peer.median
    return Axis(
        name=row.name,
        unit="ms",
        ours=row.median,
        peer=reference,
        theirs=peer.median,
        ratio=ratio,
        goal=goal,
        more=False,
    )
