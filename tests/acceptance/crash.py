"""The crash harness: each verb that changes state is killed, and given ENOSPC and EIO, at every
call that writes.

    python -m tests.acceptance.crash [--verb VERB] [--every N] [--json]

After each point the state is wholly the old one or wholly the new one; an error is a sentence, a
failing exit code and the old state; and the same command again recovers, silently, and leaves
nothing half done. Linux on x86-64; needs git, and nothing else.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance import tracer
from tests.support.ondisk import python_tool, write_kit
from vespe import errors
from vespe.cli import main
from vespe.files import staging
from vespe.kits import lock as kit_lock
from vespe.kits import roots, store
from vespe.projects import project
from vespe.tools import catalog
from vespe.trust import approvals, gate

_LEFT = re.compile(r".*\.tmp|\.(?:new|gone|stage)-.*|\.vespe\.new-.*|tmp_.*|.*\.lock")
"""Names of what is being made or taken away; the cache's are left out, since losing it costs time
only.
"""


@dataclass(frozen=True)
class Verb:
    """One verb under test: what was done before it, itself, and the exit codes that it may end with
    when it is said again.

    `sweeper` is another command over the same directory, where the verb said again has nothing to
    do there. `first` is the first half of a command that says two things; what it leads to is a
    whole state too.
    """

    name: str
    command: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    again: tuple[int, ...] = (0,)
    sweeper: tuple[str, ...] = ()
    first: tuple[str, ...] = ()


@dataclass
class Result:
    """What was tried of one verb with one fault, and what did not survive, in words."""

    verb: str
    fault: str
    points: int = 0
    lost: list[str] = field(default_factory=list)
    unconfirmed: int = 0


FORGET, MOVE = ("forget what this machine has",), ("move the branch main",)
"""What happens between two commands."""
TRUSTED = ("trust", "--yes")
INSTALLED = ("kit", "install", "../source", "--activate", "--yes")
VERBS = (
    Verb("kit install", INSTALLED, first=("kit", "install", "../source", "--yes")),
    Verb(
        "kit update",
        ("kit", "update", "--yes"),
        (("kit", "install", "../source@main", "--activate", "--yes"), MOVE),
    ),
    Verb(
        "kit remove",
        ("kit", "remove", "web", "--yes"),
        (INSTALLED,),
        (0, 3),
        first=("kit", "deactivate", "web"),
    ),
    Verb("kit sync", ("kit", "sync", "--yes"), (("kit", "install", "../source", "--yes"), FORGET)),
    Verb("kit activate", ("kit", "activate", "file_io_without_git")),
    Verb("kit activate, approved", ("kit", "activate", "file_io_without_git"), (TRUSTED,)),
    Verb(
        "tool expose, approved",
        ("tool", "expose", "given", "--as", "second"),
        (TRUSTED, ("tool", "expose", "given", "--as", "first")),
    ),
    Verb("kit create", ("kit", "create", "mine"), (), (0, 2)),
    Verb("kit link", ("kit", "link", "../source/web")),
    Verb("tool create", ("tool", "create", "made", "--type", "python_script"), (), (0, 2)),
    Verb(
        "tool remove",
        ("tool", "remove", "tool-given", "--yes"),
        (),
        (0, 3),
        ("tool", "create", "swept", "--type", "python_script"),
    ),
    Verb("trust", TRUSTED),
    Verb("untrust", ("untrust",), (TRUSTED,)),
)


class World:
    """A project, a user's home and a source of kits, in one directory that can be copied; trusted
    by content or not at all.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project, self.home = root / "project", root / "home"
        self._said = _unnamed()

    @classmethod
    def built(cls, root: Path, verb: Verb) -> "World":
        world = cls(root)
        (world.project / ".vespe/tools").mkdir(parents=True)
        world.home.mkdir()
        (world.project / ".vespe/config.json").write_text('{"active_kits": []}\n', encoding="utf-8")
        python_tool(world.project / ".vespe/tools/tool-given", "given", "return 1")
        for command in verb.before:
            if command == FORGET:
                for kind in ("data", "state"):
                    staging.delete(str(world.home / kind / "vespe"))
            elif command == MOVE:
                subprocess.run(
                    ["git", "-C", str(root / "source"), "branch", "-qf", "main", "next"], check=True
                )
            elif (code := world.run(command)) != 0:
                raise SystemExit(f"vespe {' '.join(command)}: exit {code}\n{world.said}")
        return world

    def copied(self, root: Path) -> "World":
        shutil.copytree(self.root, root, symlinks=True)
        world, kept = World(root), root / "home/state/vespe/trust"
        # a copy is another place, so that what was approved is approved here
        if any(kept.glob("content-*")):
            shutil.rmtree(kept)
            if code := world.run(TRUSTED):
                raise SystemExit(f"vespe trust: exit {code}\n{world.said}")
        return world

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Be this world's user in its project."""
        before, here = dict(os.environ), os.getcwd()
        os.environ.update(
            {
                f"XDG_{kind.upper()}_HOME": str(self.home / kind)
                for kind in ("config", "data", "state", "cache")
            }
        )
        os.environ.update(
            HOME=str(self.home),
            NO_COLOR="1",
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_CONFIG_SYSTEM="/dev/null",
        )
        os.chdir(self.project)
        try:
            yield
        finally:
            os.chdir(here)
            os.environ.clear()
            os.environ.update(before)

    def run(self, command: tuple[str, ...]) -> int:
        """Run one command in this process, so that whatever it imports is there for the runs that
        are forked off.
        """
        out, err = os.dup(1), os.dup(2)
        with self.entered():
            self.redirect()
            try:
                return main(list(command))
            finally:
                os.dup2(out, 1)
                os.dup2(err, 2)
                os.close(out)
                os.close(err)

    def traced(
        self, command: tuple[str, ...], *, fault: str | None = None, at: int = 0
    ) -> tracer.Traced:
        """Run one command in a forked process, with one fault at one call."""

        def action() -> int:
            self.redirect()
            code = main(list(command))
            sys.stdout.flush()
            sys.stderr.flush()
            return code

        sys.stdout.flush()
        sys.stderr.flush()
        with self.entered():
            return tracer.run(action, fault=fault, at=at)

    @property
    def said(self) -> str:
        """What the last command printed."""
        return os.pread(self._said, 1 << 20, 0).decode("utf-8", "replace")

    def close(self) -> None:
        """Forget what was said."""
        os.close(self._said)

    def state(self) -> dict[str, Any]:
        """Everything that the user would call the state; raises where any of it is broken."""
        with self.entered():
            root = str(self.project)
            lock = kit_lock.read_lock(kit_lock.project_lock(root))
            tools = list(
                catalog.scan(project.tools_dir(root), scope="project_tools", kit_id=None).values()
            )
            config = project.read_config(root)
            return {
                "active": list(config.active_kits),
                "shown": config.document.get("tools"),
                "lock": {
                    kit.kit_id: (kit.commit, kit.digest, self._installed(kit))
                    for kit in lock.values()
                },
                "tools": sorted(
                    (tool.name, tool.problem, self._granted(tool.path)) for tool in tools
                ),
                "kits": sorted(
                    (kit.kit_id, kit.problem, kit.tools)
                    for kit in roots.find_kits()
                    if kit.root_kind in ("user", "link")
                ),
                "trusted": self._granted(None),
            }

    def left(self) -> list[str]:
        """What is half made or half taken away."""
        found = [
            Path(place) / name
            for place, folders, files in os.walk(self.root)
            for name in (*folders, *files)
        ]
        here = [str(path.relative_to(self.root)) for path in found if _LEFT.fullmatch(path.name)]
        return [path for path in here if not path.startswith(("source/", "home/cache/"))]

    def _installed(self, kit: kit_lock.LockedKit) -> tuple[str, ...]:
        """Say why a locked kit's tools do not run here; () where they do."""
        return (
            ("not here or not approved",)
            if approvals.find_kit(kit.digest) is None
            else store.differences(kit.digest, kit.kit_id)
        )

    def _granted(self, tool: str | None) -> str:
        try:
            return gate.check(project.read_config(self.project), tool, environ={}).kind
        except errors.NotTrusted:
            return "no"

    def redirect(self) -> None:
        """Have all that is printed go to `said`, and read nothing."""
        os.ftruncate(self._said, 0)
        os.lseek(self._said, 0, os.SEEK_SET)
        os.dup2(self._said, 1)
        os.dup2(self._said, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _unnamed() -> int:
    """Open a file that stands nowhere, so that writing to it is no writing to the world."""
    if sys.platform == "linux":
        return os.memfd_create("said")
    with tempfile.TemporaryFile() as stream:
        return os.dup(stream.fileno())


def make_source(root: Path) -> None:
    """Make a repository with one kit: the branch main, and the next version of it, with a changed,
    an added and a removed tool.
    """
    kit = write_kit(root, "web", allow_types=["python_script"])
    python_tool(kit / "tool-one", "one", "return 1")
    python_tool(kit / "tool-two", "two", "return 2")
    git = (
        "git",
        "-C",
        str(root),
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.invalid",
        "-c",
        "commit.gpgsign=false",
    )
    for line in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        ("commit", "-qm", "first"),
        ("switch", "-qc", "next"),
    ):
        subprocess.run([*git, *line], check=True)
    (kit / "tool-one/main.py").write_text("def one():\n    return 11\n", encoding="utf-8")
    shutil.rmtree(kit / "tool-two")
    python_tool(kit / "tool-three", "three", "return 3")
    for line in (("add", "-A", "."), ("commit", "-qm", "second")):
        subprocess.run([*git, *line], check=True)


class Harness:
    """Tries the points of one verb, each in a fresh copy of the same world."""

    def __init__(self, root: Path, verb: Verb) -> None:
        self._root, self._verb = root, verb
        make_source(root / "source")
        # Every world stands beside the source, which nothing writes to, and where it was built, so
        # that all that knows paths holds.
        World.built(self._place("tried"), verb).root.rename(root / "old")
        self._old = World(root / "old")
        self._before = self._copied().state()
        self._after = self._reached(verb.command)
        # What an error may leave, and a kill.
        self._not_after = [self._before, *([self._reached(verb.first)] if verb.first else [])]

    def tried(self, fault: str, *, every: int = 1) -> Result:
        """Try every point, or each `every`-th, with one fault."""
        result = Result(self._verb.name, fault)
        at = 1
        while self._point(result, fault, at):
            at += every
        return result

    def _place(self, name: str) -> Path:
        place = self._root / name
        place.mkdir()
        (place / "source").symlink_to("../source")
        return place

    def _copied(self) -> World:
        place = self._root / "tried"
        if place.exists():
            staging.delete(str(place))
        return self._old.copied(place)

    def _reached(self, command: tuple[str, ...]) -> dict[str, Any]:
        world = self._copied()
        code = world.run(command)
        if code != 0 or (state := world.state()) == self._before:
            raise SystemExit(f"vespe {' '.join(command)}: exit {code}\n{world.said}")
        return state

    def _point(self, result: Result, fault: str, at: int) -> bool:
        world = self._copied()
        done = world.traced(self._verb.command, fault=fault, at=at)
        if not done.failed:
            return False
        result.points += 1
        said = world.said
        for wrong in (*self._wrong(world, done, fault, result), *self._wrong_again(world)):
            result.lost.append(
                f"{self._verb.name}, {fault} at call {at} ({done.failed}): {wrong}; "
                f"it said {said[-300:]!r}"
            )
        world.close()
        return True

    def _wrong(
        self, world: World, done: tracer.Traced, fault: str, result: Result
    ) -> Iterator[str]:
        try:
            state = world.state()
        except errors.VespeError as error:
            yield f"the state is broken: {error}"
            return
        if state not in (*self._not_after, self._after):
            yield f"the state is neither old nor new: {state}"
        if fault == "KILL":
            return
        said = world.said
        if "Traceback" in said or done.code < 0 or done.code == 70:
            yield f"exit {done.code}, with no sentence"
        elif done.code == 0 and state != self._after:
            yield "exit 0 without the new state"
        elif done.code != 0 and state not in self._not_after:
            if "did not confirm" in said:
                result.unconfirmed += 1
            else:
                yield f"exit {done.code} with the new state"

    def _wrong_again(self, world: World) -> Iterator[str]:
        done = world.traced(self._verb.command)
        if done.code not in self._verb.again or "Traceback" in world.said:
            yield f"again it ends with {done.code}: {world.said[-300:]!r}"
        try:
            if (state := world.state()) != self._after:
                yield f"again it does not come to the new state: {state}"
        except errors.VespeError as error:
            yield f"again the state is broken: {error}"
        if self._verb.sweeper:
            world.traced(self._verb.sweeper)
        if left := world.left():
            yield f"left behind: {left}"


def figures(
    verbs: tuple[Verb, ...], *, every: int = 1, faults: tuple[str, ...] = tracer.FAULTS
) -> list[Result]:
    """Try the verbs; what is left out by `every` is never the same as nothing: each verb is tried
    with each fault.
    """
    results = []
    for verb in verbs:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            harness = Harness(Path(directory).resolve(), verb)
            results += [harness.tried(fault, every=every) for fault in faults]
            staging.delete(directory)
    return results


def _main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verb", action="append", choices=[verb.name for verb in VERBS])
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="try each N-th point only"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not tracer.AVAILABLE:
        raise SystemExit("the tracer works on Linux on x86-64 alone")
    results = figures(
        tuple(verb for verb in VERBS if not given.verb or verb.name in given.verb),
        every=given.every,
    )
    rows = [
        f"{result.verb:14} {result.fault:7} {result.points:5} points, {len(result.lost)} lost, "
        f"{result.unconfirmed} not confirmed"
        for result in results
    ]
    totals = Counter(points=sum(r.points for r in results), lost=sum(len(r.lost) for r in results))
    rows.append(f"{totals['points']} points, {totals['lost']} lost")
    sys.stderr.write("".join(f"{lost}\n" for result in results for lost in result.lost))
    sys.stdout.write(
        f"{json.dumps([vars(result) for result in results])}\n"
        if given.json
        else "".join(f"{row}\n" for row in rows)
    )
    return 1 if totals["lost"] else 0


if __name__ == "__main__":
    sys.exit(_main())
