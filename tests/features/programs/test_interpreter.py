"""The processes that run programs: in a sandbox, without what is this process's, and ended at once."""

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installs import install_without
from tests.support.ondisk import PATIENCE_S
from vespe.calls.sandboxing import machine
from vespe.errors import Interrupted, ProgramFailed, Refused, TimedOut
from vespe.features.programs import interpreter

pytest.importorskip("pydantic_monty")
LOOP = "while True: pass"


def test_a_worker_is_in_the_sandbox_and_has_nothing_of_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_SECRET", "hunter2")
    if machine().level not in ("namespaces", "landlock"):
        pytest.skip("this machine has no sandbox")
    with interpreter.session("auto", timeout_s=PATIENCE_S) as held:
        pid = held.watched.pid
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            said = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        assert said["NoNewPrivs"] == "1" and said["Seccomp"] == "2"
        if os.access(f"/proc/{pid}/environ", os.R_OK):
            with open(f"/proc/{pid}/environ", encoding="ascii") as file:
                assert file.read() == "PATH=/usr/bin:/bin\0LANG=C.UTF-8\0"
        assert held.turn(lambda: held.inner.feed_run("1 + 1")) == 2


def test_a_worker_whose_time_is_over_is_ended() -> None:
    with (
        pytest.raises(TimedOut, match=r"within 0\.2 s"),
        interpreter.session("auto", timeout_s=0.2) as held,
    ):
        held.turn(lambda: held.inner.feed_run(LOOP))
    with interpreter.session("auto", timeout_s=PATIENCE_S) as held:  # and there is another one
        assert held.turn(lambda: held.inner.feed_run("2")) == 2


def test_a_worker_is_ended_where_its_caller_cancels() -> None:
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    with (
        pytest.raises(Interrupted),
        interpreter.session("auto", timeout_s=PATIENCE_S, cancel=cancel) as held,
    ):
        held.turn(lambda: held.inner.feed_run(LOOP))


def test_ctrl_c_ends_a_worker_that_computes() -> None:
    before = signal.set_wakeup_fd(-1)
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with (
        pytest.raises(KeyboardInterrupt),
        interpreter.session("auto", timeout_s=PATIENCE_S) as held,
    ):
        held.turn(lambda: held.inner.feed_run(LOOP))
        time.sleep(PATIENCE_S)
    assert signal.set_wakeup_fd(before) == -1


def test_a_worker_that_dies_is_an_error_of_the_program() -> None:
    with interpreter.session("auto", timeout_s=PATIENCE_S) as held:
        os.kill(held.watched.pid, signal.SIGKILL)
        with pytest.raises(ProgramFailed, match="that ran the program ended"):
            held.turn(lambda: held.inner.feed_run("1"))


def test_a_sandbox_that_is_required_and_missing_is_refused() -> None:
    if machine().level != "off":
        with interpreter.session("require", timeout_s=PATIENCE_S) as held:
            assert held.turn(lambda: held.inner.feed_run("1")) == 1
        return
    with pytest.raises(Refused), interpreter.session("require", timeout_s=PATIENCE_S):
        pass


def test_a_process_that_is_forked_off_is_refused_and_does_not_hang() -> None:
    with interpreter.session("auto", timeout_s=PATIENCE_S) as held:
        assert held.turn(lambda: held.inner.feed_run("1")) == 1
    if (child := os.fork()) == 0:
        code = 1
        try:
            with interpreter.session("auto", timeout_s=PATIENCE_S):
                pass
        except ProgramFailed as error:
            code = 0 if "forked" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    with interpreter.session("auto", timeout_s=PATIENCE_S) as held:
        assert held.turn(lambda: held.inner.feed_run("2")) == 2


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A directory in the temporary directory that all processes share."""
    with tempfile.TemporaryDirectory(prefix="vespe-i-", dir="/tmp") as made:
        yield Path(made)


_ONE_SESSION = """
from vespe.features.programs import interpreter
with interpreter.session("auto", timeout_s=60) as held:
    print(held.turn(lambda: held.inner.feed_run("1 + 1")))
"""


def test_an_installation_in_the_temporary_directory_runs_programs(
    tmp_path: Path, temporary: Path
) -> None:
    install = install_without(temporary / "venv")
    shutil.copy(interpreter._binary(), temporary / "venv/bin/monty")
    assert install.run("-c", _ONE_SESSION, cwd=tmp_path).stdout == "2\n"


def test_a_process_that_ends_at_its_start_is_an_error_and_no_bug(
    tmp_path: Path, temporary: Path
) -> None:
    install = install_without(temporary / "venv")
    broken = temporary / "venv/bin/monty"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    said = install.run("-c", _ONE_SESSION, cwd=tmp_path).stderr
    assert "ProgramFailed: the process that runs programs did not start" in said
    assert "hint: run `vespe doctor`" in said
