"""A process that answers one request at a time: real ones, that also die, hang and talk too
much.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from vespe.processes.answering import AnsweringProcess, NoAnswer

SCRIPT = """
import os, sys, time
out = int(sys.argv[-1])
for line in sys.stdin.buffer:
    word = line.strip().decode()
    if word == "die": os._exit(3)
    if word in ("junk", "-5 head", "9" * 5000): os.write(out, line)
    if word == "hang": time.sleep(60)
    if word == "log": os.write(2, b"x" * 200000 + b"said")
    if word == "print": os.write(1, b"y" * 200000)
    body = word.encode() * (100000 if word == "large" else 1)
    os.write(out, b"%d head\\n" % len(body))
    while body: body = body[os.write(out, body):]
"""


@pytest.fixture
def answering(tmp_path: Path) -> AnsweringProcess:
    return AnsweringProcess(
        (sys.executable, "-I", "-c", SCRIPT), cwd=str(tmp_path), env={}, first=b""
    )


def ask(process: AnsweringProcess, word: str, *, seconds: float = 20.0) -> bytes:
    return process.ask(word.encode() + b"\n", until=time.monotonic() + seconds, cancel=None).body


def test_each_request_gets_its_own_answer_whatever_else_is_written(
    answering: AnsweringProcess,
) -> None:
    asked = ["a", "log", "b", "print", "large", "c"]
    answers = [
        answering.ask(word.encode() + b"\n", until=time.monotonic() + 20, cancel=None)
        for word in asked
    ]
    assert [answer.body[:9] for answer in answers] == [
        b"a",
        b"log",
        b"b",
        b"print",
        b"largelarg",
        b"c",
    ]
    assert [answer.logs[-4:] for answer in answers] == [b"", b"said", b"", b"", b"", b""] and len(
        answers[4].body
    ) == 500_000
    answering.end()


SUPERVISORS = """
import os, sys, time
from vespe.processes import process, signals
from vespe.processes.answering import AnsweringProcess
with signals.raise_on_signals():
    kept = AnsweringProcess((sys.executable, "-I", "-c", "import os, sys; os.write(int(sys.argv[-1]), b'0 head' + bytes([10])); input()"),
                            cwd="/", env={}, first=b"")
    kept.ask(b"x", until=time.monotonic() + 20, cancel=None)
    told = [open(f"/proc/{kept.supervisor}/cmdline").read()]
    told.append(process.run(process.Command(argv=["/bin/sh", "-c", "ps -o args= -p $(ps -o ppid= -p $PPID)"], cwd="/",
                                            env={"PATH": "/usr/bin:/bin"}, timeout_s=20.0)).stdout.decode())
    kept.end()
print(*("raise_on_signals" in one for one in told))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is a fork")
def test_in_a_command_what_lives_on_has_a_supervisor_that_keeps_nothing_of_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISORS], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.split() == ["False", "True"], done.stdout


@pytest.mark.parametrize("word", ["junk", "-5 head", "9" * 5000])
def test_what_a_tool_writes_in_the_place_of_an_answer_is_none_and_ends_its_process(
    answering: AnsweringProcess, word: str
) -> None:
    assert ask(answering, "a") == b"a"
    with pytest.raises(NoAnswer, match="ended"):
        ask(answering, word)
    assert not os.path.exists(f"/proc/{answering.supervisor}/cmdline")


@pytest.mark.parametrize(("word", "reason"), [("die", "ended"), ("hang", "late")])
def test_one_that_dies_or_hangs_gives_no_answer_and_nothing_is_left(
    answering: AnsweringProcess, word: str, reason: str
) -> None:
    ask(answering, "a")
    with pytest.raises(NoAnswer) as caught:
        ask(answering, word, seconds=20.0 if word == "die" else 0.3)
    assert caught.value.reason == reason and not os.path.exists(
        f"/proc/{answering.supervisor}/cmdline"
    )


def test_a_request_that_is_cancelled_ends_the_process(answering: AnsweringProcess) -> None:
    ending = threading.Event()
    threading.Timer(0.2, ending.set).start()
    with pytest.raises(NoAnswer, match="cancelled"):
        answering.ask(b"hang\n", until=time.monotonic() + 20, cancel=ending)


def test_a_request_longer_than_a_pipe_arrives_whole(answering: AnsweringProcess) -> None:
    ask(answering, "a")
    assert ask(answering, "z" * 300_000) == b"z" * 300_000
    answering.end()
