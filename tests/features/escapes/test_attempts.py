"""The process that tries ways out: what it says of each, and what it leaves where it is ended."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from vespe.features.escapes import attempts
from vespe.processes.child_scripts import ENTER

PATIENCE_S = 60.0


def job(place: Path, *rows: tuple[str, str]) -> bytes:
    """Return a job whose policy holds nothing."""
    names = dict.fromkeys("PHOSTD", str(place)) | {"LEFT": str(place / "left")}
    message = {"made": [], "rules": [], "handled": 0, "scoped": 0, "memory": 0, "filter": ""}
    made: dict[str, Any] = {
        "enter": ENTER,
        "uid": os.getuid(),
        "message": message | {"capabilities": (1 << 41) - 1, "namespaces": None},
        "policy": "default",
        "names": names,
        "rows": [{"attack": attack, "twin": twin} for attack, twin in rows],
    }
    return json.dumps(made).encode("utf-8")


def started() -> "subprocess.Popen[bytes]":
    argv = [sys.executable, "-I", str(attempts.__file__)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.mark.skipif(sys.platform != "linux", reason="what it enters is Linux's")
def test_each_row_is_a_process_of_its_own_and_what_it_prints_is_no_answer(tmp_path: Path) -> None:
    place = tmp_path / "made"
    place.mkdir()
    rows = (
        ("write(P/'a'); read(P/'a')", "os.kill(VICTIM, 0)"),
        ("read(P/'none')", "print('yes') is not None"),
        ("os.chdir('/'); False", "os.getcwd() == str(P) or os._exit(0)"),
        ("memory('/usr/bin/id')", "os._exit(0)"),
        ("ctypes.string_at(0)", "os.abort()"),
        ("write(LEFT) and False", "judged(os.kill, -5, 999)"),
    )
    with started() as one:
        said, _ = one.communicate(job(place, *rows), timeout=PATIENCE_S)
    found = json.loads(said)
    assert [[text.partition(":")[0] for text in pair] for pair in found["rows"]] == [
        ["yes", "yes"],
        ["no", "no"],
        ["no", "yes"],
        ["yes", "yes"],
        ["no", "no"],
        ["no", "yes"],
    ]
    assert found["rows"][4] == [
        "no: its process was killed: Segmentation fault",
        "no: its process was killed: Aborted",
    ]
    assert found["left"] is True
    assert "FileNotFoundError" in found["rows"][1][0]


@pytest.mark.skipif(sys.platform != "linux", reason="what it enters is Linux's")
def test_where_it_is_killed_nothing_that_it_started_runs_on(tmp_path: Path) -> None:
    place = tmp_path / "made"
    place.mkdir()
    told = tmp_path / "told"
    attack = f"open({str(told)!r}, 'w').write(f'{{VICTIM}} {{os.getpid()}}.'); time.sleep(600)"
    with started() as one:
        assert one.stdin is not None
        one.stdin.write(job(place, (attack, "True")))
        one.stdin.close()
        deadline = time.monotonic() + PATIENCE_S
        while not (told.exists() and told.read_text(encoding="utf-8").endswith(".")):
            assert time.monotonic() < deadline and one.poll() is None
            time.sleep(0.02)
        pids = told.read_text(encoding="utf-8").rstrip(".").split()
        one.kill()
        one.wait(PATIENCE_S)
    while alive := [pid for pid in pids if _is_alive(pid)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.02)


CHANGES = """
import os, sys, tempfile
from pathlib import Path
from vespe.features.escapes import attempts
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65533)
    os.setuid(65534)
with tempfile.TemporaryDirectory(dir="/tmp") as base:
    names = {name: Path(base, name) for name in "HSP"}
    for name in ("H/.ssh", "H/moved", "S", "P"):
        Path(base, name).mkdir(parents=True)
    Path(base, "S/trust.json").touch()
    attempts._change(names, os.getuid())
    print(names["P"].joinpath("since/.git/hooks").is_dir())
"""


def test_the_group_of_a_user_may_have_another_number_than_the_user() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHANGES],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def _is_alive(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
