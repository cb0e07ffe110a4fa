"""A process that lives on: lines to it and from it, and nothing of it left at its end."""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.processes.test_process import alive, gone
from tests.support.ondisk import PATIENCE_S, interruptible
from vespe.errors import ToolExecutionError
from vespe.processes import long_lived
from vespe.processes.long_lived import LastingProcess, Listener, boot_time

ECHO = """
import os, subprocess, sys
out = int(sys.argv[-1])
for line in sys.stdin.buffer:
    if line == b"child\\n":
        subprocess.Popen(["sleep", "600"])
    if line == b"flood\\n":
        os.write(out, b"x" * 1000)
    else:
        os.write(2, b"err " + line)
        os.write(out, line)
if sys.argv[1] == "stay":
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pause()
"""
ROOT = str(Path(long_lived.__file__).parents[2])


class Echo:
    """A process that says again what it is told."""

    def __init__(self, marker: str, mode: str, max_line_bytes: int) -> None:
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        argv = [sys.executable, "-I", "-S", "-c", ECHO, mode, marker]
        environment = {"PATH": os.environ["PATH"]}
        listener = Listener(
            heard=self.lines.put, over=lambda: self.lines.put(None), max_line_bytes=max_line_bytes
        )
        self.process = LastingProcess(argv, cwd="/", env=environment, listener=listener)
        self.process.start()

    def ask(self, line: bytes) -> bytes | None:
        self.process.send(line + b"\n")
        return self.lines.get(timeout=PATIENCE_S)


@contextmanager
def echo(
    mode: str = "go", *, max_line_bytes: int = long_lived.MAX_LINE_BYTES
) -> Iterator[tuple[Echo, str]]:
    marker = f"marker-{uuid4()}"
    made = Echo(marker, mode, max_line_bytes)
    try:
        yield made, marker
    finally:
        made.process.end()
        assert made.process.wait(PATIENCE_S) and alive(marker) == []


def test_lines_go_in_and_come_out_as_often_as_wanted_and_the_longest_too() -> None:
    with echo() as (made, _):
        for line in (b"one", b"two", b"x" * 3_000_000):
            assert made.ask(line) == line


def test_what_was_written_to_stderr_before_a_line_is_there_with_it() -> None:
    with echo() as (made, _):
        for number in range(50):
            mark = made.process.written
            assert made.ask(b"%d" % number) is not None
            assert made.process.said_since(mark) == b"err %d\n" % number


def test_the_end_of_stdin_lets_it_go_and_the_farewell_ends_one_that_stays() -> None:
    for mode in ("go", "stay"):
        with echo(mode) as (made, marker):
            made.ask(b"child")
            made.process.close(farewell_s=0.3)
            assert made.process.wait(PATIENCE_S) and alive(marker) == []
            assert made.lines.get(timeout=PATIENCE_S) is None


def test_one_that_dies_is_told_once_and_what_is_sent_to_it_then_goes_nowhere() -> None:
    with echo() as (made, marker):
        made.ask(b"one")
        os.kill(int(alive(marker)[0].split()[0]), signal.SIGKILL)
        assert made.lines.get(timeout=PATIENCE_S) is None
        made.process.send(b"two\n")
        made.process.close(farewell_s=1)
        assert made.process.wait(0) and made.lines.empty()


def test_a_line_without_an_end_is_not_gathered_for_ever() -> None:
    with echo(max_line_bytes=500) as (made, _):
        assert made.ask(b"flood") is None and made.process.flooded


PLAIN = (
    "import sys\nsys.stderr.write('err')\nfor line in sys.stdin.buffer:\n    print(len(line), "
    "flush=True)\nsys.exit(7)"
)


def test_a_plain_program_is_heard_and_takes_all_that_was_sent_before_its_stdin_ends() -> None:
    lines, said = queue.Queue[bytes | None](), list[bytes]()
    listener = Listener(heard=lines.put, over=lambda: lines.put(None), said=said.append)
    process = LastingProcess([sys.executable, "-c", PLAIN], cwd="/", env={}, listener=listener)
    process.start()
    for size in (1, 3_000_000, 2):
        process.send(b"x" * size + b"\n")
    process.close(farewell_s=PATIENCE_S)
    assert process.wait(PATIENCE_S) and process.wait_for_room(0, seconds=0)
    assert [lines.get(timeout=1) for _ in range(4)] == [b"2", b"3000001", b"3", None]
    assert b"".join(said) == b"err" and process.check_ended() == 7


FLOOD = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for part in (b"x" * 9000, b"y\\n", b"z\\n"):
    os.write(1, part)
"""


def test_of_a_line_that_is_too_long_nothing_is_heard() -> None:
    lines = queue.Queue[bytes | None]()
    listener = Listener(
        heard=lines.put, over=lambda: lines.put(None), said=lambda _: None, max_line_bytes=5000
    )
    process = LastingProcess([sys.executable, "-c", FLOOD], cwd="/", env={}, listener=listener)
    process.start()
    assert lines.get(timeout=PATIENCE_S) is None and process.flooded


def test_a_program_that_cannot_start_and_one_that_is_killed_say_so_at_their_end() -> None:
    for argv, ended in (["no-such-program-here"], None), (["sh", "-c", "kill -9 $$"], 137):
        listener = Listener(heard=print, over=lambda: None, said=lambda _: None)
        process = LastingProcess(argv, cwd="/", env={"PATH": "/usr/bin:/bin"}, listener=listener)
        process.start()
        assert process.wait(PATIENCE_S)
        if ended is None:
            with pytest.raises(ToolExecutionError, match="no-such-program-here"):
                process.check_ended()
        else:
            assert process.check_ended() == ended


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process began")
def test_processes_of_the_tree_that_began_later_are_known() -> None:
    with echo() as (made, _):
        made.ask(b"one")
        threading.Event().wait(0.1)
        before = boot_time()
        assert made.process.born_since(before) == []
        made.ask(b"child")
        assert len(made.process.born_since(before)) == 1


KILLED = """
import sys, time
sys.path.insert(0, {root!r})
from vespe.processes.long_lived import LastingProcess, Listener
argv = [sys.executable, "-c", "import time; time.sleep(600)", {marker!r}]
LastingProcess(argv, cwd="/", env={{}}, listener=Listener(heard=print, over=print)).start()
print("up", flush=True)
time.sleep(600)
"""


def test_p28_when_vespe_is_killed_it_ends_too() -> None:
    marker = f"marker-{uuid4()}"
    source = KILLED.format(root=ROOT, marker=marker)
    with subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, env=interruptible()
    ) as caller:
        assert caller.stdout is not None and caller.stdout.readline() == b"up\n"
        caller.kill()
    assert gone(marker)
