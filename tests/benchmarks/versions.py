"""Whether this version is slower than another one, on one machine:
`python -m tests.benchmarks.versions DIRECTORY [ROW …]`.

The directory is a worktree of the other version with a `.venv` of its own, whose `vespe` is
compiled. Each row is measured in both by turns, each with a project that it made itself; the ratio
is the median of those of the pairs, above 1 where this version takes longer. Commands count the
processor time of all their processes, the other rows that of one process of each version.
"""

import argparse
import asyncio
import functools
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[2]
COMMANDS = {
    "tool list": ["tool", "list"],
    "tool run (shell)": ["tool", "run", "shell_echo", "text=hi"],
    "tool run (Python)": ["tool", "run", "python_echo", "text=hi"],
    "from vespe import Project": [],
}
KIT_TOOLS = 300
_SECONDS = 0.08
_MANY = 200
Pair = tuple[float, float]
"""Seconds of processor time, and on the clock."""


def main() -> None:
    """Read the options, measure, print a row each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="the worktree of the other version")
    parser.add_argument("rows", nargs="*", help="which rows to measure; default: all")
    parser.add_argument("--pairs", type=int, default=20, help="how many pairs a row (20)")
    options = parser.parse_intermixed_args()
    trees = (options.directory.resolve(), HERE)
    with tempfile.TemporaryDirectory() as scratch:
        places = (Path(scratch, "before"), Path(scratch, "now"))
        machines = [Machine(tree, place) for tree, place in zip(trees, places, strict=True)]
        rows = measures(machines, Path(scratch))
        print(f"{'':28} {'processor time, ms':>22} {'ratio':>6}   {'clock, ms':>20} {'ratio':>6}")
        for name in options.rows or list(rows):
            show(name, in_turn(rows[name], options.pairs))
        for machine in machines:
            machine.close()


def measures(machines: "list[Machine]", scratch: Path) -> dict[str, list[Callable[[], Pair]]]:
    """Return what measures each row once, in the other version and in this one."""
    from tests.benchmarks.kit_install import repository

    source = repository(scratch, KIT_TOOLS)
    rows: dict[str, list[Callable[[], Pair]]] = {
        name: [functools.partial(one.command, words) for one in machines]
        for name, words in COMMANDS.items()
    }
    rows[f"kit install of {KIT_TOOLS} tools"] = [
        functools.partial(one.install, source) for one in machines
    ]
    for name in WORK:
        rows[name] = [functools.partial(one.work, name) for one in machines]
    return rows


def in_turn(measured: list[Callable[[], Pair]], pairs: int) -> list[list[Pair]]:
    """Measure both versions by turns, once more than is counted."""
    found: list[list[Pair]] = [[], []]
    for number in range(pairs + 1):
        for which in (0, 1) if number % 2 else (1, 0):
            taken = measured[which]()
            if number:
                found[which].append(taken)
    return found


def show(name: str, found: list[list[Pair]]) -> None:
    """Print the medians, and the median of the pairs' ratios."""
    line = f"{name:28}"
    for kind in (0, 1):
        before, now = ([pair[kind] for pair in one] for one in found)
        ratio = statistics.median(b / a for a, b in zip(before, now, strict=True))
        medians = [statistics.median(one) * 1000 for one in (before, now)]
        line += f" {medians[0]:10.4g} {medians[1]:10.4g}  {ratio:6.3f}  "
    print(line, flush=True)


class Machine:
    """A user of one version, with a home and a project, and a process that works when asked."""

    def __init__(self, tree: Path, place: Path) -> None:
        self._tree, self._place, self._number = tree, place, 0
        (place / "home").mkdir(parents=True)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VESPE_", "XDG_", "COV_", "PYTHON"))
        }
        self._environment = kept | {"HOME": str(place / "home"), "NO_COLOR": "1"}
        self._environment |= {"PYTHONPATH": str(tree), "GIT_CONFIG_GLOBAL": "/dev/null"}
        self._run([str(self._python), "-c", _PROJECT, str(place / "project")], cwd=tree)
        self._worker: subprocess.Popen[str] | None = None

    def command(self, words: list[str]) -> Pair:
        """Run one command in the project; without words the library is imported."""
        line = [str(self._python.with_name("vespe")), *words]
        line = line if words else [str(self._python), "-c", "from vespe import Project"]
        return self._run(line, cwd=self._place / "project")

    def install(self, source: Path) -> Pair:
        """Install a kit as a new user in a new project."""
        self._number += 1
        user = self._place / f"user-{self._number}"
        (user / "project" / ".vespe").mkdir(parents=True)
        line = [str(self._python), "-m", "vespe", "kit", "install", str(source), "--yes"]
        return self._run(line, cwd=user / "project", home=user)

    def work(self, row: str) -> Pair:
        """Do one row's work for a moment, and return what one round of it takes."""
        if self._worker is None:
            (self._place / "work").mkdir()
            self._worker = subprocess.Popen(
                [str(self._python), __file__, "--work", str(self._place / "work")],
                cwd=self._tree,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        assert self._worker.stdin is not None and self._worker.stdout is not None
        print(row, file=self._worker.stdin, flush=True)
        busy, clock = self._worker.stdout.readline().split()
        return float(busy), float(clock)

    def close(self) -> None:
        """End the process that works."""
        if self._worker is not None:
            self._worker.communicate()

    @property
    def _python(self) -> Path:
        return self._tree / ".venv" / "bin" / "python"

    def _run(self, line: list[str], *, cwd: Path, home: Path | None = None) -> Pair:
        environment = self._environment | ({"HOME": str(home)} if home else {})
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            line,
            cwd=cwd,
            env=environment,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        taken, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return busy, taken


_PROJECT = """
import os, sys
from pathlib import Path
from tests.benchmarks.startup import make_project
make_project(Path(sys.argv[1]), dict(os.environ), tools=100)
"""


def _call(place: Path, *, tools: int) -> Callable[[], object]:
    from tests.benchmarks import axes, calls
    from vespe import Project

    project = Project(axes.make_project(place, tools=tools))
    project.registry.register(calls.add)
    return lambda: project.execute_tool("add", {"a": 1, "b": 2})


async def _aadd(a: int, b: int) -> int:
    """Add, in the loop of the caller."""
    return a + b


def _acall(place: Path, function: Callable[..., Any] | None) -> Callable[[], object]:
    from tests.benchmarks import axes, calls
    from vespe import Project

    project = Project(axes.make_project(place, tools=4))
    project.registry.register(function or calls.add, name="add")

    async def many() -> None:
        for _ in range(_MANY):
            await project.acall("add", a=1, b=2)

    return lambda: asyncio.run(many())


def _checked(nested: bool) -> Callable[[], object]:
    from tests.benchmarks import axes, calls
    from vespe import Tool
    from vespe.calls.arguments import checked_inputs

    schema = calls.NESTED if nested else axes.ADD
    arguments = calls.ASKED if nested else {"a": 1, "b": 2}
    tool = Tool(uid="tool-x", name="x", description="", input_schema=schema)
    return lambda: [checked_inputs(tool, arguments) for _ in range(_MANY)]


def _translated(road: str) -> Callable[[], object]:
    from tests.benchmarks import adapters

    return adapters.roads(adapters.conversation(1000))[f"vespe: {road}"]


def _streamed(api: str, piece: int) -> Callable[[], object]:
    import vespe
    from tests.benchmarks import streams

    make: Any = {
        "openai": vespe.GptStreamingProcessor,
        "anthropic": vespe.ClaudeStreamingProcessor,
        "ollama": vespe.OllamaStreamingProcessor,
    }[api]
    data: bytes = getattr(streams, f"{api}_stream")(1_000_000)
    work = streams.gathered(make, piece)
    return lambda: work(data)


def _agent(place: Path) -> Callable[[], object]:
    from vespe import Agent, AgentOptions, Limits, Project, SimulatedProvider, ToolRegistry

    registry = ToolRegistry()
    registry.register(lambda a, b: a + b, name="add")
    project, turns = Project.init(place, registry=registry), 100
    project.create_tool("add", {"type": "object", "properties": {"a": {}, "b": {}}})
    time.sleep(0.2)
    call = {"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}
    options = AgentOptions(approve="all", limits=Limits(max_iterations=turns + 1, max_calls=None))

    def once() -> None:
        provider = SimulatedProvider({"turns": [*[call] * turns, {"text": "Done."}]})
        result = Agent(provider, project, options=options).run("Add, again and again.")
        assert (result.stop_reason, len(result.calls)) == ("done", turns)

    return once


WORK: dict[str, Callable[[Path], Callable[[], object]]] = {
    "call, 4 tools": lambda place: _call(place / "few", tools=4),
    "call, 1,000 tools": lambda place: _call(place / "many", tools=1000),
    f"{_MANY} acalls, async function": lambda place: _acall(place / "async", _aadd),
    f"{_MANY} acalls, sync function": lambda place: _acall(place / "sync", None),
    f"{_MANY} checks, flat": lambda _: _checked(nested=False),
    f"{_MANY} checks, nested": lambda _: _checked(nested=True),
    "openai -> anthropic": lambda _: _translated("openai -> anthropic"),
    "anthropic -> openai": lambda _: _translated("anthropic -> openai"),
    "openai -> ollama": lambda _: _translated("openai -> ollama"),
    "ollama -> openai": lambda _: _translated("ollama -> openai"),
    "stream openai, 64 KB": lambda _: _streamed("openai", 65536),
    "stream openai, 1 KB": lambda _: _streamed("openai", 1024),
    "stream anthropic, 64 KB": lambda _: _streamed("anthropic", 65536),
    "stream anthropic, 1 KB": lambda _: _streamed("anthropic", 1024),
    "stream ollama, 64 KB": lambda _: _streamed("ollama", 65536),
    "stream ollama, 1 KB": lambda _: _streamed("ollama", 1024),
    "agent, 100 turns": lambda place: _agent(place / "agent"),
}


def work(place: Path, rows: Iterator[str]) -> None:
    """Do each row's work for a moment when its name comes, and print what a round takes."""
    ready: dict[str, Callable[[], object]] = {}
    for row in rows:
        if row not in ready:
            ready[row] = WORK[row](place)
            ready[row]()
        number, began, busy = 0, time.perf_counter(), time.process_time()
        while time.process_time() - busy < _SECONDS:
            ready[row]()
            number += 1
        taken = time.process_time() - busy, time.perf_counter() - began
        print(taken[0] / number, taken[1] / number, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), (line.rstrip("\n") for line in sys.stdin))
    else:
        main()
