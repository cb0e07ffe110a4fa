"""Processes that are asked to end: what they run ends first, and what they made goes away."""

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
from tests.support import ondisk
from vespe.processes.signals import (
    Terminated,
    go_on,
    interruptible,
    raise_on_signals,
    signal_of,
    uninterruptible,
)

CALLER = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from vespe.files.private_copy import private_copy
from vespe.processes.process import Command, run
from vespe.processes.signals import signal_of, raise_on_signals
try:
    with raise_on_signals(), private_copy(sys.argv[3], "tool-a"):
        print("copied", flush=True)
        run(Command(argv=[sys.executable, "-I", "-S", "-c", sys.argv[1], "stay", sys.argv[2]], cwd="/", env={{}}, timeout_s=60))
except KeyboardInterrupt as interruption:
    sys.exit(128 + signal_of(interruption))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_p31_a_signal_that_asks_for_the_end_ends_the_tree_and_removes_the_copy(
    number: signal.Signals, tmp_path: Path
) -> None:
    marker = f"marker-{uuid4()}"
    scratch, original = tmp_path / "scratch", tmp_path / "original" / "tool-a"
    scratch.mkdir()
    original.mkdir(parents=True)
    arguments = [sys.executable, "-c", CALLER, ESCAPES, marker, str(original.parent)]
    with subprocess.Popen(
        arguments, env=ondisk.interruptible(TMPDIR=str(scratch)), stdout=subprocess.PIPE
    ) as caller:
        assert caller.stdout is not None and caller.stdout.readline() == b"copied\n"
        while len(alive(marker)) < 3:  # the caller has the marker too
            assert caller.poll() is None
        assert len(list(scratch.iterdir())) == 1
        caller.send_signal(number)
    assert caller.returncode == 128 + number
    assert alive(marker) == [] and list(scratch.iterdir()) == []


def test_a_second_signal_does_not_disturb_the_end() -> None:
    with pytest.raises(Terminated, match="ended by SIGTERM"), raise_on_signals():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == (
        signal.SIG_DFL,
        signal.SIG_DFL,
    )


def test_a_signal_that_comes_when_tidying_up_takes_too_long_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("vespe.processes.signals._PATIENCE_S", 0.0)
    with raise_on_signals():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Terminated, match="ended by SIGTERM"):
            os.kill(os.getpid(), signal.SIGTERM)


DROPS = f"""
import os, signal, sys, time, weakref
sys.path.insert(0, {str(ROOT)!r})
from vespe.processes.signals import raise_on_signals
class Thing:
    pass
def ends(_):
    os.kill(os.getpid(), signal.SIGTERM)
    len("the handler has run by now")
try:
    with raise_on_signals():
        thing = Thing()
        seen = weakref.ref(thing, ends)
        del thing
        time.sleep(60)
except KeyboardInterrupt as interruption:
    print(type(interruption).__name__)
"""


def test_a_signal_whose_exception_python_drops_comes_again() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DROPS],
        env=ondisk.interruptible(),
        capture_output=True,
        timeout=ondisk.PATIENCE_S,
    )
    assert (done.stdout, done.stderr) == (b"Terminated\n", b"")


def test_what_the_program_ignores_or_handles_stays_so() -> None:
    def own(*_: object) -> None:
        """Stand for a handler of the program's own."""

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.signal(signal.SIGTERM, own)
    try:
        with raise_on_signals():
            assert (signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)) == (
                signal.SIG_IGN,
                own,
            )
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.signal(signal.SIGTERM, before[1])


def test_in_another_thread_nothing_is_changed() -> None:
    seen = []

    def look() -> None:
        with raise_on_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def test_the_signal_is_found_behind_what_wraps_it() -> None:
    wrapped = click.Abort()
    wrapped.__cause__ = Terminated(signal.SIGHUP)
    assert (signal_of(wrapped), signal_of(Terminated(signal.SIGTERM))) == (
        signal.SIGHUP,
        signal.SIGTERM,
    )
    assert (signal_of(KeyboardInterrupt()), signal_of(None)) == (signal.SIGINT, signal.SIGINT)


def interrupted() -> str:
    """Say what Ctrl-C does here."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        return "raised"
    return "waits"


def test_a_signal_waits_for_the_end_of_the_outermost_section() -> None:
    said = []
    with raise_on_signals(), pytest.raises(Terminated, match="SIGTERM"):
        with uninterruptible():
            with uninterruptible():
                signal.raise_signal(signal.SIGTERM)
                said.append("inner")
            said.append("outer")
        said.append("behind")
    assert said == ["inner", "outer"]


def test_what_waits_in_a_section_is_interrupted_and_the_section_holds_again() -> None:
    with raise_on_signals():
        with uninterruptible():
            with interruptible():
                assert interrupted() == "raised"
            go_on()
            assert interrupted() == "waits"
            with pytest.raises(KeyboardInterrupt), interruptible():
                pytest.fail("the signal that waited comes first")
        go_on()
        assert interrupted() == "raised"


def test_what_an_exception_leaves_of_a_section_is_mended_by_the_outer_one() -> None:
    with raise_on_signals():
        with uninterruptible():
            interruptible().__enter__()
        go_on()
        with uninterruptible():
            assert interrupted() == "waits"
            with pytest.raises(KeyboardInterrupt), interruptible():
                pass


def test_sections_of_other_threads_hold_nothing_back() -> None:
    begun, over = threading.Event(), threading.Event()

    def other() -> None:
        with uninterruptible():
            begun.set()
            over.wait()

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait()
    with raise_on_signals():
        assert interrupted() == "raised"
    over.set()
    thread.join()


def test_a_program_that_handles_signals_itself_keeps_its_handlers_during_a_call(
    tmp_path: Path,
) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with uninterruptible():
            signal.raise_signal(signal.SIGTERM)
            assert (heard, signal.getsignal(signal.SIGTERM)) == ([signal.SIGTERM], handler)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_goes_on_after_an_interruption_hears_the_next_at_once() -> None:
    heard = 0
    with raise_on_signals():
        for _ in range(3):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                heard += 1
                go_on()
    assert heard == 3
