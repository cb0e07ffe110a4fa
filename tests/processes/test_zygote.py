"""What a zygote imports, and what keeps it from being forked."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ondisk import PATIENCE_S
from vespe.processes import process
from vespe.processes.child_scripts import Interpreter
from vespe.processes.workers import Workers, is_possible
from vespe.processes.zygote import modules, recorded

pytestmark = pytest.mark.skipif(not is_possible(), reason="there are no zygotes on this system")
DISTRIBUTIONS = {
    "quiet": "X = 1",
    "loud": "print('hello')",
    "broken": "1 / 0",
    "opens": "F = open('/dev/null')",
    "handles": "import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)",
    "sets": "import os\nos.environ['A'] = 'b'",
    "threads": "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), "
    "daemon=True).start()",
}
ASK = """
import os, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from vespe.processes import supervisor, zygote
os.close(os.open("/dev/null", os.O_RDONLY))
for name in sys.argv[3:]:
    print(name, zygote.imported([name]) or supervisor.is_single(), sep=": ", flush=True)
"""
TOLD = """
import os, sys
def main(told):
    os.write(3, ("click" in sys.modules, told).__repr__().encode())
    os._exit(0)
"""


def test_a_zygote_says_why_it_cannot_be_forked(tmp_path: Path) -> None:
    for name, source in DISTRIBUTIONS.items():
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        (tmp_path / f"{name}-1.0.dist-info").mkdir()
        (tmp_path / f"{name}-1.0.dist-info" / "RECORD").write_text(
            f"{name}.py,,\n", encoding="utf-8"
        )
    asked = [sys.executable, "-I", "-B", "-c", ASK, str(tmp_path), str(Path.cwd()), *DISTRIBUTIONS]
    said = dict(
        line.split(": ", 1)
        for line in subprocess.run(
            asked, capture_output=True, encoding="utf-8", check=True
        ).stdout.splitlines()
    )
    assert said == {
        "quiet": "True",
        "loud": "it writes something when it is imported",
        "broken": "broken does not import: ZeroDivisionError",
        "opens": "it opens files or handles signals when it is imported",
        "handles": "it opens files or handles signals when it is imported",
        "sets": "it opens files or handles signals when it is imported",
        "threads": "False",
    }


def test_the_modules_of_a_distribution_are_those_of_its_record(tmp_path: Path) -> None:
    record = tmp_path / "RECORD"
    record.write_text(
        "a/__init__.py,,\na/b/__init__.py,,\nc.py,,\n../bin/d,,\na-1.dist-info/METADATA,,\n",
        encoding="utf-8",
    )
    assert recorded(str(record)) == ["a", "c"] and recorded(str(tmp_path / "none")) == []
    assert modules(["Click", "no-such-thing"]) == ["click"]


def test_signals_that_other_code_than_python_handles_are_known_too() -> None:
    source = (
        "import ctypes; from vespe.processes.zygote import handled; "
        "ctypes.CDLL(None).signal(10, 1); print({10, 12} & {*handled()})"
    )
    assert (
        subprocess.run([sys.executable, "-c", source], capture_output=True, check=True).stdout
        == b"{10}\n"
    )


def told(directory: Path, source: str = TOLD, preload: tuple[str, ...] = ()) -> process.Finished:
    """Run a script in a fork of a zygote that is made for it."""
    script = directory / "script.py"
    script.write_text(source, encoding="utf-8")
    interpreter = Interpreter(
        argv=(sys.executable, "-I", "-B"), env={}, preload=preload, scripts=(str(script),)
    )
    with Workers() as workers:
        command = process.Command(
            argv=interpreter.program(),
            cwd="/",
            env={},
            timeout_s=PATIENCE_S,
            result_fd=True,
            interpreter=interpreter,
            message={"a": 1},
            workers=workers,
        )
        return process.run(command)


@pytest.mark.parametrize(
    ("preload", "is_there"), [((), False), (("click",), True), (("no-such-thing",), False)]
)
def test_what_is_depended_on_is_there_before_the_call(
    tmp_path: Path, preload: tuple[str, ...], is_there: bool
) -> None:
    assert told(tmp_path, preload=preload).result == f"({is_there}, [{{'a': 1}}])".encode()


@pytest.mark.parametrize("fails", ["", "raise ZeroDivisionError"])
def test_a_call_is_a_fork_of_what_has_rehearsed_it_well_or_not(tmp_path: Path, fails: str) -> None:
    source = (
        f"{TOLD.replace('told).', 'told, DONE).')}DONE = []\ndef rehearse(*others):\n    "
        f"DONE.append(len(others))\n    {fails}\n"
    )
    done = told(tmp_path, source)
    assert (done.result, done.notes) == (b"(False, [{'a': 1}], [0])", ())
