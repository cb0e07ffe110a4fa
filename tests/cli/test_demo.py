"""`vespe demo`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ondisk import PATIENCE_S, interruptible
from tests.support.terminal import plain, vespe_on_a_terminal
from vespe.cli.demo import STEPS


def test_every_step_is_printed_before_its_real_output_and_ends_as_it_should() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vespe", "demo"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n$ vespe ") == len(STEPS) == 8
    for real in ("made .vespe/", "def calc(", "must be one of", "write_file"):
        assert real in done.stdout
    first, again = done.stdout.split("$ vespe agent run")[1:]
    for shown in ("You need 42 pears", "calc ok", "calc invalid_arguments", "write_file denied"):
        assert shown in first and shown in again
    assert "-> calc" in first and "-> calc" not in again
    assert not os.path.exists("/dev/null/no-home-in-tests")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_p31_a_signal_ends_it_and_the_step_that_runs_and_leaves_nothing(
    tmp_path: Path, number: int
) -> None:
    argv = [sys.executable, "-m", "vespe", "demo"]
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=interruptible(TMPDIR=str(tmp_path)),
    ) as demo:
        assert demo.stdout is not None
        while b"$ vespe tool" not in demo.stdout.readline():
            pass
        demo.send_signal(number)
        said = demo.stdout.read()  # to the end of all who write there
        assert demo.wait(PATIENCE_S) == 128 + number
    assert os.listdir(tmp_path) == [] and said.endswith(b"vespe: interrupted\n")


def test_on_a_terminal_the_tools_are_a_table_and_calls_come_before_the_answer() -> None:
    shown = plain(vespe_on_a_terminal("demo", "--fast"))
    assert "read_file          path, start_line=1, line_count?" in shown
    assert (
        shown.index("<- read_file ok")
        < shown.index("<- calc ok")
        < shown.index("You need 42 pears")
    )
    assert "Enter runs it" not in shown and "(exit code" not in shown
