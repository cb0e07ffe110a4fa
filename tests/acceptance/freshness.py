"""Random edits of a project beside calls and lists of a process that keeps it open: is any answer
stale?

    python -m tests.acceptance.freshness [--tools 10000] [--edits 100] [--calls 10000] [--json]

The process under test is a program with the library, or one that serves MCP over stdio. This
process edits files, and judges from outside: an answer to a question that was asked after an edit
was over, and that came before the next one began, must be what the files say then. What a call
answers is a default value of its tool's schema, so that it shows which config.json it rests on.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.support.ondisk import write_kit, write_tool
from vespe.files.watch import Watch
from vespe.projects.init import found_project

NAME: Final = "a_target"
"""The tool that is called: it is on the first page of every list."""
LIBRARY: Final = """
import json, sys
from vespe import Project
from vespe.errors import VespeError
project = Project(sys.argv[1])
project.registry.register(lambda value: value, name="a_target")
for line in sys.stdin:
    try:
        outcome = project.call("a_target")
        answer = outcome.result if outcome.ok else "error"
    except VespeError:
        answer = "error"
    print(json.dumps(answer), flush=True)
"""
SERVER: Final = """
import sys, vespe
registry = vespe.ToolRegistry()
registry.register(lambda value: value, name="a_target")
vespe.serve_stdio(sys.argv[1], registry=registry)
"""
_EVERY: Final = 10
"""Each so many-th question to a server is for its list."""
_WARM_S: Final = 2.0
"""For so long calls are made first, and for as long again for each 2,000 tools: until a process
that lives has asked Linux to tell of changes.
"""
_PAUSE_S: Final = 0.04
"""Edits are at most so far apart, and as far again for each 2,000 tools: so that calls come between
them, since the first call after an edit looks for its tool anew.
"""


@dataclass
class Figures:
    """What was asked and edited, what was judged, and each answer that was stale."""

    kind: str
    tools: int
    edits: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    judged: int = 0
    stale: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Edited:
    """One edit: what it was, when it began and ended, and what a call answers since then; a list
    shows the same, but for what the `mode` of a directory forbids to run.
    """

    what: str
    began: float
    ended: float
    answer: object
    mode: bool = False


class World:
    """A project and a kit as they are on disk, and what a call of NAME answers by them."""

    def __init__(self, root: Path, *, tools: int, seed: int) -> None:
        self.project, self.aside = root / "project", root / "aside"
        self.tools, self.kits = self.project / ".vespe/tools", root / "kits"
        self.random = random.Random(seed)
        self._value = 0
        self.project.mkdir()
        self.aside.mkdir()
        found_project(self.project)
        for number in range(tools):
            write_tool(self.tools / f"tool-{number:05d}", f"tool_{number:05d}")
        self.kit = write_kit(self.kits, "things")
        self.own: object = self._write(self.tools / "tool-target", NAME)
        self.kits_own: object = self._write(self.kit / "tool-kits", NAME)
        self._write(self.tools / "tool-other", "other")
        self._undo: Callable[[], object] | None = None
        self._configure(active=False)
        self.edits: dict[str, Callable[[], None]] = {
            "changed": self._changed,
            "replaced by rename": self._replaced,
            "another directory": self._another_directory,
            "a link, and back": self._linked,
            "deleted": self._deleted,
            "its mode, and back": self._mode,
            "another name, and back": self._renamed,
            "the kit's tool": self._kit_changed,
            "the kit taken away, and back": self._kit_gone,
            "the configuration": lambda: self._configure(active=not self.active),
        }
        if Watch().cover(0, [str(self.tools)], at_once=True) > 0:
            self.edits["its name taken in place"] = self._taken

    @property
    def answer(self) -> object:
        """What a call of NAME answers now."""
        return self.kits_own if self.active and self.kits_own is not None else self.own

    def _write(self, directory: Path, name: str) -> int:
        write_tool(directory, name, schema=self._schema())
        return self._value

    def _schema(self) -> dict[str, Any]:
        self._value += 1
        return {
            "type": "object",
            "properties": {"value": {"type": "integer", "default": self._value}},
        }

    def _document(self, config: Path, **keys: object) -> str:
        return json.dumps(json.loads(config.read_text(encoding="utf-8")) | keys)

    def _configure(self, *, active: bool) -> None:
        order = ["active_kits", "project_tools"]
        said = {"active_kits": ["things"] if active else [], "tool_resolution_order": order}
        (self.project / ".vespe/config.json").write_text(json.dumps(said), encoding="utf-8")
        self.active = active

    def _rewrite(self, config: Path, **keys: object) -> None:
        text = self._document(config, **keys)
        config.write_text(text, encoding="utf-8")

    def _changed(self) -> None:
        config = self.tools / "tool-target/config.json"
        self._rewrite(config, schema={"input": self._schema()})
        self.own = self._value

    def _replaced(self) -> None:
        config, made = self.tools / "tool-target/config.json", self.aside / "config.json"
        made.write_text(self._document(config, schema={"input": self._schema()}), encoding="utf-8")
        os.replace(made, config)
        self.own = self._value

    def _another_directory(self) -> None:
        value = self._write(self.aside / "tool-target", NAME)
        (self.tools / "tool-target").rename(self.aside / "old")
        (self.aside / "tool-target").rename(self.tools / "tool-target")
        shutil.rmtree(self.aside / "old")
        self.own = value

    def step(self) -> str:
        """Make one random edit, or take the one before back; return what it was."""
        if self._undo is not None:
            undo, self._undo = self._undo, None
            undo()
            return "taken back"
        what = self.random.choice(sorted(self.edits))
        self.edits[what]()
        return what

    def _broken_until(self, undo: Callable[[], object]) -> None:
        before, self.own = self.own, "error"

        def back() -> None:
            undo()
            self.own = before

        self._undo = back

    def _linked(self) -> None:
        place, aside = self.tools / "tool-target", self.aside / "linked"
        place.rename(aside)
        place.symlink_to(aside)

        def undo() -> None:
            place.unlink()
            aside.rename(place)

        self._broken_until(undo)

    def _deleted(self) -> None:
        shutil.rmtree(self.tools / "tool-target")
        self._broken_until(lambda: None)

        def remake() -> None:
            self.own = self._write(self.tools / "tool-target", NAME)

        self._undo = remake

    def _mode(self) -> None:
        place = self.tools / "tool-target"
        place.chmod(0o777)
        self._broken_until(lambda: place.chmod(0o755))

    def _renamed(self) -> None:
        config = self.tools / "tool-target/config.json"
        self._rewrite(config, name="another")
        self._broken_until(lambda: self._rewrite(config, name=NAME))

    def _taken(self) -> None:
        config = self.tools / "tool-other/config.json"
        self._rewrite(config, name=NAME)
        self._broken_until(lambda: self._rewrite(config, name="other"))

    def _kit_changed(self) -> None:
        self._rewrite(self.kit / "tool-kits/config.json", schema={"input": self._schema()})
        self.kits_own = self._value

    def _kit_gone(self) -> None:
        before, self.kits_own = self.kits_own, None
        self.kit.rename(self.aside / "things")

        def undo() -> None:
            (self.aside / "things").rename(self.kit)
            self.kits_own = before

        self._undo = undo


def run(kind: str, *, tools: int, edits: int, calls: int, seed: int = 1) -> Figures:
    """Ask and edit at the same time, then judge each answer."""
    figures = Figures(kind, tools)
    with tempfile.TemporaryDirectory() as directory, _home(Path(directory)) as environment:
        world = World(Path(directory).resolve(), tools=tools, seed=seed)
        time.sleep(0.2)
        log = [Edited("nothing", 0.0, 0.0, world.answer)]
        with _Asked(kind, world.project, environment) as asked:
            warm = time.monotonic() + _WARM_S * (1 + tools / 2_000)
            while time.monotonic() < warm:
                asked.ask()
            asked.answers.clear()
            started = time.monotonic()
            editing = threading.Thread(target=_edit, args=(world, log, edits), daemon=True)
            editing.start()
            while editing.is_alive() or len(asked.answers) < calls:
                asked.ask()
            editing.join()
        figures.seconds = round(time.monotonic() - started, 1)
    for edited in log[1:]:
        figures.edits[edited.what] = figures.edits.get(edited.what, 0) + 1
    figures.calls = len(asked.answers)
    _judge(figures, log, asked.answers)
    return figures


def _edit(world: World, log: list[Edited], edits: int) -> None:
    pause = _PAUSE_S * (1 + len(os.listdir(world.tools)) / 2_000)
    for _ in range(edits):
        time.sleep(world.random.uniform(0, pause))
        began = time.monotonic()
        what = world.step()
        mode = what == "its mode, and back"
        log.append(Edited(what, began, time.monotonic(), world.answer, mode))
    if world.answer == "error":  # which takes longest to say, since it names what is near
        began = time.monotonic()
        log.append(Edited(world.step(), began, time.monotonic(), world.answer))
    time.sleep(pause)


def _judge(
    figures: Figures, log: list[Edited], answers: list[tuple[str, float, float, object]]
) -> None:
    at = 0
    for how, asked, answered, answer in answers:
        while at + 1 < len(log) and log[at + 1].ended <= asked:
            at += 1
        if log[at].ended > asked or (at + 1 < len(log) and log[at + 1].began <= answered):
            continue  # something changed meanwhile
        if how == "list" and log[at].mode:
            continue
        figures.judged += 1
        if answer != log[at].answer:
            late = (asked - log[at].ended) * 1000
            figures.stale.append(
                f"{how}: {answer}, {late:.1f} ms after {log[at].what!r}, not {log[at].answer}"
            )


class _Asked:
    """The process under test. `answers` has how it was asked, when, when it answered, and what."""

    def __init__(self, kind: str, project: Path, environment: dict[str, str]) -> None:
        self._serves = kind == "server"
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER if self._serves else LIBRARY, str(project)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=project,
        )
        self.answers: list[tuple[str, float, float, object]] = []
        self._number = 0

    def __enter__(self) -> "_Asked":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def ask(self) -> None:
        """Call the tool, or list the tools, and note the answer."""
        self._number += 1
        how = "list" if self._serves and self._number % _EVERY == 0 else "call"
        asked = time.monotonic()
        answer = self._server(how) if self._serves else self._exchange("")
        self.answers.append((how, asked, time.monotonic(), answer))

    def _exchange(self, line: str) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        while True:
            said = json.loads(self._process.stdout.readline())
            if not isinstance(said, dict) or "id" in said:  # else it tells of a change
                return said

    def _server(self, how: str) -> object:
        method = "tools/list" if how == "list" else "tools/call"
        params: dict[str, object] = {} if how == "list" else {"name": NAME, "arguments": {}}
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        said = self._exchange(json.dumps(message)).get("result", {"isError": True})
        if how == "call":
            return "error" if said.get("isError") else json.loads(said["content"][0]["text"])
        for tool in said["tools"]:
            if tool["name"] == NAME:
                return tool["inputSchema"]["properties"]["value"]["default"]
        return "error"


@contextmanager
def _home(directory: Path) -> Iterator[dict[str, str]]:
    """Give the process under test, and what this one makes trusted, a home of their own."""
    names = ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    given = {name: str(directory / "home" / name) for name in names}
    given["VESPE_KITS_PATH"] = str(directory.resolve() / "kits")
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def main() -> int:
    """Try the library, then a server; 1 where an answer was stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=int, default=10_000)
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = [
        run(kind, tools=given.tools, edits=given.edits, calls=given.calls, seed=given.seed)
        for kind in ("library", "server")
    ]
    said = "\n".join(map(str, found))
    document = [vars(figures) for figures in found]
    sys.stdout.write(f"{json.dumps(document) if given.json else said}\n")
    return int(any(figures.stale for figures in found))


if __name__ == "__main__":
    sys.exit(main())
