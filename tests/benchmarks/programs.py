"""A program of seven in-process calls beside bare monty, and the check of a new text."""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pydantic_monty

from tests.benchmarks.axes import Axis, bounded, make_project
from vespe import Project, tool

CODE = """
names = [e["path"] for e in list_directory(path=".")["entries"] if e["path"].endswith(".md")]
total = 0
for n in names:
    total += len(read_file(path=n).split())
write_file(path="total.txt", content=str(total))
"""
_CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("list_directory", {"path": "."}),
    *(("read_file", {"path": f"{n}.md"}) for n in range(5)),
    ("write_file", {"path": "total.txt", "content": "15"}),
)
NEW_MS = 60.0
ROUNDS = 300


def list_directory(path: str) -> dict[str, Any]:
    """List a directory."""
    return {"entries": [{"path": f"{n}.md"} for n in range(5)]}


def read_file(path: str) -> str:
    """Read a file."""
    return "a b c"


def write_file(path: str, content: str) -> dict[str, int]:
    """Write a file."""
    return {"bytes": len(content)}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    one.__name__: one for one in (list_directory, read_file, write_file)
}


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure `project.run_code` in turn with monty alone and with the calls alone, then texts that
    nobody has checked before.
    """
    root = make_project(scratch / "programs", tools=4)
    with Project(root, trusted=True) as project, pydantic_monty.Monty() as pool:
        for function in FUNCTIONS.values():
            project.register(tool(function))

        def bare() -> None:
            with pool.checkout() as session:
                session.feed_run(CODE, external_lookup=FUNCTIONS)

        found = in_turn(
            {
                "ours": lambda: project.run_code(CODE).unwrap(),
                "calls": lambda: [project.call(name, **given).unwrap() for name, given in _CALLS],
                "bare": bare,
            },
            rounds=ROUNDS,
        )
        ours = found["ours"] - found["calls"]
        yield Axis(
            name="program of 7 in-process calls, checked before, without the calls' own time",
            unit="ms",
            ours=ours,
            peer="monty alone",
            theirs=found["bare"],
            ratio=ours / found["bare"],
            goal=2.0,
            more=False,
        )
        new = new_texts(project)
        yield bounded("new text of a program over 3 tools, its check", "ms", new, at_most=NEW_MS)


def in_turn(cases: dict[str, Callable[[], Any]], *, rounds: int) -> dict[str, float]:
    """Return what each case takes, in milliseconds: the median of the rounds."""
    found: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 20):
        for name, case in cases.items():
            began = time.perf_counter()
            case()
            if number >= 20:  # the first ones start a worker
                found[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(taken) for name, taken in found.items()}


def new_texts(project: Project, *, count: int = 30) -> float:
    """Return how much longer a text takes that is new than one that was checked, in
    milliseconds.
    """
    found = []
    for number in range(count):
        code = f"x = {number}\n{CODE}"
        began = time.perf_counter()
        project.run_code(code).unwrap()
        again = time.perf_counter()
        project.run_code(code).unwrap()
        found.append((again - began - (time.perf_counter() - again)) * 1000)
    return statistics.median(found)


def figures() -> dict[str, Any]:
    """Return the rows as `./dev acceptance programs` keeps them."""
    with tempfile.TemporaryDirectory() as directory:
        rows = list(axes(Path(directory)))
    return {
        row.name: {"ours": round(row.ours, 3), "peer": row.peer, "theirs": round(row.theirs, 3)}
        | {"unit": row.unit, "ratio": round(row.ratio, 2), "met": row.met}
        for row in rows
    }
