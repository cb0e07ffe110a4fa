"""Programs whose process is killed: is an effect made twice, and is every call named of which nobody
knows the outcome?

    python -m tests.acceptance.program_kills [--points N] [--json]

A model's program makes five calls that leave a line in a file and two that only read. It runs twice
over: in `vespe agent run --save`, and in `vespe agent calls FILE approve`, to which it was put off.
Each run is killed at calls that write, spread over all of them: half of the kills take the processes
of the tools with them, the others leave these alone. Then a person goes on until the program is done,
and answers what became of a call by looking into the file, which is the judge.
"""

import argparse
import contextlib
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.acceptance import tracer
from tests.support.ondisk import python_tool, vespe, write_tool
from vespe.cli import main as run_command

CALLS: Final = 5
CODE: Final = f"""\
import asyncio
total = 0
for n in range({CALLS}):
    total += len(mark(n=n)) > 0
    print("marked", n)
total += len(await asyncio.gather(look(), look()))
total"""
_SCRIPT: Final = 'echo "begins $1" >> log; echo "$1" >> counter; echo "ended $1" >> log; echo "$1"'
_MODEL: Final = ("--provider", "simulated", "--script", "script.json", "--tools-mode", "code")
_RUN: Final = ("agent", "run", "Mark them.", "--save", "talk.json", *_MODEL)
_RESUME: Final = ("agent", "run", "--resume", "talk.json", *_MODEL)
_APPROVE: Final = ("agent", "calls", "talk.json", "approve", "--yes", "--alike")
_UNKNOWN: Final = re.compile(r"(call_1_1/\d+)(?:, a call of| in line)")
_MOST_STEPS: Final = 12


class World:
    """A project with the tools, and a conversation in it that is killed again and again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        assert vespe("init", cwd=root).returncode == 0
        argv = ["-c", _SCRIPT, "sh", "{n}"]
        write_tool(
            root / ".vespe/tools/tool-mark",
            "mark",
            schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            implementation={
                "type": "shell_command",
                "entrypoint": "sh",
                "args": {"argv": argv},
            },
        )
        python_tool(
            root / ".vespe/tools/tool-look", "look", "return 1", annotations={"readOnlyHint": True}
        )
        turn = {"tool_calls": [{"name": "run_code", "arguments": {"code": CODE}}]}
        self._write("script.json", {"turns": [turn, {"text": "Done."}]})
        assert vespe("trust", "--yes", cwd=root).returncode == 0
        self.run(*_RUN)
        self._put_off = self._read("talk.json")

    def begin(self, *, put_off: bool) -> None:
        """Have nothing done yet, with a conversation that waits or with none."""
        for name in ("log", "counter", "talk.json"):
            (self.root / name).unlink(missing_ok=True)
        if put_off:
            (self.root / "talk.json").write_text(self._put_off, encoding="utf-8")

    def traced(self, *words: str, fault: str | None, at: int) -> tracer.Traced:
        """Run a command in a forked process that is killed at a call."""
        with self._entered():
            return tracer.run(lambda: self._command(words), fault=fault, at=at)

    def run(self, *words: str) -> tuple[int, str]:
        """Run a command in a forked process; return its exit code, and what it printed."""
        with self._entered():
            if (child := os.fork()) == 0:
                code = 98
                try:
                    code = self._command(words)
                finally:
                    os._exit(code)
            _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), self._read("said")

    def marked(self) -> Counter[int]:
        """Return how often each effect was made."""
        return Counter(int(line) for line in self._read("counter").split())

    def inside(self) -> bool:
        """Say whether a call had begun and not ended."""
        lines = self._read("log").splitlines()
        return sum("begins" in one for one in lines) > sum("ended" in one for one in lines)

    def settled(self) -> None:
        """Wait until what a kill left alone has ended."""
        before = None
        while before != (before := (self._read("log"), self._read("counter"))):
            time.sleep(0.15)

    def without_outcome(self) -> set[str]:
        """Return the calls with effects that are known to have begun, and nothing else."""
        from vespe.features.agents import transcripts

        if not (self.root / "talk.json").exists():
            return set()
        programs = transcripts.load(self.root / "talk.json").programs
        return {
            f"{call_id}/{number}"
            for call_id, record in programs.items()
            for number, one in enumerate(record["calls"], start=1)
            if "outcome" not in one and one["tool"] == "mark"
        }

    def is_done(self) -> bool:
        """Say whether the model has the program's result."""
        talk = self.root / "talk.json"
        if not talk.exists():
            return False
        from vespe.features.agents import transcripts

        read = transcripts.load(talk)
        return not read.open and any(one["role"] == "tool" for one in read.messages)

    def result(self) -> str:
        """Return what the model was told of the program."""
        from vespe.features.agents import transcripts

        read = transcripts.load(self.root / "talk.json")
        return str(next(one["content"] for one in read.messages if one["role"] == "tool"))

    def _command(self, words: tuple[str, ...]) -> int:
        said = os.open(self.root / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # what a test runner has put in their place writes elsewhere
        sys.stdout, sys.stderr = (os.fdopen(at, "w", encoding="utf-8") for at in (1, 2))
        code = run_command(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
        return code

    @contextlib.contextmanager
    def _entered(self) -> Iterator[None]:
        here = os.getcwd()
        os.chdir(self.root)
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            yield
        finally:
            os.chdir(here)

    def _read(self, name: str) -> str:
        path = self.root / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def _write(self, name: str, document: Any) -> None:
        (self.root / name).write_text(json.dumps(document), encoding="utf-8")


def go_on(world: World, twice: Callable[[], None]) -> set[str]:
    """Go on as a person does until the program is done; return the calls that were named as begun
    with an outcome that nobody knows.
    """
    named: set[str] = set()
    words: tuple[str, ...] = ()
    for _ in range(_MOST_STEPS):
        if world.is_done():
            return named
        if world.without_outcome() or ((world.root / "talk.json").exists() and _waits(world)):
            code, said = world.run(*_APPROVE, *words)
        elif (world.root / "talk.json").exists():  # killed before the model answered
            code, said = world.run(*_RESUME, "--approve", "all")
        else:
            code, said = world.run(*_RUN, "--approve", "all")
        twice()
        words = ()
        if "its outcome is unknown" in said or "look whether it happened" in said:
            unknown = _UNKNOWN.findall(said)
            named |= set(unknown)
            number = int(unknown[-1].rpartition("/")[2]) - 1
            if code == 6:  # `--happened` or `--run-again` is asked for
                words = ("--happened", '"x"') if world.marked()[number] else ("--run-again",)
    raise AssertionError(f"the program is never done: {said}")


def _waits(world: World) -> bool:
    from vespe.features.agents import transcripts

    return bool(transcripts.load(world.root / "talk.json").open)


def counted() -> dict[str, Any]:
    """Return what is counted, all of it 0."""
    found: dict[str, Any] = {"points": 0, "inside_a_call": 0, "unknown_outcomes": 0}
    return found | {"twice": 0, "lost": 0, "not_named": 0, "faults": [], "calls": Counter()}


def killed(root: Path, points: int) -> dict[str, Any]:
    """Kill a program at so many points, and count what is wrong afterwards."""
    world, found = World(root), counted()
    totals = {}
    for put_off in (False, True):
        world.begin(put_off=put_off)
        totals[put_off] = world.traced(*_words(put_off=put_off), fault=None, at=0).calls
    found["calls_that_write"] = [*totals.values()]
    for point in range(points):
        put_off, number = bool(point % 2), point // 2
        at = 1 + totals[put_off] * number // (points // 2)
        while not judge(world, tracer.KILLS[number % 2], at, found, put_off=put_off):
            at = max(1, at - 5)  # a run may make fewer calls that write than the first one
        sys.stderr.write(f"{found}\n")
    return found | {"calls": dict(found["calls"].most_common())}


def killed_at(root: Path, points: list[int]) -> dict[str, Any]:
    """Kill a program that goes on after an approval at these calls."""
    world, found = World(root), counted()
    for number, at in enumerate(points):
        judge(world, tracer.KILLS[number % 2], at, found, put_off=True)
    return found


def _words(*, put_off: bool) -> tuple[str, ...]:
    return _APPROVE if put_off else (*_RUN, "--approve", "all")


def judge(world: World, fault: str, at: int, found: dict[str, Any], *, put_off: bool) -> bool:
    """Kill a run at one call, go on until the program is done, and count what is wrong; return
    whether it was killed, and not done before.
    """
    world.begin(put_off=put_off)
    traced = world.traced(*_words(put_off=put_off), fault=fault, at=at)
    world.settled()
    found["points"] += bool(traced.failed)
    found["calls"][traced.failed or "done before"] += 1
    begun = world.without_outcome()
    found["inside_a_call"] += world.inside() or bool(begun)
    found["unknown_outcomes"] += len(begun)

    def twice() -> None:
        world.settled()
        found["twice"] += sum(count > 1 for count in world.marked().values())

    twice()
    named = go_on(world, twice)
    found["not_named"] += len(begun - named)
    whole = world.marked() == Counter(range(CALLS))
    if not (whole and str(CALLS + 2) in world.result()):
        found["lost"] += 1
        told = world.result()[:200]
        found["faults"].append([fault, at, put_off, traced.failed, dict(world.marked()), told])
    return bool(traced.failed)


def main() -> int:
    """Print what was counted; return 1 where an effect was made twice or lost, or a call was not
    named.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--at", type=int, nargs="*", help="kill at these calls of `approve` alone")
    parser.add_argument("--json", action="store_true", help="print data")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {f"XDG_{n}_HOME": f"{home}/{n}" for n in ("CONFIG", "DATA", "STATE", "CACHE")}
        place = Path(home, "project")
        found = killed_at(place, asked.at) if asked.at else killed(place, asked.points)
    sys.stdout.write(json.dumps(found, indent=None if asked.json else 1) + "\n")
    return 1 if found["twice"] + found["lost"] + found["not_named"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
