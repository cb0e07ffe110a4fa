"""`vespe doctor --escapes`: what it prints, whom it is for, and that it touches nothing of theirs."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.installs import copy_package
from tests.support.systems import NO_LANDLOCK, NO_NAMESPACES, refusing
from vespe.features.escapes.report import GAPS
from vespe.features.escapes.rows import ROWS, TITLES
from vespe.features.escapes.trial import LEVELS
from vespe.processes.sandbox import levels

MACHINE = levels.machine()
PATIENCE_S = 120.0
COMMAND = [sys.executable, "-m", "vespe", "doctor", "--escapes"]
PLACES = ("/var/tmp", "/tmp", "/dev/shm")
DOCS = Path(__file__).parents[3] / "docs"

needs_a_table = pytest.mark.skipif(
    MACHINE.level not in LEVELS, reason=f"this machine has {MACHINE.level!r}"
)


def run(*command: str, cwd: str | Path = "/", **options: Any) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        command or COMMAND,
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
        **options,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@needs_a_table
def test_each_row_is_told_with_what_became_of_it(home: Path) -> None:
    done = run(*COMMAND, "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["level"]) == (0, MACHINE.level)
    assert [row["tried"] for row in told["rows"] if row["group"] == TITLES["closed"]] == [
        row.name for row in ROWS if row.policy == "closed"
    ]
    assert {row["tried"] for row in told["rows"]} == {row.name for row in ROWS}
    results = [row["result"] for row in told["rows"]]
    assert told["counts"] == {key: results.count(key) for key in told["counts"]}
    assert told["counts"]["held"] >= 110 and told["counts"]["got_through"] == 0
    for row in told["rows"]:
        assert (row["why"] is None) == (row["result"] == "held"), row
        assert (row["gap"] is None) == (row["result"] != "gap"), row
        assert row["gap"] is None or row["gap"] in told["gaps"]


@needs_a_table
def test_a_person_reads_a_line_a_row_and_the_counts_last(home: Path) -> None:
    done = run()
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"Sandbox escapes, tried at the level '{MACHINE.level}' as ")
    assert [line for line in lines if line in TITLES.values()] == list(TITLES.values())
    assert "held         read a key" in lines
    assert (
        "not tried    create a cron job: if it succeeded, it would affect the cron jobs of this machine"
    ) in lines
    gaps = [line for line in lines if line.startswith("gap ")]
    assert gaps and all(re.search(r": .* \(gap `[a-z -]+`\)$", line) for line in gaps)
    assert re.fullmatch(
        rf"\d+ held, {len(gaps)} known gaps of this level, 0 got through; "
        r"\d+ not tried here\.",
        lines[-1],
    )


@needs_a_table
def test_what_gets_through_is_exit_code_1_and_told_at_the_end(home: Path, tmp_path: Path) -> None:
    install = copy_package(tmp_path / "copy")
    rows = install.directory / "vespe/features/escapes/rows.py"
    mine = """
ROWS = (
    Way("read what may be read", "read(H/'notes')", "True"),
    Way("do what is allowed, and fail", "read(H/'.ssh/id')", "read(H/'none')"),
    Way("compile a program", "True", "True", needs="no-such-compiler"),
)
"""
    rows.write_text(rows.read_text(encoding="utf-8") + mine, encoding="utf-8")
    done = install.run("-m", "vespe", "doctor", "--escapes")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert (
        "GOT THROUGH  read what may be read: this level should prevent it" in lines
        and "not tried    compile a program: needs no-such-compiler" in lines
    )
    unclear = "unclear      do what is allowed, and fail: a similar action that is allowed does not"
    assert any(line.startswith(unclear) and "FileNotFoundError" in line for line in lines)
    assert "1 attack got through although the level" in done.stderr and "hint:" in done.stderr


@pytest.mark.parametrize(("refused", "level"), [(NO_NAMESPACES, "landlock"), (NO_LANDLOCK, "off")])
def test_a_machine_with_less_is_tried_at_what_it_has(
    home: Path, refused: dict[str, int], level: str
) -> None:
    if MACHINE.level not in LEVELS:
        pytest.skip(f"this machine has {MACHINE.level!r}")
    done = run(*refusing(refused, *COMMAND, "--json"))
    told = json.loads(done.stdout)
    assert (done.returncode, told["level"]) == (0, level)
    if level == "off":
        assert {row["result"] for row in told["rows"]} == {"not_tried"}
    else:
        named = {row["gap"] for row in told["rows"] if row["gap"]}
        assert {"metadata", "names", "project"} <= named and told["counts"]["held"] >= 110


def test_where_the_user_has_switched_it_off_nothing_is_claimed(
    command: Callable[..., Any],
) -> None:
    assert command("config", "set", "sandbox", "off").code == 0
    done = command("doctor", "--escapes")
    assert (done.code, done.out) == (
        0,
        "No sandbox escape was tried: your configuration turns the sandbox off, so it prevents "
        "nothing.\n",
    )


@needs_a_table
def test_without_a_home_a_project_or_a_place_to_write_it_is_the_same(
    home: Path, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = run(*COMMAND, "--json", cwd=closed, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["got_through"] == 0
    assert list(closed.iterdir()) == []


VICTIM = """
import os, resource, signal, socket, sys, time
told = []
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, lambda number, frame: told.append(number))
servers = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET)]
servers[0].bind(sys.argv[1])
servers[1].bind(("127.0.0.1", 0))
for one in servers:
    one.listen()
    one.setblocking(False)
def state():
    limits = [resource.getrlimit(n) for n in range(16)]
    return limits, os.getpriority(0, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)
before = state()
print("ready", flush=True)
sys.stdin.read()
came = []
for one in servers:
    try:
        came.append(one.accept())
    except BlockingIOError:
        pass
print(told, before == state(), came)
"""


@needs_a_table
def test_nothing_of_the_users_is_written_signalled_or_reached(home: Path, tmp_path: Path) -> None:
    for name in (".ssh/id_ed25519", ".bashrc", ".netrc", "notes", "project/.git/config"):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine", encoding="utf-8")
    run()  # which level this machine has is kept
    before = _snapshot(home)
    argv = [sys.executable, "-I", "-c", VICTIM, str(home / "socket")]
    with subprocess.Popen(argv, stdin=-1, stdout=-1, encoding="utf-8") as mine:
        assert mine.stdin is not None and mine.stdout is not None
        assert mine.stdout.readline() == "ready\n"
        before = _snapshot(home)
        assert run(cwd=home / "project").returncode == 0
        said, _ = mine.communicate(timeout=PATIENCE_S)
    assert said == "[] True []\n"
    assert _snapshot(home) == before


def _snapshot(top: Path) -> dict[str, tuple[int, ...]]:
    """Return what changes with any write, change of mode, link or renaming."""
    found: dict[str, tuple[int, ...]] = {}
    for path in (top, *top.rglob("*")):
        one = path.lstat()
        found[str(path)] = (one.st_ino, one.st_mode, one.st_nlink, one.st_size, one.st_ctime_ns)
    return found


@needs_a_table
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("point", [0, 3])
def test_where_it_is_ended_nothing_runs_and_nothing_lies_there(
    home: Path, number: signal.Signals, point: int
) -> None:
    with subprocess.Popen(COMMAND, cwd="/", stdout=subprocess.PIPE, stderr=-1) as one:
        deadline = time.monotonic() + PATIENCE_S
        while not (made := _made_by(one.pid)) and one.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(0.15 * point)
        made |= _made_by(one.pid)
        running = _below(one.pid)
        one.send_signal(number)
        one.communicate(timeout=PATIENCE_S)
    assert made and running
    while left := [path for path in made if os.path.lexists(path)] + [
        pid for pid in running if Path(f"/proc/{pid}").exists()
    ]:
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def _made_by(pid: int) -> set[str]:
    """Return the directories that a process holds the locks of.

    A command hides its memory, and with it `/proc/PID/fd`, from other processes of an ordinary
    user. Everybody may read which inodes are locked, and by whom.
    """
    rows = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
    inodes = {int(row[5].rpartition(":")[2]) for row in rows if row[1:5:3] == ["FLOCK", str(pid)]}
    found = set()
    for place in PLACES if inodes else ():
        with os.scandir(place) as entries:
            found |= {
                entry.path
                for entry in entries
                if entry.name.startswith(".vespe-") and entry.inode() in inodes
            }
    return found


def _below(pid: int) -> set[int]:
    """Return the processes that a process has started, and those that they have."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        try:
            tasks = Path(f"/proc/{waiting.pop()}/task").iterdir()
            told = " ".join((task / "children").read_text(encoding="ascii") for task in tasks)
        except OSError:
            continue
        new = set(map(int, told.split())) - found
        found |= new
        waiting += new
    return found


def test_every_gap_has_words_and_the_page_has_no_other() -> None:
    page = (DOCS / "sandbox.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([^`]+)` \| ", page.partition("## Gaps")[2], re.MULTILINE)
    assert {name.partition(":")[0] for name in named} == set(GAPS)
    assert {one for row in ROWS if row.gap for one in row.gap.split(", ")} <= set(GAPS)
