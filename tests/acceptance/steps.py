"""Ctrl-C at every step of each command that changes something: is the state the old one or the new
one, and is nothing left?

    python -m tests.acceptance.steps [--every N] [--json] [VERB ...]

A step is a line of Vespe, or of what it uses to end what it began (contextlib, tempfile), that the
main thread comes to. After each the command must have ended with 130, or be done; nothing of it is
left, the same command again comes to the new state.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import vespe
from tests.acceptance import worlds
from tests.acceptance.crash import World
from tests.acceptance.interruptions import WRONG, answering
from tests.acceptance.worlds import VERBS, Interrupted
from vespe.cli import main
from vespe.files import staging

FILES = (os.path.dirname(vespe.__file__) + os.sep, contextlib.__file__, tempfile.__file__)
NAMES = (
    "tool run shell",
    "tool create",
    "tool copy",
    "tool rename",
    "tool remove",
    "tool import",
    "kit install folder",
    "kit update",
    "kit remove",
    "kit create",
    "kit link",
    "kit pack",
    "kit activate",
    "cache clean",
    "trust",
    "untrust",
    "agent run",
    "agent calls",
    "config set",
)
"""Of the commands that are interrupted at random moments, those that are tried step by step
here.
"""


@dataclass
class Result:
    """What was tried of one command, and what went wrong, in words."""

    verb: str
    steps: int = 0
    wrong: list[str] = field(default_factory=list)


class Tracer:
    """Raises SIGINT at the `at`-th line in FILES."""

    def __init__(self, at: int, told: int) -> None:
        self.left, self.told = at, told

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        return self.line if frame.f_code.co_filename.startswith(FILES) else None

    def line(self, frame: FrameType, event: str, _: Any) -> Any:
        """Count a line."""
        self.left -= event == "line"
        if self.left == 0 and event == "line":
            self.left = -1
            os.write(self.told, f"{frame.f_code.co_filename}:{frame.f_lineno}".encode())
            os.kill(os.getpid(), signal.SIGINT)
        return self.line


class Steps:
    """Tries the steps of one command, each in a fresh copy of the same world."""

    def __init__(self, root: Path, verb: Interrupted, port: int) -> None:
        self._root, self._verb = root, verb
        (root / "tried").mkdir()
        worlds.build(root / "tried", verb, port=port).close()
        (root / "tried").rename(root / "old")
        self._old = World(root / "old")
        # In this process, so that whatever it imports is there for the runs that are forked off.
        world = self._copied()
        self._before = world.state()
        world.run(verb.command)
        self._after = world.state()

    def tried(self, every: int) -> Result:
        """Try each `every`-th step."""
        result = Result(self._verb.name)
        at = 1
        while self._step(result, at):
            at += every
        return result

    def _step(self, result: Result, at: int) -> bool:
        world = self._copied()
        code, place = self._run(world, at)
        if place:
            result.steps += 1
            result.wrong += [
                f"{self._verb.name}, step {at} at {place}: {wrong}"
                for wrong in self._wrong(world, code)
            ]
        world.close()
        return bool(place)

    def _wrong(self, world: World, code: int) -> list[str]:
        wrong, said = [], world.said
        if code not in (130, *self._verb.codes) or any(word in said for word in WRONG):
            wrong.append(f"exit {code}: {said[-1500:]!r}")
        wrong += [f"left in TMPDIR: {path.name}" for path in (world.root / "tmp").iterdir()]
        state = world.state()
        if state not in (self._before, self._after) and "--activate" not in self._verb.command:
            wrong.append(f"the state is neither old nor new: {state}")
        if code == 0 and state != self._after:
            wrong.append("exit 0 without the new state")
        wrong += [f"left behind: {path}" for path in world.left() if code == 130]
        if self._verb.again:
            code, _ = self._run(world, 0)
            if code not in (*self._verb.codes, *self._verb.again) or any(
                word in world.said for word in WRONG
            ):
                wrong.append(f"again it ends with {code}: {world.said[-300:]!r}")
            elif world.state() != self._after:
                wrong.append(f"again it does not come to the new state: {world.state()}")
        return wrong

    def _copied(self) -> World:
        place = self._root / "tried"
        if place.exists():
            staging.delete(str(place))
        return self._old.copied(place)

    def _run(self, world: World, at: int) -> tuple[int, str]:
        """Run the command in a forked process, interrupted at a step; gives its exit code, and the
        step where there was one.
        """
        reader, writer = os.pipe()
        with world.entered():
            os.environ["TMPDIR"] = str(world.root / "tmp")
            child = os.fork()
            if child == 0:
                self._be(world, Tracer(at, writer))
        os.close(writer)
        place = os.read(reader, 4096).decode()
        os.close(reader)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), place

    def _be(self, world: World, tracer: Tracer) -> None:
        code = 98
        try:
            tempfile.tempdir = None
            world.redirect()
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))
            sys.settrace(tracer)
            code = main(list(self._verb.command))
            sys.settrace(None)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def figures(names: tuple[str, ...], *, every: int) -> Iterator[Result]:
    """Try the commands of these names."""
    with answering() as port:
        for verb in (verb for verb in VERBS if verb.name in names):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
                yield Steps(Path(directory).resolve(), verb, port).tried(every)
                staging.delete(directory)


def _main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verbs", nargs="*", metavar="VERB", help=", ".join(NAMES))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try each N-th step only")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if unknown := set(given.verbs) - set(NAMES):
        parser.error(f"no such command here: {', '.join(sorted(unknown))}")
    results = []
    for result in figures(tuple(given.verbs) or NAMES, every=given.every):
        results.append(result)
        sys.stderr.write("".join(f"{said}\n" for said in result.wrong))
        if not given.json:
            sys.stdout.write(
                f"{result.verb:20} {result.steps:6} steps, {len(result.wrong)} wrong\n"
            )
            sys.stdout.flush()
    wrong = sum(len(result.wrong) for result in results)
    total = f"{sum(result.steps for result in results)} steps, {wrong} wrong"
    sys.stdout.write(
        f"{json.dumps([vars(result) for result in results])}\n" if given.json else f"{total}\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(_main())
