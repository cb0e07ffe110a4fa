"""Run a page of the documentation as a reader would: its files are written, its commands are typed,
its programs run, in order, in one directory.
"""

import contextlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.support.ondisk import PATIENCE_S

LANGUAGES = ("console", "python", "json", "text", "yaml", "rust")
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = "8765"
"""The port of servers on pages; a run takes a free one instead."""
_SHELL = re.compile(r"[|<>]|\$\w| ~/")
"""What makes a command one for a shell."""


@dataclass(frozen=True)
class Step:
    """A command of a console and what it prints."""

    line: str
    expected: str

    @property
    def command(self) -> str:
        return self.line.partition("  # exit ")[0]

    @property
    def code(self) -> int:
        return int(self.line.partition("  # exit ")[2] or 0)


def steps(fence: str) -> list[Step]:
    """Return the commands of a console."""
    pieces = re.split(r"^\$ ", fence, flags=re.MULTILINE)[1:]
    return [
        Step(line, "\n".join(rest))
        for line, *rest in (piece.rstrip("\n").split("\n") for piece in pieces)
    ]


def assert_like(seen: str, expected: str) -> None:
    """Compare output line by line; `…` stands for any text in a line, and alone on the last line
    for any further lines.
    """
    wanted = [line.strip() for line in expected.split("\n") if line.strip()]
    lines = [line.strip() for line in seen.split("\n") if line.strip()]
    if wanted and wanted[-1] == "…":
        wanted.pop()
        lines = lines[: len(wanted)]
    assert len(lines) == len(wanted), seen
    for line, pattern in zip(lines, wanted, strict=True):
        assert re.fullmatch(
            ".*".join(map(re.escape, pattern.split("…"))),
            re.sub(r"\s+", " ", line) if " " in pattern else line,
        ) or (re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line)), (
            f"{line!r} is not like {pattern!r}"
        )


@dataclass
class Reader:
    """Someone who does what a page says, in a directory."""

    directory: Path
    done_elsewhere: Sequence[str] = ()
    """Commands that are not typed."""
    port: str = field(default_factory=lambda: str(_free_port()))
    """What is put in the place of the page's port."""
    python: str = sys.executable
    environment: Mapping[str, str] | None = None
    count: int = 0
    """How many commands were typed."""
    _left: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self._left.close()

    def read(self, page: Path) -> None:
        """Do all that a page says."""
        for language, filename, body in FENCE.findall(page.read_text(encoding="utf-8")):
            assert language in LANGUAGES, (
                f"{page.name}: a fence in {language or 'no language'} would not be tested"
            )
            body = body.replace(PORT, self.port)
            if filename:
                (self.directory / filename).parent.mkdir(parents=True, exist_ok=True)
                (self.directory / filename).write_text(body, encoding="utf-8")
            elif language == "console":
                self.type(body)
            elif language == "python":
                self.run(body)
            if language == "json":
                json.loads(body)
            elif language == "yaml":
                yaml.safe_load(body)

    def type(self, fence: str) -> None:
        """Type the commands of a console and compare what they print."""
        for step in steps(fence):
            if step.command in self.done_elsewhere:
                continue
            self.count += 1
            if step.command.endswith(" &"):
                self._begin(step.command.removesuffix(" &"))
                continue
            done = self._done(step.command)
            assert done.returncode == step.code, f"{step.command}: {done.stdout}{done.stderr}"
            if step.expected.strip():
                assert_like(f"{done.stdout}\n{done.stderr}", step.expected)

    def run(self, code: str) -> None:
        """Run a program."""
        done = self._run([self.python, "-c", code])
        assert done.returncode == 0, f"{code}\n{done.stderr}"

    def _done(self, command: str) -> "subprocess.CompletedProcess[str]":
        if _SHELL.search(re.sub(r"'[^']*'", "", command)):
            return self._run(["sh", "-c", command])
        return self._run(self._argv(command))

    def _argv(self, command: str) -> list[str]:
        program, *arguments = shlex.split(command)
        if program == "vespe":
            return [self.python, "-m", "vespe", *arguments]
        return [self.python if program == "python" else program, *arguments]

    def _run(self, argv: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            argv,
            cwd=self.directory,
            env=self.environment,
            input="",
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )

    def _begin(self, command: str) -> None:
        """Start a server in the background, and wait until it listens."""
        server = subprocess.Popen(
            self._argv(command),
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._left.callback(_end, server)
        until = time.monotonic() + PATIENCE_S
        while not _listens(int(self.port)):
            assert server.poll() is None, f"{command} has ended with {server.returncode}"
            assert time.monotonic() < until, f"{command} does not listen on {self.port}"
            time.sleep(0.02)


def _end(server: "subprocess.Popen[bytes]") -> None:
    """End a server as a service manager does. One that does not end fails the test, and nothing of
    it is left either way.
    """
    try:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(PATIENCE_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
