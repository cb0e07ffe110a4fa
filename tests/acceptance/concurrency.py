"""Many processes that install, activate, create and remove at once, some of them killed: is any of
their changes lost?

    python -m tests.acceptance.concurrency [--processes 16] [--mutations 50] [--kills 0] [--json]

Every process works in one project, over one store. Afterwards the project must hold exactly what
the commands that succeeded made. With `--kills`, as many random processes are killed with SIGKILL
in the midst of their work; each one's successor says the command again that was cut off.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.acceptance.crash import Verb, World
from tests.support.ondisk import python_tool, write_kit
from vespe import errors
from vespe.files import atomic, staging
from vespe.kits import lock
from vespe.projects import project

ROUND = ("create", "install", "activate", "create", "remove", "install")
"""What a process does, again and again: `remove` takes away what the first `install` of its round
brought.
"""


@dataclass
class Figures:
    """What was done, and what of it is not there, in words."""

    processes: int
    mutations: int = 0
    kills: int = 0
    busy: int = 0
    reads: int = 0
    lost: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run(processes: int, mutations: int, *, kills: int = 0, seed: int = 1) -> Figures:
    """Let the processes work, and compare."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        root = Path(directory).resolve()
        for worker in range(processes):
            for step in range(mutations):
                if ROUND[step % len(ROUND)] == "install":
                    python_tool(
                        write_kit(root / "source" / _kit(worker, step), _kit(worker, step))
                        / f"tool-{worker}-{step}",
                        "one",
                        "return 1",
                    )
        (root / "world").mkdir()
        world = World.built(root / "world", Verb("", ()))
        world.run(("kit", "list"))
        for command in (
            ("kit", "install", str(root / "source" / _kit(0, 1)), "--yes"),
            ("kit", "remove", _kit(0, 1), "--yes"),
        ):
            world.run(command)  # what these import, every process has then
        figures = Figures(processes, mutations=processes * mutations)
        started = time.monotonic()
        _Crowd(world, figures, mutations=mutations, random=random.Random(seed)).work(kills)
        figures.seconds = round(time.monotonic() - started, 1)
        figures.lost += _missing(world, processes, mutations)
        staging.delete(directory)
    return figures


class _Crowd:
    """The processes, and the one that kills them."""

    def __init__(
        self, world: World, figures: Figures, *, mutations: int, random: random.Random
    ) -> None:
        self._world, self._figures, self._mutations, self._random = (
            world,
            figures,
            mutations,
            random,
        )
        self._pids: dict[int, int] = {}

    def work(self, kills: int) -> None:
        for worker in range(self._figures.processes):
            self._start(worker, 0)
        reader = self._fork_reader()
        while self._pids:
            if self._figures.kills < kills:
                time.sleep(self._random.uniform(0.01, 0.1))
                self._kill(self._random.choice(sorted(self._pids)))
            self._reap(block=self._figures.kills >= kills)
        os.kill(reader, signal.SIGTERM)
        os.waitpid(reader, 0)
        self._figures.reads = int(self._note("reads").read_text(encoding="utf-8") or 0)
        self._figures.lost += (
            []
            if not self._note("partial").exists()
            else [self._note("partial").read_text(encoding="utf-8")]
        )
        self._figures.busy = sum(
            int(path.read_text(encoding="utf-8"))
            for path in self._world.root.with_name("notes").glob("busy-*")
        )

    def _start(self, worker: int, first: int) -> None:
        pid = os.fork()
        if pid == 0:
            code = 97
            try:
                code = self._act(worker, first)
            finally:
                os._exit(code)
        self._pids[pid] = worker

    def _act(self, worker: int, first: int) -> int:
        """Do the steps from `first` on; the first of them may have been done before."""
        mine, done = World(self._world.root), self._note(f"done-{worker}")
        busy = 0
        for step in range(first, self._mutations):
            while (
                code := mine.run(_command(self._world, worker, step))
            ) == 1 and "has held the lock" in mine.said:
                busy += 1
            if code and not (step == first and code in (2, 3)):
                done.with_name(f"failed-{worker}").write_text(
                    f"{step}: exit {code}: {mine.said[-500:]}", encoding="utf-8"
                )
                return 1
            atomic.write_atomic(done, str(step + 1), durable=False)
        self._note(f"busy-{worker}").write_text(str(busy), encoding="utf-8")
        return 0

    def _kill(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        _, status = os.waitpid(pid, 0)
        worker = self._pids.pop(pid)
        self._figures.kills += os.WIFSIGNALED(status)
        self._ended(worker, status)

    def _reap(self, *, block: bool) -> None:
        for pid in list(self._pids):
            found, status = os.waitpid(pid, 0 if block else os.WNOHANG)
            if found:
                self._ended(self._pids.pop(pid), status)

    def _ended(self, worker: int, status: int) -> None:
        if os.WIFSIGNALED(status):
            done = self._note(f"done-{worker}")
            self._start(worker, int(done.read_text(encoding="utf-8") or 0) if done.exists() else 0)
        elif status:
            note = self._note(f"failed-{worker}")
            said = (
                note.read_text(encoding="utf-8")
                if note.exists()
                else f"exit {os.waitstatus_to_exitcode(status)}"
            )
            self._figures.lost.append(f"process {worker} gave up at {said}")

    def _fork_reader(self) -> int:
        """Read lock and configuration all the while: they are never anything but whole."""
        pid = os.fork()
        if pid:
            return pid
        reads = 0

        def end(*_: object) -> None:
            self._note("reads").write_text(str(reads), encoding="utf-8")
            os._exit(0)

        signal.signal(signal.SIGTERM, end)
        root = str(self._world.project)
        while True:
            try:
                lock.read_lock(lock.project_lock(root))
                project.read_config(root)
            except errors.VespeError as error:
                self._note("partial").write_text(f"a reader saw: {error}", encoding="utf-8")
            reads += 1
            time.sleep(0.002)

    def _note(self, name: str) -> Path:
        """The place of a note of the harness's own: outside of the world, in which anything left
        over counts.
        """
        notes = self._world.root.with_name("notes")
        notes.mkdir(exist_ok=True)
        return notes / name


def _kit(worker: int, step: int) -> str:
    return f"kit_{worker}_{step}"


def _command(world: World, worker: int, step: int) -> tuple[str, ...]:
    begun = step - step % len(ROUND)
    match ROUND[step % len(ROUND)]:
        case "create":
            return ("tool", "create", f"made_{worker}_{step}", "--type", "shell_command")
        case "install":
            return (
                "kit",
                "install",
                str(world.root.parent / "source" / _kit(worker, step)),
                "--yes",
            )
        case "activate":
            return ("kit", "activate", _kit(worker, begun + 1))
        case _:
            return ("kit", "remove", _kit(worker, begun + 1), "--yes")


def _missing(world: World, processes: int, mutations: int) -> Iterator[str]:
    """Compare what is there with what every process did."""
    tools, locked = {"given"}, set()
    for worker in range(processes):
        for step in range(mutations):
            match ROUND[step % len(ROUND)]:
                case "create":
                    tools.add(f"made_{worker}_{step}")
                case "install":
                    locked.add(_kit(worker, step))
                case "remove":
                    locked.discard(_kit(worker, step - 3))
    world.run(("kit", "verify"))
    world.run(("tool", "create", "swept", "--type", "shell_command"))
    world.run(("kit", "activate", "file_io_with_git"))
    state = world.state()
    found = {name for name, problem, _ in state["tools"] if problem is None} - {"swept"}
    yield from (f"the tool {name} is lost or too much" for name in sorted(found ^ tools))
    yield from (
        f"the kit {kit} is lost or too much" for kit in sorted(state["lock"].keys() ^ locked)
    )
    yield from (
        f"the kit {kit} is not whole: {entry[2]}"
        for kit, entry in state["lock"].items()
        if entry[2]
    )
    yield from (f"left behind: {path}" for path in world.left())


def _main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--mutations", type=int, default=50)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = run(given.processes, given.mutations, kills=given.kills)
    sys.stderr.write("".join(f"{lost}\n" for lost in found.lost))
    said = (
        f"{found.processes} processes, {found.mutations} mutations, {found.kills} killed, "
        f"{found.busy} waits past the lock's timeout"
    )
    said += f", {found.reads} whole reads, {len(found.lost)} lost, {found.seconds} s"
    sys.stdout.write(f"{json.dumps(vars(found)) if given.json else said}\n")
    return 1 if found.lost else 0


if __name__ == "__main__":
    sys.exit(_main())
