"""A process that has entered: what it is held to, by doing it, as a supervisor's child does."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from vespe.models import Permissions
from vespe.processes.process import Command, Finished, run
from vespe.processes.sandbox import levels
from vespe.processes.sandbox.policy import ToolSurroundings, policy

LEVELS = [level for level in levels.LEVELS if level in ("namespaces", "landlock")]


def held(
    tmp_path: Path, level: str, script: str, argv: tuple[str, ...] = (), **stated: object
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
        starts=("sh",),
    )
    made = policy(machine, level, Permissions(**stated), where)  # type: ignore[arg-type]  # a row of the table
    return run(
        Command(
            argv=argv or ("/bin/sh", "-c", script),
            cwd=project,
            env={"PATH": os.defpath},
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
    assert done.stdout == b"" and done.stderr.count(b"Permission denied") == 1, done.stderr


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
    "numpy": (sys.executable, "-c", "import numpy\nprint(int(numpy.ones((6, 7)).sum()))"),
    "node": (
        "node",
        "-e",
        "require('os').setPriority(19); const w = require('worker_threads');"
        "new w.Worker('console.log(42)', {eval: true})",
    ),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", TWINS)
def test_programs_that_change_themselves_go_on_working(
    tmp_path: Path, name: str, level: str
) -> None:
    if name == "numpy":
        pytest.importorskip("numpy")
    if not shutil.which(TWINS[name][0]):
        pytest.skip(f"{name} is not here")
    argv = (str(shutil.which(TWINS[name][0])), *TWINS[name][1:])
    done = held(tmp_path, level, "", argv)
    assert json.loads(done.stdout or b"null") == 42, done.stderr
