"""Ctrl-C, TERM and HUP at random moments of each command: does it end as it should, and leave
nothing?

    python -m tests.acceptance.interruptions [--runs N] [--seed N] [--json] [VERB ...]

Each run is a fresh copy of a project and its user's home, and a real process that gets one signal,
or two, between its first step and its usual end. It must end with the signal's exit code or its
own, say no traceback, and leave no process and no temporary file; listing, `vespe doctor` and the
same command again must work afterwards. What comes while the interpreter itself starts is not
tried. Linux.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pty
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.acceptance import worlds
from tests.acceptance.crash import World
from tests.acceptance.worlds import VERBS, Interrupted
from tests.support.loopback import Exchange, Loopback
from tests.support.ondisk import PATIENCE_S, interruptible
from vespe.files import staging

ROOT = Path(__file__).parents[2]
BOOT = f"""
import os, signal, sys
handle, told = signal.signal, int(sys.argv.pop(1))
def first(number, handler):
    signal.signal = handle
    before = handle(number, handler)
    os.write(told, b".")
    os.close(told)
    return before
signal.signal = first
sys.path.insert(0, {str(ROOT)!r})
from vespe.__main__ import main
main()
"""
"""What the `vespe` command does; it tells when Vespe has set its first handler, its first step."""
SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WRONG = (
    "Traceback",
    "this is a bug",
    "Exception ignored",
    "panicked",
    "Fatal Python",
    "never awaited",
)
_END_S = 10.0
"""How long processes that Vespe started may live on after it: the supervisor's grace, on a busy
machine.
"""


@dataclass
class Result:
    """What was tried of one command, and what went wrong, in words; `ended` counts the exit
    codes.
    """

    verb: str
    runs: int = 0
    ended: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Sweep:
    """Interrupts one command again and again, each time in a fresh copy of the same world."""

    def __init__(self, root: Path, verb: Interrupted, port: int, *, seed: int) -> None:
        self._root, self._verb, self._random = root, verb, random.Random(f"{verb.name} {seed}")
        worlds.build(self._place(), verb, port=port).close()
        (root / "tried").rename(root / "old")
        self._old = World(root / "old")
        self._usual_s = verb.within_s or min(self._timed() for _ in range(3))

    def tried(self, runs: int) -> Result:
        """Interrupt it so many times."""
        result = Result(self._verb.name)
        for _ in range(runs):
            world, run = self._copied(), self._moment()
            run.start(world)
            result.wrong += [
                f"{self._verb.name}, {run}: {wrong}"
                for wrong in (*run.wrong(), *self._wrong_after(world))
            ]
            result.runs += 1
            result.ended[run.code] += 1
            world.close()
        return result

    def _moment(self) -> "_Run":
        numbers = [self._random.choice(SIGNALS)]
        if numbers == [signal.SIGINT] and self._random.random() < 0.3:
            numbers.append(signal.SIGINT)
        at = [
            self._random.uniform(0, self._usual_s * 1.05),
            *(self._random.uniform(0, 0.05) for _ in numbers[1:]),
        ]
        return (_Chat if self._verb.talks else _Run)(
            self._verb, tuple(zip(numbers, at, strict=True))
        )

    def _timed(self) -> float:
        world = self._copied()
        run = _Run(self._verb, ())
        began = time.monotonic()
        run.start(world)
        if run.code not in self._verb.codes:
            raise SystemExit(f"{self._verb.name}: exit {run.code}\n{run.said}")
        world.close()
        return time.monotonic() - began

    def _place(self) -> Path:
        place = self._root / "tried"
        place.mkdir()
        return place

    def _copied(self) -> World:
        place = self._root / "tried"
        if place.exists():
            staging.delete(str(place))
        return self._old.copied(place)

    def _wrong_after(self, world: World) -> Iterator[str]:
        yield from (f"a process is left: {line}" for line in _left_processes())
        yield from (
            f"left in TMPDIR: {path.name}" for path in sorted((world.root / "tmp").iterdir())
        )
        for command in worlds.LOOKS:
            if (code := world.run(command)) or any(word in world.said for word in WRONG):
                yield (
                    f"afterwards `vespe {' '.join(command)}` ends with {code}: "
                    f"{world.said[-300:]!r}"
                )
        again = _Run(self._verb, ())
        if self._verb.again:
            again.start(world)
            if again.code not in (*self._verb.codes, *self._verb.again) or any(
                word in again.said for word in WRONG
            ):
                yield f"again it ends with {again.code}: {again.said[-300:]!r}"
        for command in worlds.SWEEPERS:
            world.run(command)
        yield from (f"left behind: {path}" for path in world.left())


class _Run:
    """One process of a command, and the signals that it gets, each so many seconds after the one
    before.
    """

    def __init__(self, verb: Interrupted, signals: tuple[tuple[int, float], ...]) -> None:
        self._verb, self._signals = verb, signals
        self.code, self.said, self.sent = 0, "", 0

    def __str__(self) -> str:
        return ", ".join(
            f"{signal.Signals(number).name} after {after:.4f} s" for number, after in self._signals
        )

    def start(self, world: World) -> None:
        """Run it to its end."""
        with open(world.root / "said", "w+b") as said:
            process = self._begun(world, said)
            try:
                self._interrupt(process)
                self.code = process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                self.code = process.wait() - 1000
            finally:
                for stream in (process.stdin, process.stdout):
                    if stream is not None:
                        with contextlib.suppress(OSError):
                            stream.close()
            said.seek(0)
            self.said += said.read().decode("utf-8", "replace")

    def wrong(self) -> Iterator[str]:
        """Say what is wrong with how it ended."""
        numbers = [
            signal.SIGINT if self._verb.talks else number
            for number, _ in self._signals[: self.sent]
        ]
        if self.code not in (
            *self._verb.codes,
            *(128 + number for number in numbers),
            *(-n for n in numbers if n != signal.SIGINT),
        ):
            yield f"exit {self.code}: {self.said[-1500:]!r}"
        elif any(word in self.said for word in WRONG):
            yield f"exit {self.code}, and it says {self.said[-1500:]!r}"

    def _begun(self, world: World, said: IO[bytes], **streams: Any) -> "subprocess.Popen[bytes]":
        reader, writer = os.pipe()
        with world.entered():
            environment = interruptible(
                TMPDIR=str(world.root / "tmp"), TERM="xterm", PYTHONPATH=str(ROOT)
            )
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        argv = [sys.executable, "-c", BOOT, str(writer), *self._verb.command]
        streams = {"stdin": subprocess.PIPE, "stdout": said, "stderr": said, **streams}
        process = subprocess.Popen(
            argv, cwd=world.project, env=environment, pass_fds=[writer], **streams
        )
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        if process.stdin is not None:
            process.stdin.write(self._verb.stdin)
            process.stdin.flush()
            if not self._verb.open_stdin:
                process.stdin.close()
        return process

    def _interrupt(self, process: "subprocess.Popen[bytes]") -> None:
        for number, after in self._signals:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(after)
                return
            process.send_signal(number)
            self.sent += 1


class _Chat(_Run):
    """A conversation on a pseudo-terminal, with Ctrl-C typed at any moment; it ends with Ctrl-D."""

    def start(self, world: World) -> None:
        """Talk to the end."""
        master, slave = pty.openpty()
        with open(os.devnull, "w+b") as nowhere:
            process = self._begun(
                world,
                nowhere,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=False,
                preexec_fn=_terminal,
            )
        os.close(slave)
        heard = b""
        typed = [
            (0.05, b"hello\r"),
            *((after / 4, b"\x03") for _, after in self._signals * 3),
            (0.05, b"hello\r"),
            (0.1, b"\x03\x03"),
        ]
        deadline = time.monotonic() + PATIENCE_S
        due = time.monotonic()
        while process.poll() is None and time.monotonic() < deadline:
            if time.monotonic() >= due:
                after, text = typed.pop(0) if typed else (0.3, b"\x04")
                with contextlib.suppress(OSError):
                    os.write(master, text)
                due = time.monotonic() + after
            if select.select([master], [], [], max(0.0, due - time.monotonic()))[0]:
                with contextlib.suppress(OSError):
                    heard += os.read(master, 65536)
        with contextlib.suppress(OSError):
            while select.select([master], [], [], 0)[0] and (more := os.read(master, 65536)):
                heard += more
        process.kill()
        self.code = process.wait() if time.monotonic() < deadline else -1000
        self.sent = len(self._signals)
        os.close(master)
        self.said = heard.decode("utf-8", "replace")


def _terminal() -> None:
    """Make the terminal on stdin the controlling one of a new session: Ctrl-C that is typed is
    SIGINT.
    """
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _children() -> list[tuple[int, str]]:
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            status, said = (
                Path(f"/proc/{int(name)}/{file}").read_bytes() for file in ("stat", "cmdline")
            )
            if int(status.rpartition(b")")[2].split()[1]) == os.getpid():
                found.append((int(name), said.replace(b"\0", b" ").decode("utf-8", "replace")))
    return found


def _left_processes() -> list[str]:
    """Wait for what has lost its parent, and so is ours; give what does not end, ended."""
    until = time.monotonic() + _END_S
    while left := _children():
        for pid, _ in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > until:
            break
        time.sleep(0.005)
    for pid, _ in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return [line[:300] for _, line in left]


def _adopt() -> None:
    """Become the parent of every process that loses its own, and start none with a signal ignored,
    as shells do in the background.
    """
    for number in SIGNALS:
        signal.signal(
            number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        )
    ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)


def _answer(exchange: Exchange) -> bool:
    time.sleep(0.15)
    return exchange.reply(b'{"sky": "clear"}')


@contextlib.contextmanager
def answering() -> Iterator[int]:
    """Give the port of the server that HTTP tools ask."""
    with Loopback(_answer) as server:
        yield server.port


def figures(verbs: tuple[Interrupted, ...], runs: int, *, seed: int) -> Iterator[Result]:
    """Interrupt each of the commands so many times."""
    _adopt()
    with answering() as port:
        for verb in verbs:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
                yield Sweep(Path(directory).resolve(), verb, port, seed=seed).tried(runs)
                staging.delete(directory)


def _main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "verbs", nargs="*", metavar="VERB", help=", ".join(verb.name for verb in VERBS)
    )
    parser.add_argument(
        "--runs", type=int, default=100, metavar="N", help="of each command; default: 100"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if unknown := set(given.verbs) - {verb.name for verb in VERBS}:
        parser.error(f"no such command here: {', '.join(sorted(unknown))}")
    if sys.platform != "linux":
        raise SystemExit("processes are looked for in Linux's /proc alone")
    results = []
    for result in figures(
        tuple(v for v in VERBS if not given.verbs or v.name in given.verbs),
        given.runs,
        seed=given.seed,
    ):
        results.append(result)
        sys.stderr.write("".join(f"{wrong}\n" for wrong in result.wrong))
        if not given.json:
            codes = ", ".join(f"{code}: {times}" for code, times in sorted(result.ended.items()))
            sys.stdout.write(
                f"{result.verb:22} {result.runs:5} runs, {len(result.wrong)} wrong ({codes})\n"
            )
            sys.stdout.flush()
    wrong = sum(len(result.wrong) for result in results)
    if given.json:
        sys.stdout.write(f"{json.dumps([vars(result) for result in results])}\n")
    else:
        sys.stdout.write(f"{sum(result.runs for result in results)} runs, {wrong} wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(_main())
