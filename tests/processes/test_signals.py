"""Processes that are asked to end: what they run ends first, and what they made goes away."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from uuid import uuid4

import click
import pytest

from tests.processes.test_process import ESCAPES, ROOT, alive
from tests.support.ondisk import interruptible
from vespe.processes.signals import Terminated, go_on, own_handlers_wait, signal_of, termination_as_interrupt, whole

CALLER = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from vespe.files.private_copy import private_copy
from vespe.processes.process import Command, run
from vespe.processes.signals import signal_of, termination_as_interrupt
try:
    with termination_as_interrupt(), private_copy(sys.argv[3], "tool-a"):
        print("copied", flush=True)
        run(Command(argv=[sys.executable, "-I", "-S", "-c", sys.argv[1], "stay", sys.argv[2]], cwd="/", env={{}}, timeout_s=60))
except KeyboardInterrupt as interruption:
    sys.exit(128 + signal_of(interruption))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_p31_a_signal_that_asks_for_the_end_ends_the_tree_and_removes_the_copy(number: signal.Signals, tmp_path: Path) -> None:
    marker = f"marker-{uuid4()}"
    scratch, original = tmp_path / "scratch", tmp_path / "original" / "tool-a"
    scratch.mkdir()
    original.mkdir(parents=True)
    arguments = [sys.executable, "-c", CALLER, ESCAPES, marker, str(original.parent)]
    with subprocess.Popen(arguments, env=interruptible(TMPDIR=str(scratch)), stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None and caller.stdout.readline() == b"copied\n"
        while len(alive(marker)) < 3:  # the caller has the marker too
            assert caller.poll() is None
        assert len(list(scratch.iterdir())) == 1
        caller.send_signal(number)
    assert caller.returncode == 128 + number
    assert alive(marker) == [] and list(scratch.iterdir()) == []


def test_a_second_signal_does_not_disturb_the_end() -> None:
    with pytest.raises(Terminated, match="ended by SIGTERM"), termination_as_interrupt():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == (signal.SIG_DFL, signal.SIG_DFL)


def test_a_signal_that_comes_when_tidying_up_takes_too_long_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vespe.processes.signals._PATIENCE_S", 0.0)
    with termination_as_interrupt():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Terminated, match="ended by SIGTERM"):
            os.kill(os.getpid(), signal.SIGTERM)


def test_what_the_program_ignores_or_handles_stays_so() -> None:
    def own(*_: object) -> None:
        """Stand for a handler of the program's own."""

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.signal(signal.SIGTERM, own)
    try:
        with termination_as_interrupt():
            assert (signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)) == (signal.SIG_IGN, own)
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.signal(signal.SIGTERM, before[1])


def test_in_another_thread_nothing_is_changed() -> None:
    seen = []

    def look() -> None:
        with termination_as_interrupt():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def test_the_signal_is_found_behind_what_wraps_it() -> None:
    wrapped = click.Abort()
    wrapped.__cause__ = Terminated(signal.SIGHUP)
    assert (signal_of(wrapped), signal_of(Terminated(signal.SIGTERM))) == (signal.SIGHUP, signal.SIGTERM)
    assert (signal_of(KeyboardInterrupt()), signal_of(None)) == (signal.SIGINT, signal.SIGINT)


LOST = """
import os, signal, sys
sys.path.insert(0, {root!r})
from vespe.processes import signals as termination
class Noted:
    def __set_name__(self, owner, name):
        raised.append(interrupted())
class Deleted:
    def __del__(self):
        raised.append(interrupted())
@termination.whole
def written():
    raised.append(interrupted())
@termination.open_to_signals
def waited():
    raised.append(interrupted())
@termination.whole
def waiting():
    waited()
def interrupted():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        return "raised"
    return "waits"
def tried(act):
    try:
        with termination.termination_as_interrupt():
            try:
                act()
                while True:
                    signal.pause()
            except KeyboardInterrupt:
                os.kill(os.getpid(), signal.SIGINT)
                raise
    except KeyboardInterrupt:
        ended.append(act)
raised, ended = [], []
def imported():
    import antigravity_of_a_test
for act in (written, Deleted, imported):
    tried(act)
with termination.termination_as_interrupt():
    waiting()
print(raised, len(ended))
"""
MODULE = """
from __main__ import interrupted, raised
raised.append(interrupted())
"""


def test_an_interruption_waits_in_what_is_whole_and_comes_then_and_a_second_one_does_not_disturb_it(tmp_path: Path) -> None:
    (tmp_path / "antigravity_of_a_test.py").write_text(MODULE, encoding="utf-8")
    environment = interruptible(PYTHONPATH=str(tmp_path))
    arguments = [sys.executable, "-c", LOST.format(root=str(ROOT))]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.stdout, done.stderr) == ("['waits', 'waits', 'waits', 'raised'] 3\n", "")


def test_what_goes_on_after_an_interruption_hears_the_next_at_once() -> None:
    heard = 0
    with termination_as_interrupt():
        for _ in range(3):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                heard += 1
                go_on()
    assert heard == 3


def test_the_handlers_of_a_program_wait_for_what_is_whole_and_are_its_own_again() -> None:
    said: list[str] = []

    def own(*_: object) -> None:
        said.append("handled")

    @whole
    def act() -> None:
        with own_handlers_wait():
            signal.raise_signal(signal.SIGTERM)
            said.append("acted")

    before = signal.signal(signal.SIGTERM, own)
    try:
        act()
        while said[-1] != "handled":
            signal.sigtimedwait([], 0.01)
        assert said == ["acted", "handled"] and signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_handler_that_the_program_sets_meanwhile_stays() -> None:
    def own(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    before = signal.signal(signal.SIGTERM, own)
    try:
        with own_handlers_wait():
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


class _Raising:
    """A handler that raises; its signal comes when somebody looks closely at it."""

    @property
    def __self__(self) -> object:
        signal.raise_signal(signal.SIGTERM)
        return None

    def __call__(self, *_: object) -> None:
        raise InterruptedError


def test_a_handler_that_raises_while_handlers_are_set_leaves_none_behind() -> None:
    before = signal.getsignal(signal.SIGINT), signal.signal(signal.SIGTERM, _Raising())
    try:
        with pytest.raises(InterruptedError), own_handlers_wait():
            pass
        assert signal.getsignal(signal.SIGINT) is before[0]
    finally:
        signal.signal(signal.SIGTERM, before[1])


def test_a_loop_of_asyncio_hears_once_of_a_signal_that_comes_in_what_is_whole() -> None:
    heard: list[int] = []

    @whole
    def act() -> None:
        signal.raise_signal(signal.SIGTERM)

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, heard.append, 1)
        with own_handlers_wait():
            act()
            for _ in range(3):
                signal.sigtimedwait([], 0.01)
        while not heard:
            await asyncio.sleep(0)
        for _ in range(3):
            await asyncio.sleep(0)
        loop.remove_signal_handler(signal.SIGTERM)

    asyncio.run(serve())
    assert heard == [1]
