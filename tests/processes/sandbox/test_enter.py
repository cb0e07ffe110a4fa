"""A process that has entered: what it is held to, by doing it, as a supervisor's child does."""

import os
from pathlib import Path

import pytest

from vespe.models import Permissions
from vespe.processes.process import Command, Finished, run
from vespe.processes.sandbox import levels
from vespe.processes.sandbox.policy import ToolSurroundings, policy

LEVELS = [level for level in levels.LEVELS if level in ("namespaces", "landlock")]


def held(tmp_path: Path, level: str, script: str, **stated: object) -> Finished:
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
            argv=("/bin/sh", "-c", script),
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
