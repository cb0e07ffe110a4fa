"""The supervisor by itself: its protocol, the end of its tree, and what it does where there is no
subreaper (macOS).
"""

import contextlib
import errno
import fcntl
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest

from tests.processes.test_process import ESCAPES, alive, gone, seen
from vespe import defaults
from vespe.processes import child_scripts, process, supervisor

SCRIPT = str(Path(child_scripts.__file__).with_name("supervisor.py"))
MACOS = "import sys; sys.platform = 'darwin'\n"
"""What makes the supervisor take the road that it takes where there is neither a subreaper nor
/proc.
"""
NO_PIDFD = "import os; del os.pidfd_open\n"
SLEEPS = "import time; time.sleep(60)"
BACKGROUND = (
    "import os, signal, sys, time\nsignal.signal(signal.SIGTERM, "
    "signal.SIG_IGN)\nif os.fork():\n    os._exit(0)\ntime.sleep(60)"
)


class Supervised:
    """A supervisor that runs, and our ends of the pipes to it."""

    def __init__(self, *argv: str, prelude: str = "", vespe: int | None = None) -> None:
        control, self.control = os.pipe()
        self.status, status = os.pipe()
        null = os.open(os.devnull, os.O_RDWR)
        # above those that they become; which numbers are free, only the system knows
        moved = [
            fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 6)
            for fd in (control, status, 2, null, null, null)
        ]
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(moved)]
        arguments = [sys.executable, "-I", "-B", "-c", prelude + child_scripts.BOOT]
        self.pid = os.posix_spawn(sys.executable, arguments, dict(os.environ), file_actions=actions)
        for fd in (control, status, null, *moved):
            os.close(fd)
        message = {
            "programs": [[os.fsencode(argument) for argument in argv]],
            "cwd": b"/",
            "env": {b"PATH": b"/usr/bin:/bin"},
            "result": False,
            "vespe": os.getpid() if vespe is None else vespe,
            "given": 6,
            "channel": False,
            "ask": -1,
            "boot": "",
            "sandbox": None,
        }
        os.write(self.control, child_scripts.boot_message(SCRIPT, message))

    def line(self) -> str:
        said = b""
        while not said.endswith(b"\n") and (byte := os.read(self.status, 1)):
            said += byte
        return said.decode("ascii").strip()

    def rest(self) -> str:
        """What the supervisor still says until its end."""
        said = b""
        while more := os.read(self.status, 4096):
            said += more
        os.close(self.status)
        os.close(self.control)
        os.waitpid(self.pid, 0)
        return said.decode("ascii").strip()


def python(source: str, *argv: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", source, *argv)


@pytest.mark.parametrize("prelude", ["", NO_PIDFD, MACOS])
def test_it_tells_the_start_and_the_end_of_its_process(prelude: str) -> None:
    supervised = Supervised("sh", "-c", "exit 7", prelude=prelude)
    assert supervised.line().startswith("S ")
    assert os.waitstatus_to_exitcode(int(supervised.rest().removeprefix("E "))) == 7


def test_it_tells_why_a_process_does_not_start() -> None:
    supervised = Supervised("/no/such/program")
    assert "F 2 exec" in supervised.rest().splitlines()


@pytest.mark.parametrize("prelude", ["", NO_PIDFD, MACOS])
def test_a_grace_ends_a_tree_with_term_and_then_with_kill(prelude: str) -> None:
    marker = f"marker-{uuid4()}"
    supervised = Supervised(
        *python(BACKGROUND.replace("os._exit(0)", "time.sleep(60)"), marker), prelude=prelude
    )
    supervised.line()
    seen(marker, at_least=2)
    os.write(supervised.control, b"0.2\n")
    supervised.rest()
    assert alive(marker) == []


@pytest.mark.parametrize("prelude", ["", NO_PIDFD, MACOS])
def test_the_end_of_the_control_pipe_ends_the_tree(prelude: str) -> None:
    marker = f"marker-{uuid4()}"
    supervised = Supervised(*python(SLEEPS, marker), prelude=prelude)
    supervised.line()
    seen(marker)
    os.close(supervised.control)
    supervised.control = os.open(os.devnull, os.O_RDONLY)
    supervised.rest()
    assert alive(marker) == []


@pytest.mark.parametrize("prelude", ["", MACOS])
def test_what_a_process_leaves_behind_in_its_group_is_ended(prelude: str) -> None:
    marker = f"marker-{uuid4()}"
    supervised = Supervised(*python(BACKGROUND, marker), prelude=prelude)
    assert "E 0" in supervised.rest()
    assert alive(marker) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_a_daemon_of_another_session_is_found_by_the_subreaper() -> None:
    marker = f"marker-{uuid4()}"
    Supervised(*python(ESCAPES, "leave", marker)).rest()
    assert alive(marker) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_p28_a_vespe_that_no_longer_listens_when_the_tool_ends_leaves_no_daemon() -> None:
    marker = f"marker-{uuid4()}"
    supervised = Supervised(*python(ESCAPES, "leave", marker))
    supervised.line()
    os.close(supervised.status)
    os.waitpid(supervised.pid, 0)
    os.close(supervised.control)
    assert alive(marker) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs pidfd")
def test_the_death_of_vespe_is_seen_where_another_process_holds_the_control_pipe() -> None:
    marker = f"marker-{uuid4()}"
    vespe = subprocess.Popen(["sleep", "60"])
    supervised = Supervised(*python(SLEEPS, marker), vespe=vespe.pid)
    supervised.line()
    seen(marker)
    vespe.kill()
    vespe.wait()
    assert gone(marker)
    supervised.rest()


def test_it_outlives_the_signals_that_end_other_processes() -> None:
    supervised = Supervised(
        "sh", "-c", "kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; sleep 0.1; exit 4"
    )
    assert os.waitstatus_to_exitcode(int(supervised.rest().split()[-1])) == 4


def test_a_vespe_that_dies_before_it_says_the_command_leaves_no_supervisor() -> None:
    started = subprocess.run(
        [sys.executable, "-c", child_scripts.BOOT], input=b"\0\0\0", check=False
    )
    assert started.returncode == 1


@pytest.mark.parametrize("junk", [b"zz", b"-1\n", b"nan\n", b"inf", b"\0" * 300, b"\n"])
def test_p27_junk_on_the_control_pipe_neither_ends_the_supervisor_nor_deafens_it(
    junk: bytes,
) -> None:
    marker = f"marker-{uuid4()}"
    supervised = Supervised(*python(ESCAPES, "stay", marker))
    supervised.line()
    seen(marker, at_least=2)
    os.write(supervised.control, junk)
    assert alive(marker) and os.waitpid(supervised.pid, os.WNOHANG) == (0, 0)
    os.write(supervised.control, b"\n0.1\n")
    supervised.rest()
    assert alive(marker) == []


COMET = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
until = time.monotonic() + 30
if os.fork():
    os._exit(0)
os.setsid()
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        while time.monotonic() < until:
            if os.fork():
                os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
@pytest.mark.parametrize("chains", ["1", "64"])
def test_p27_chains_of_processes_that_fork_and_end_are_ended(chains: str) -> None:
    marker = f"marker-{uuid4()}"
    supervised = Supervised(*python(COMET, chains, marker))
    assert "E 0" in supervised.rest()
    assert alive(marker) == []


def test_p27_the_rest_of_a_group_is_killed_with_its_ended_leader_and_no_spared_group() -> None:
    kill = runpy.run_path(SCRIPT)["kill"]
    for spares, left in ((False, 0), (True, 1)):
        marker = f"marker-{uuid4()}"
        source = (
            f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEPS!r}, "
            f"{marker!r}]); print(flush=True)"
        )
        leader = subprocess.Popen(python(source), start_new_session=True)
        # a zombie: its group can be asked for, and it forked just before
        os.waitid(os.P_PID, leader.pid, os.WEXITED | os.WNOWAIT)
        kill(leader.pid, leader.pid if spares else os.getpgrp())
        assert len(alive(marker)) == left if spares else gone(marker)
        leader.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)


STATUS = (
    "import resource; print(open('/proc/self/status').read(), "
    "resource.getrlimit(resource.RLIMIT_CORE))"
)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_tool_can_leave_no_core_and_gain_no_rights_and_can_still_read_itself() -> None:
    said = process.run(
        process.Command(argv=python(STATUS), cwd="/", env={}, timeout_s=20)
    ).stdout.decode()
    assert "NoNewPrivs:\t1" in said and said.endswith("(0, 0)\n")
    own = python("print(len(open('/proc/self/environ').read()))")
    assert (
        process.run(process.Command(argv=own, cwd="/", env={"A": "b"}, timeout_s=20)).stdout
        == b"4\n"
    )


def test_its_grace_for_orphans_is_that_of_the_defaults() -> None:
    assert runpy.run_path(SCRIPT)["ORPHAN_GRACE_S"] == defaults.ORPHAN_GRACE_S


def test_a_tree_without_a_subreaper_is_what_hangs_together_by_parents_and_groups() -> None:
    tree = runpy.run_path(SCRIPT)["Tree"](49, 50)
    here = os.getpid()
    processes = {
        50: (49, 50),
        49: (here, os.getpgrp()),
        51: (50, 50),
        52: (51, 52),
        53: (1, 52),
        54: (1, 50),
        60: (1, 60),
        here: (1, os.getpgrp()),
    }
    assert tree.by_listing(processes) == [49, 50, 51, 52, 53, 54]
    assert tree.by_listing({70: (1, 52), 71: (1, 71), 72: (1, os.getpgrp())}) == [70]


def test_a_tool_that_did_not_start_brings_no_process_group_into_the_tree() -> None:
    tree = runpy.run_path(SCRIPT)["Tree"](49, 0)
    assert tree.by_listing({1: (0, 0), 2: (0, 0), 49: (os.getpid(), os.getpgrp())}) == [49]


def test_the_processes_of_the_machine_are_listed_with_parent_and_group() -> None:
    listed = runpy.run_path(SCRIPT)["listing"]()
    assert listed[os.getpid()] == (os.getppid(), os.getpgrp())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_children_of_a_process_are_found_over_all_its_threads() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert child.pid in runpy.run_path(SCRIPT)["children"](os.getpid())
        assert runpy.run_path(SCRIPT)["children"](child.pid) == []
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert runpy.run_path(SCRIPT)["children"](child.pid) == []


def test_a_program_is_looked_up_in_absolute_directories_only(tmp_path: Path) -> None:
    execute = runpy.run_path(SCRIPT)["execute"]
    (tmp_path / "tool").write_text("", encoding="utf-8")
    for path, expected in (
        (b"relative::.", FileNotFoundError),
        (os.fsencode(tmp_path), PermissionError),
        (b"/etc/hosts:/no", FileNotFoundError),
    ):
        with pytest.raises(expected):
            execute([b"tool"], {b"PATH": path})


def test_a_shorter_grace_replaces_a_longer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    space = runpy.run_path(SCRIPT)
    graces, sent = iter([None, 0.0, None]), []
    left = iter([True, True, True, False])
    tree = SimpleNamespace(left=lambda: next(left), descendants=lambda: [7])
    monkeypatch.setitem(
        space["end"].__globals__, "send", lambda pid, *numbers: sent.append((pid, *numbers))
    )
    monkeypatch.setitem(
        space["end"].__globals__, "kill", lambda pid, spared: sent.append((pid, signal.SIGKILL))
    )
    space["end"](tree, SimpleNamespace(wait=lambda seconds: next(graces)), 60.0)
    assert sent == [(7, signal.SIGTERM, signal.SIGCONT), (7, signal.SIGKILL)]


def test_whoever_shares_this_process_group_is_never_taken_for_the_tools() -> None:
    tree = runpy.run_path(SCRIPT)["Tree"](51, 52)
    here, own = os.getpid(), os.getpgrp()
    # A child that has not left the group yet, and, listed behind it, a stranger in that group.
    assert tree.by_listing({60: (here, own), 61: (1, own), 62: (1, 52)}) == [60, 62]


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked this way elsewhere")
def test_where_its_threads_cannot_be_counted_a_process_is_not_forked_as_it_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> list[str]:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "listdir", broken)
    assert supervisor.is_single() is False
