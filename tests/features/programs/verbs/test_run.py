"""`vespe program run`."""

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, interruptible, python_tool

pytest.importorskip("pydantic_monty")
Command = Callable[..., Any]


@pytest.fixture
def counted(project: Path) -> Path:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    return project


def test_the_result_goes_to_stdout_and_prints_to_stderr(
    command: Command, counted: Path, tmp_path: Path
) -> None:
    file = tmp_path / "p.py"
    file.write_text("print('é')\none() + 1\n", encoding="utf-8")
    done = command("program", "run", str(file))
    assert (done.code, done.out, done.err) == (0, "2\n", "é\n")
    done = command("program", "run", str(file), "--json", "--log-arguments")
    assert done.document["result"] == 2 and done.document["logs"] == "é\n"
    calls = command("log", "--json").document["calls"]
    assert [call["tool"] for call in calls] == ["one", "run_code", "one", "run_code"]
    assert calls[-1]["arguments"]["code"].startswith("print")
    shown = command("log").out.splitlines()
    assert [line.split("\t")[2] for line in shown] == ["run_code", "  one", "run_code", "  one"]


@pytest.fixture
def fed(command: Command, counted: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a program that comes on stdin."""

    def run(code: str, *options: str) -> Any:
        stdin = io.TextIOWrapper(io.BytesIO(code.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        return command("program", "run", "-", *options)

    return run


def test_what_is_wrong_is_a_line_each_and_exit_code_5(fed: Command) -> None:
    done = fed("on()\nimport os\n")
    assert done.code == 5 and done.out == ""
    assert "-:1: there is no tool or variable called 'on': did you mean one?" in done.err
    assert "-:2: there is no module 'os'" in done.err
    assert "nothing in the program was run" in done.err
    done = fed("on()", "--json")
    assert done.code == 5 and done.document["error"]["details"]["problems"][0]["line"] == 1
    assert done.document["error"]["retryable"]


def test_a_program_that_fails_and_one_that_is_late(command: Command, fed: Command) -> None:
    done = fed("print('x')\n1 / 0")
    assert done.code == 1 and "line 2: ZeroDivisionError" in done.err and "x\n" in done.err
    done = fed("while True: pass", "--timeout", "0.2")
    assert done.code == 124
    done = fed("one()\none()", "--max-calls", "1")
    assert done.code == 1 and "it may make 1 call\n" in done.err
    assert "hint: raise the limit with --max-calls" in done.err
    assert command("program", "run", "not-there.py").code == 1


def test_ctrl_c_ends_the_program_and_leaves_nothing(counted: Path, home: Path) -> None:
    argv = [sys.executable, "-m", "vespe", "program", "run", "-"]
    with subprocess.Popen(
        argv, cwd=counted, env=interruptible(), stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"print('on')\none()\nwhile True: pass\n")
        process.stdin.close()
        deadline = time.monotonic() + PATIENCE_S
        log = home / "state/vespe/log"
        while time.monotonic() < deadline and not (log.exists() and any(log.glob("*.jsonl"))):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 130
    lines = [
        json.loads(line)
        for file in log.glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert [line["outcome"] for line in lines] == ["ok", "interrupted"]
    assert lines[1]["duration_ms"] >= lines[0]["duration_ms"]  # it has all of its calls
