"""Sandboxed programs that a supervisor starts from a thread, without a fork of its interpreter."""

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, write_tool
from vespe import Project
from vespe.calls.sandboxing import machine
from vespe.processes import supervisor
from vespe.projects.init import found_project

LEVEL = machine().level
pytestmark = pytest.mark.skipif(LEVEL != "namespaces", reason="no sandbox with namespaces here")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
LEAVES = "sleep 60 & echo $! > child; setsid sh -c 'echo $$ > daemon; exec sleep 60' & "
WAITS = "while ! [ -e go ]; do sleep 0.02; done; "
TELLS = """
import json, os, resource
with open("/proc/self/status", encoding="utf-8") as file:
    status = dict(line.split(":", 1) for line in file)
told = "SigBlk SigIgn SigCgt CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp Seccomp_filters"
told += " Uid Gid Umask"
print(json.dumps({
    "status": {name: status[name].strip() for name in told.split()},
    "descriptors": [fd for fd in range(64) if os.path.exists(f"/proc/self/fd/{fd}")],
    "limits": [resource.getrlimit(number) for number in range(16)],
    "is_alone": os.getsid(0) == os.getpgrp() == os.getpid(),
    "environment": {**os.environ, "TMPDIR": ""},
    "directory": os.getcwd(),
    "unlike_the_first": [
        os.readlink(f"/proc/self/ns/{name}") != given
        for name, given in json.loads(os.environ["LC_SPACES"]).items()
    ],
    "seen": [len(os.listdir(place)) for place in ("/dev/shm", "/tmp", os.environ["TMPDIR"])],
}))
"""


@pytest.fixture
def root(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    spaces = {name: os.readlink(f"/proc/self/ns/{name}") for name in ("mnt", "ipc", "pid", "net")}
    monkeypatch.setenv("LC_SPACES", json.dumps(spaces))
    root = tmp_path / "project"
    root.mkdir()
    found_project(root)
    python = ["python3", "-I", "-B", "-c", "{text}"]
    for name, argv, permissions in (
        ("sh", ["sh", "-c", "{text}"], {}),
        ("python", python, {}),
        ("limited", python, {"memory_mb": 512}),
        ("closed", python, {"network": [], "write": ["."]}),
        ("absent", ["no-such-program", "{text}"], {}),
    ):
        shell = {"type": "shell_command", "entrypoint": argv[0], "args": {"argv": argv[1:]}}
        write_tool(
            root / f".vespe/tools/tool-{name}",
            name,
            schema=TEXT,
            implementation=shell,
            permissions=permissions,
        )
    shutil.copy("/bin/sh", root / "starter")
    hanging = write_tool(
        root / ".vespe/tools/tool-hanging",
        "hanging",
        schema={"type": "object"},
        implementation={"type": "shell_command", "path": "hanging", "args": {"argv": []}},
        files={"hanging": f"#!{root}/starter\necho run >> runs\n"},
    )
    (hanging / "hanging").chmod(0o755)
    wordless = write_tool(
        root / ".vespe/tools/tool-wordless",
        "wordless",
        schema=TEXT,
        implementation={"type": "shell_command", "path": "wordless", "args": {"argv": ["{text}"]}},
        files={"wordless": "neither a format nor a first line"},
    )
    (wordless / "wordless").chmod(0o755)
    return root


@pytest.fixture
def project(root: Path) -> Iterator[Project]:
    with Project(root, trusted=True) as project:
        yield project


def supervisors() -> set[int]:
    return {
        one for zygote in supervisor.children(os.getpid()) for one in supervisor.children(zygote)
    }


def supervisor_of(text: str) -> int:
    """Return the supervisor that runs the program whose command has this text."""
    [found] = [
        one
        for one in supervisors()
        for program in supervisor.children(one)
        if text in Path(f"/proc/{program}/cmdline").read_text("utf-8")
    ]
    return found


def soon(condition: Callable[[], Any]) -> Any:
    """Wait until something holds, and return it."""
    until = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


def meanwhile(project: Project, text: str, **how: Any) -> tuple[threading.Thread, list[Any]]:
    """Make a call in a thread, and return it with the list that gets its outcome."""
    got: list[Any] = []
    thread = threading.Thread(
        target=lambda: got.append(project.execute_tool("sh", {"text": text}, **how))
    )
    thread.start()
    return thread, got


KEEPS = """
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, lambda *_: print("wanted", flush=True))
try:
    fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError as error:
    print(error, flush=True)
print("kept", flush=True)
while True:
    signal.pause()
"""


def locks() -> str:
    return re.sub(" +", " ", Path("/proc/locks").read_text("utf-8"))


@contextlib.contextmanager
def kept(path: Path) -> Iterator[tuple[Callable[[], str], Callable[[], bool]]]:
    """Let all that open or start a file wait, for 45 s at most; gives what waits until one does,
    and what says whether that time is not over.
    """
    with subprocess.Popen(
        [sys.executable, "-c", KEEPS, str(path)],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as keeper:
        assert keeper.stdout is not None
        try:
            if (said := keeper.stdout.readline()) != "kept\n":
                pytest.skip(f"this file system has no leases: {said}")
            waits = f" LEASE BREAKING READ {keeper.pid} "
            yield keeper.stdout.readline, lambda: waits in locks()
        finally:
            keeper.kill()


def is_gone(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def named(root: Path, *names: str) -> bool:
    return all((root / name).exists() and (root / name).read_text("utf-8") for name in names)


def below_all() -> list[int]:
    """All below the supervisors, by their numbers outside of the namespaces."""
    return [pid for one in supervisors() for pid in supervisor.below(one)]


@pytest.mark.parametrize("name", ["python", "closed", "limited"])
def test_a_program_has_all_that_one_from_an_interpreter_of_its_own_has(
    root: Path, project: Project, name: str
) -> None:
    alone = Project(root, trusted=True).call(name, text=TELLS)
    found = [project.call(name, text=TELLS) for _ in range(3)]
    wanted = json.loads(alone.unwrap())
    assert [json.loads(one.unwrap()) for one in found] == [wanted] * 3
    assert [one.sandbox for one in found] == [alone.sandbox] * 3
    assert wanted["is_alone"] and wanted["status"]["Seccomp"] == "2"
    assert wanted["unlike_the_first"] == [True, True, True, name == "closed"]


def test_a_program_that_does_not_start_says_why(root: Path, project: Project) -> None:
    alone = Project(root, trusted=True)
    for name in ("absent", "wordless") * 2:
        error, wanted = project.call(name, text="").error, alone.call(name, text="").error
        assert error is not None and wanted is not None
        assert (error.code, error.message, error.hint) == (wanted.code, wanted.message, wanted.hint)
    assert project.call("sh", text="echo on").unwrap() == "on\n"


def test_a_program_and_all_that_it_started_end_at_the_deadline(
    root: Path, project: Project
) -> None:
    project.call("sh", text="true").unwrap()
    thread, got = meanwhile(project, LEAVES + "wait", timeout_s=4)
    soon(lambda: named(root, "child", "daemon"))
    left = below_all()
    thread.join()
    assert got[0].error.code == "timed_out" and len(left) >= 3
    assert all(map(is_gone, left))
    assert project.call("sh", text="echo on").unwrap() == "on\n"


def test_a_program_and_all_that_it_started_end_with_a_call_that_is_cancelled(
    root: Path, project: Project
) -> None:
    project.call("sh", text="true").unwrap()
    cancel = threading.Event()
    thread, got = meanwhile(project, LEAVES + "wait", cancel=cancel)
    soon(lambda: named(root, "child", "daemon"))
    left = below_all()
    cancel.set()
    thread.join()
    assert got[0].error.code == "interrupted" and len(left) >= 3
    assert all(map(is_gone, left))


def test_what_a_program_leaves_ends_with_its_call(root: Path, project: Project) -> None:
    for _ in range(2):
        assert project.call("sh", text=LEAVES + WAITS.replace("go", "daemon")).ok
        assert not below_all()
        (root / "daemon").unlink()


def test_a_killed_supervisor_ends_its_program_which_is_not_run_again(
    root: Path, project: Project
) -> None:
    project.call("sh", text="true").unwrap()
    thread, got = meanwhile(project, "echo begun >> begun; " + LEAVES + "wait")
    soon(lambda: named(root, "child", "daemon"))
    left = below_all()
    for one in supervisors():
        os.kill(one, signal.SIGKILL)
    thread.join()
    assert "ended together with the process that watched it" in got[0].error.message
    assert (root / "begun").read_text("utf-8") == "begun\n" and len(left) >= 3
    assert all(map(is_gone, left))
    assert project.call("sh", text="echo on").unwrap() == "on\n"


def test_a_program_and_all_that_it_started_end_with_a_vespe_that_is_killed(root: Path) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            with Project(root, trusted=True) as project:
                project.call("sh", text="true").unwrap()
                project.call("sh", text=LEAVES + "wait")
        finally:
            os._exit(1)
    soon(lambda: named(root, "child", "daemon"))
    left = supervisor.below(pid)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert len(left) >= 5  # a zygote, a supervisor, a program and what it started
    soon(lambda: all(map(is_gone, left)))


def test_a_program_whose_start_hangs_does_not_run_after_its_call(
    root: Path, project: Project
) -> None:
    project.call("hanging").unwrap()
    with kept(root / "starter") as (wanted, _):
        late = project.execute_tool("hanging", {}, timeout_s=0.5).error
        assert late is not None and late.code == "timed_out"
        assert wanted() == "wanted\n" and not supervisors()
    project.call("hanging").unwrap()
    assert (root / "runs").read_text("utf-8") == "run\n" * 2


def test_a_program_whose_start_hangs_does_not_run_after_vespe_was_killed(root: Path) -> None:
    ready, begin = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with Project(root, trusted=True) as project:
                project.call("hanging").unwrap()
                os.write(ready[1], b".")
                os.read(begin[0], 1)
                project.call("hanging")
        finally:
            os._exit(1)
    os.read(ready[0], 1)
    with kept(root / "starter") as (wanted, is_waited_for):
        os.write(begin[1], b".")
        assert wanted() == "wanted\n"
        left = supervisor.below(pid)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        soon(lambda: all(map(is_gone, left)))
        assert is_waited_for()
    for descriptor in (*ready, *begin):
        os.close(descriptor)
    assert (root / "runs").read_text("utf-8") == "run\n" and len(left) >= 3


def test_limits_that_a_program_gives_its_supervisor_are_not_the_next_program_s(
    root: Path, project: Project
) -> None:
    wanted = json.loads(project.call("python", text=TELLS).unwrap())["limits"]
    most = project.call("sh", text="ulimit -f").unwrap()
    thread, got = meanwhile(project, "echo > begun; " + WAITS)
    soon(lambda: (root / "begun").exists())
    # The other tool's may be there too; no program reaches that of another one.
    resource.prlimit(supervisor_of("echo > begun; "), resource.RLIMIT_FSIZE, (4096, 4096))
    (root / "go").write_text("", encoding="utf-8")
    thread.join()
    assert got[0].ok
    assert project.call("sh", text="ulimit -f").unwrap() == most
    assert json.loads(project.call("python", text=TELLS).unwrap())["limits"] == wanted


def test_a_program_s_effect_happens_once_where_supervisors_are_killed_at_any_moment(
    root: Path, project: Project
) -> None:
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.003):
            for one in supervisors():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)

    project.call("sh", text="true").unwrap()
    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = []
    try:
        for number in range(60):
            outcomes.append(project.call("sh", text=f"echo {number} >> done"))
    finally:
        over.set()
        killer.join()
    done = (root / "done").read_text("utf-8").split() if (root / "done").exists() else []
    assert len(set(done)) == len(done)
    assert {str(number) for number, one in enumerate(outcomes) if one.ok} <= set(done)
    assert project.call("sh", text="echo on").unwrap() == "on\n"


def test_two_callers_have_a_program_each(root: Path, project: Project) -> None:
    outcomes = list(
        project.batch("sh", ({"text": f"echo {number}"} for number in range(40)), jobs=2)
    )
    assert sorted(int(one.unwrap()) for one in outcomes) == list(range(40))
