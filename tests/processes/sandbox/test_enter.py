"""A process that has entered: what it is held to, by doing it, as a supervisor's child does."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vespe.models import Permissions
from vespe.processes.process import Command, Finished, run
from vespe.processes.sandbox import levels
from vespe.processes.sandbox.policy import ToolSurroundings, policy

LEVELS = [level for level in levels.LEVELS if level in ("namespaces", "landlock")]


def held(
    tmp_path: Path,
    level: str,
    script: str,
    argv: tuple[str, ...] = (),
    starts: tuple[str, ...] = ("sh",),
    **stated: object,
) -> Finished:
    machine = levels.machine()
    if levels.LEVELS.index(machine.level) > levels.LEVELS.index(level):
        pytest.skip(f"this machine has {machine.level!r} at best")
    for name in ("project", "scratch"):
        (tmp_path / name).mkdir(exist_ok=True)
    project = str(tmp_path / "project")
    where = ToolSurroundings(
        project=project,
        directory=project,
        scratch=str(tmp_path / "scratch"),
        path=os.defpath,
        starts=starts,
    )
    made = policy(machine, level, Permissions(**stated), where)  # type: ignore[arg-type]  # a row of the table
    return run(
        Command(
            argv=argv or ("/bin/sh", "-c", script),
            cwd=project,
            env={"PATH": os.defpath, **made.environment},
            timeout_s=20,
            sandbox=made,
        )
    )


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_reads_and_writes_where_it_may_and_nowhere_else(
    home: Path, tmp_path: Path, level: str
) -> None:
    (home / ".ssh").mkdir()
    (home / ".ssh/key").write_text("k", encoding="utf-8")
    (home / "notes").write_text("n", encoding="utf-8")
    done = held(
        tmp_path,
        level,
        f"echo a > a; cat a {home}/notes; cat {home}/.ssh/key; echo b > {tmp_path}/b; "
        f"echo c > {home}/c",
    )
    assert done.stdout == b"a\nn" and done.stderr.count(b"\n") == 3, done.stderr
    assert not (tmp_path / "b").exists() and not (home / "c").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_memory_is_bounded_and_a_program_that_is_not_stated_does_not_start(
    tmp_path: Path, level: str
) -> None:
    grow = (
        "head -c 200000000 /dev/zero | tail >/dev/null && echo grew; "
        "ls / >/dev/null && echo listed; echo end"
    )
    assert held(tmp_path, level, grow, memory_mb=64).stdout == b"listed\nend\n"
    assert (
        held(
            tmp_path,
            level,
            "ls / && echo listed; head -c1 /dev/null && echo head",
            programs=["head"],
        ).stdout
        == b"head\n"
    )


@pytest.mark.parametrize("level", LEVELS)
def test_a_place_that_becomes_a_link_after_it_was_decided_on_opens_nothing(
    home: Path, tmp_path: Path, level: str
) -> None:
    for name in ("project/docs/in", "elsewhere/in"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a").write_text(name, encoding="utf-8")
    script = f"cat docs/in/a; cat {tmp_path}/elsewhere/in/a; true"
    done = held(tmp_path, level, script, read=("docs/in",))
    assert done.stdout == b"project/docs/in"
    machine = levels.machine()
    where = ToolSurroundings(
        project=str(tmp_path / "project"),
        directory=str(tmp_path / "scratch"),
        scratch=str(tmp_path / "scratch"),
        path=os.defpath,
    )
    made = policy(machine, level, Permissions(read=("docs/in",)), where)
    (tmp_path / "project/docs").rename(tmp_path / "project/before")
    (tmp_path / "project/docs").symlink_to(tmp_path / "elsewhere")
    done = run(
        Command(
            argv=("/bin/sh", "-c", script),
            cwd=str(tmp_path / "scratch"),
            env={"PATH": os.defpath},
            timeout_s=20,
            sandbox=made,
        )
    )
    assert done.stdout == b"" and b"docs/in/a: " in done.stderr, done.stderr


def test_a_program_sees_no_process_but_its_own_and_what_it_leaves_is_ended(tmp_path: Path) -> None:
    if levels.machine().processes:
        pytest.skip("this machine has no namespaces of processes")
    script = (
        "trap 'echo told > told; exit' TERM; (sleep 60 & wait) & "
        "echo $$ $PPID; ls /proc | grep -c '^[0-9]'; kill -9 $PPID; echo went on"
    )
    done = held(tmp_path, "namespaces", script)
    assert done.stdout.split(b"\n")[0] == b"2 1" and int(done.stdout.split()[2]) <= 6
    assert done.stdout.endswith(b"went on\n") and done.returncode == 0


def test_a_program_that_kills_itself_is_told_as_killed(tmp_path: Path) -> None:
    for level in LEVELS:
        assert held(tmp_path, level, "kill -TERM $$").signal == 15


TWINS = {
    "threads": (
        sys.executable,
        "-c",
        "import os, threading\n"
        "one = threading.Thread(target=os.sched_setaffinity, args=(0, os.sched_getaffinity(0)))\n"
        "one.start(), one.join(), os.nice(1)\nprint(42)",
    ),
    "many threads": (
        sys.executable,
        "-c",
        "import threading, time\nmany = [threading.Thread(target=bytearray, args=(1 << 20,)) "
        "for _ in range(64)]\n[one.start() for one in many], [one.join() for one in many]\n"
        "print(42)",
    ),
    "numpy": (sys.executable, "-c", "import numpy\nprint(int(numpy.ones((6, 7)).sum()))"),
    "node": (
        "node",
        "-e",
        "require('os').setPriority(19); const w = require('worker_threads');"
        "new w.Worker('console.log(42)', {eval: true})",
    ),
    # One of Go, one of Rust, and the machine that reserves most.
    "go": ("age-keygen",),
    "uv": ("uv", "--version"),
    "java": ("java", "-version"),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", TWINS)
def test_programs_that_change_themselves_go_on_working_in_512_mib(
    tmp_path: Path, name: str, level: str
) -> None:
    if name == "numpy":
        pytest.importorskip("numpy")
    if not shutil.which(TWINS[name][0]):
        pytest.skip(f"{name} is not here")
    argv = (str(shutil.which(TWINS[name][0])), *TWINS[name][1:])
    if name in ("go", "uv", "java"):
        argv = ("/bin/sh", "-c", '"$@" > told 2>&1 && echo 42', "sh", *argv)
    done = held(tmp_path, level, "", argv, memory_mb=512)
    assert json.loads(done.stdout or b"null") == 42, done.stderr


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A directory in the temporary directory of all, as services make them."""
    with tempfile.TemporaryDirectory(prefix="vespe-t-", dir="/tmp") as made:
        yield Path(made)


def test_what_others_keep_in_the_temporary_directory_is_not_there_but_what_is_stated_is(
    tmp_path: Path, temporary: Path
) -> None:
    for name in ("a", "b"):
        (temporary / name).write_text(name, encoding="utf-8")
    beside = temporary.with_name(f"{temporary.name}-x")
    looks = (
        f"cat {temporary}/a; cat {temporary}/b; ls -a {temporary}; echo x > {beside}; "
        "echo '' $TMPDIR"
    )
    done = held(tmp_path, "namespaces", looks)
    assert done.stdout.split() == [str(tmp_path / "scratch").encode()], done.stderr
    done = held(tmp_path, "namespaces", looks, read=(".", f"{temporary}/a"))
    assert done.stdout.split()[0] == b"a" and b"b" not in done.stdout.split(), done.stdout
    whole = held(tmp_path, "namespaces", looks, read=(".", "/tmp"))
    assert whole.stdout.startswith(b"ab") and not beside.exists()
    written = held(tmp_path, "namespaces", f"echo c > {temporary}/c", write=(str(temporary),))
    assert (temporary / "c").read_text(encoding="utf-8") == "c\n", written.stderr


@pytest.mark.skipif(not shutil.which("ssh-agent"), reason="ssh-agent is not here")
def test_an_ssh_agent_signs_only_for_a_tool_that_states_its_socket(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(temporary / "agent.1")
    with subprocess.Popen(["ssh-agent", "-D", "-a", address], stdout=subprocess.DEVNULL) as agent:
        try:
            while not os.path.exists(address):
                time.sleep(0.01)
            monkeypatch.setenv("SSH_AUTH_SOCK", address)
            lists = f"SSH_AUTH_SOCK=${{SSH_AUTH_SOCK:-{address}}} ssh-add -l; echo $?"
            answers = [
                held(tmp_path, "namespaces", lists, **stated).stdout
                for stated in (
                    {},
                    {"read": (".", "/tmp")},
                    {"network": (), "sockets": ()},
                    {"sockets": ("$SSH_AUTH_SOCK",)},
                    {"network": (), "read": (".",), "sockets": (address,)},
                )
            ]
        finally:
            agent.terminate()
    assert [answer.split()[-1] for answer in answers] == [b"2", b"2", b"2", b"1", b"1"], answers


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not here")
def test_a_tool_starts_nothing_by_the_tmux_of_its_user(tmp_path: Path, temporary: Path) -> None:
    tmux = ["tmux", "-S", str(temporary / "tmux")]
    subprocess.run([*tmux, "new-session", "-d", "cat"], check=True, env={"PATH": os.defpath})
    try:
        starts = f"{' '.join(tmux)} new-window -d 'touch {tmp_path}/escaped' && echo started"
        assert held(tmp_path, "namespaces", starts).stdout == b""
        stated = held(tmp_path, "namespaces", f"{' '.join(tmux)} ls", sockets=(str(tmux[2]),))
        assert stated.returncode == 0 and stated.stdout, stated.stderr
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
    assert not (tmp_path / "escaped").exists()


@pytest.mark.skipif(
    not (shutil.which("initdb") and shutil.which("psql")), reason="PostgreSQL is not here"
)
def test_a_tool_asks_a_database_by_the_socket_that_it_states(
    tmp_path: Path, temporary: Path
) -> None:
    user: dict[str, Any] = {"user": 65534, "group": 65534} if os.getuid() == 0 else {}
    if user:
        os.chown(temporary, 65534, 65534)
    data, env = str(temporary / "data"), {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    subprocess.run(
        ["initdb", "-D", data, "-A", "trust", "-U", "ada", "--no-sync"],
        check=True,
        capture_output=True,
        env=env,
        cwd="/",
        **user,
    )
    served = ["postgres", "-D", data, "-k", str(temporary), "-h", "", "-F"]
    asks = f"psql -h {temporary} -U ada -d postgres -Atc 'select 6 * 7'"
    with subprocess.Popen(served, stderr=subprocess.DEVNULL, env=env, cwd="/", **user) as server:
        try:
            while subprocess.run(
                [*asks.split(" -Atc")[0].split(), "-c", "select 1"],
                capture_output=True,
                check=False,
            ).returncode:
                assert server.poll() is None
            closed = held(tmp_path, "namespaces", asks, network=())
            stated = held(tmp_path, "namespaces", asks, network=(), sockets=(str(temporary),))
        finally:
            server.send_signal(signal.SIGINT)
    assert (closed.stdout, stated.stdout) == (b"", b"42\n"), stated.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_sockets_that_come_and_go_while_it_starts_keep_no_process_from_starting(
    home: Path, tmp_path: Path, level: str
) -> None:
    (tmp_path / "project").mkdir()
    over = threading.Event()

    def come_and_go(directory: Path) -> None:
        while not over.is_set():
            made = []
            for number in range(20):
                made.append(socket.socket(socket.AF_UNIX))
                made[-1].bind(str(directory / f"s{number}"))
                made[-1].listen(1)
            time.sleep(0.002)
            for number, one in enumerate(made):
                (directory / f"s{number}").unlink()
                one.close()

    threads = [
        threading.Thread(target=come_and_go, args=(place,))
        for place in (home, tmp_path / "project")
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(25):
            done = held(tmp_path, level, "echo started")
            assert done.stdout == b"started\n", done
    finally:
        over.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("is_stated", [True, False])
def test_a_program_in_the_temporary_directory_starts_and_what_is_beside_it_is_not_there(
    tmp_path: Path, temporary: Path, is_stated: bool
) -> None:
    program, beside = temporary / "cat", temporary / "beside"
    shutil.copy(shutil.which("cat") or "", program)
    beside.write_text("b", encoding="utf-8")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a").write_text("a", encoding="utf-8")
    argv = (str(program), "a", str(beside))
    starts = () if is_stated else argv[:1]
    stated = {"programs": argv[:1]} if is_stated else {}
    done = held(tmp_path, "namespaces", "", argv, starts=starts, **stated)
    assert done.stdout == b"a" and done.stderr.count(b"No such file") == 1, done.stderr


STARTS = """
import os, sys, threading
from vespe.processes.sandbox import enter, filter

def start():
    enter._call("prctl", enter._NO_NEW_PRIVS, 1, 0, 0, 0)
    held = {"capabilities": 0, "memory": 0, "filter": filter.program((), apart=True)}
    enter._give_up_the_rest(held, is_bounded=True)
    argv = [sys.executable, "-c", sys.argv[1], str(threading.get_native_id())]
    os.waitpid(os.posix_spawn(argv[0], argv, os.environ), 0)

thread = threading.Thread(target=start)
thread.start()
thread.join()
"""
CHANGES = """
import json, os, resource, subprocess, sys

def refused(pid):
    found = []
    for change in (
        lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (90, 90)),
        lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0)),
        lambda: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)),
        lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
    ):
        try:
            change()
            found.append("")
        except OSError as error:
            found.append(type(error).__name__)
    return found

child = subprocess.Popen(["sleep", "60"])
print(json.dumps([refused(int(sys.argv[1])), refused(child.pid)]))
child.kill()
"""


@pytest.mark.skipif(levels.machine().filter != 0, reason="no filter of system calls here")
def test_a_program_changes_nothing_of_the_thread_that_started_it_but_of_what_it_starts() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTS, CHANGES], capture_output=True, encoding="utf-8", check=True
    )
    thread, child = json.loads(done.stdout)
    assert thread == ["PermissionError"] * 4 and child == [""] * 4, done.stderr
