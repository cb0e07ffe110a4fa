"""Commands and pages over 10,000 tools, by the clock: lint, export, one call of an agent, search, and
the inspector's page of names.
"""

import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.benchmarks import lint, listing
from tests.benchmarks.axes import Axis, bounded
from tests.benchmarks.interleaved import home_environment, vespe_command
from tests.support import inspecting

TOOLS = 10_000
_ROUNDS = 3
_ENDS = {"lint": (0, 1)}
"""Exit codes that are right: lint ends with 1 where it found an error."""


class _Project:
    """A project and a home of its own, in which commands are timed."""

    def __init__(self, root: Path, home: Path) -> None:
        home.mkdir(parents=True)
        self.root, self.home = root, home
        self.env = home_environment(home)

    def seconds(
        self, arguments: Sequence[str], *, before: Callable[[], None] | None = None
    ) -> float:
        """Return the median of what a command takes; `before` is not timed."""
        taken = []
        for _ in range(_ROUNDS):
            if before is not None:
                before()
            began = time.perf_counter()
            self.run(arguments)
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)

    def run(self, arguments: Sequence[str]) -> None:
        """Run a command to its end."""
        done = subprocess.run(
            [*vespe_command(), *arguments],
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode not in _ENDS.get(arguments[0], (0,)):
            said = done.stderr.decode("utf-8", "replace")[-2000:]
            raise RuntimeError(f"vespe {' '.join(arguments)} ended with {done.returncode}:\n{said}")

    def forget(self) -> None:
        """Empty the user's cache."""
        shutil.rmtree(self.home / ".cache", ignore_errors=True)


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure lint of files as large as real ones, then the rest."""
    linted = _Project(scratch / "linted", scratch / "lint-home")
    lint.make_project(linted.root, linted.env, tools=TOOLS)
    yield from _lint(linted)
    shutil.rmtree(linted.root)
    large = _Project(scratch / "large", scratch / "large-home")
    listing.make_project(large.root, large.env, tools=TOOLS)
    yield from _commands(large, scratch)
    yield from _page(large)


def _lint(project: _Project) -> Iterator[Axis]:
    cold = project.seconds(["lint", "--json"], before=project.forget)
    yield bounded("vespe lint of 10,000 tools, nothing kept", "s", cold, at_most=8)
    project.run(["lint", "--json"])
    again = project.seconds(["lint", "--json"])
    yield bounded("vespe lint of 10,000 tools, nothing changed", "s", again, at_most=1.5)


def _commands(project: _Project, scratch: Path) -> Iterator[Axis]:
    project.run(["tool", "list"])
    export = project.seconds(["export", "--as", "openai"])
    yield bounded("vespe export of 10,000 tools", "s", export, at_most=1.5)
    script = scratch / "script.json"
    call = {"name": "call_tool", "arguments": {"name": "tool_00005", "arguments": {"field_0": "a"}}}
    turns = {"turns": [{"tool_calls": [call]}, {"text": "done"}]}
    script.write_text(json.dumps(turns), encoding="utf-8")
    asked = ["agent", "run", "--provider", "simulated", "--script", str(script)]
    asked += ["--approve", "all", "Go on."]
    agent = project.seconds(asked)
    yield bounded("vespe agent run with one call, 10,000 tools", "s", agent, at_most=0.6)
    search = ["tool", "search", "what the tool of number 4711 does"]
    first = project.seconds(search, before=project.forget)
    yield bounded("vespe tool search among 10,000, first time", "s", first, at_most=0.4)
    again = project.seconds(search)
    yield bounded("vespe tool search among 10,000, next time", "s", again, at_most=0.4)


def _page(project: _Project) -> Iterator[Axis]:
    taken, size = [], 0
    with inspecting.inspecting(project.root, env=project.env) as opened:
        opened.open()
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            status, answer = opened.get("resolution")
            taken.append(time.perf_counter() - began)
            size = len(answer)
            if status != 200:
                raise RuntimeError(f"the page of names answered {status}")
    taken_s = statistics.median(taken)
    yield bounded("the inspector's page of names, 10,000 tools", "s", taken_s, at_most=0.3)
    yield bounded(
        "the inspector's page of names, 10,000 tools, its size", "kB", size / 1000, at_most=200
    )
