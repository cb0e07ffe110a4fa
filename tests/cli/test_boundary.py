"""Errors become sentences, JSON and exit codes in one place."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from tests.support.ondisk import PATIENCE_S, interruptible, python_tool
from tests.support.pids import SAYS, outside
from vespe import errors
from vespe.cli import boundary
from vespe.processes import signals

Command = Callable[..., Any]

LEAVES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, errors.VespeError)
]


@pytest.mark.parametrize(
    "leaf",
    [leaf for leaf in LEAVES if leaf is not errors.VespeError],
    ids=lambda leaf: leaf.__name__,
)
def test_every_error_has_an_exit_code_of_the_contract(leaf: type[errors.VespeError]) -> None:
    assert boundary.CODES[leaf.code] in {1, 2, 3, 4, 5, 6, 124, 130}


def fail_with(error: BaseException, *arguments: str) -> int:
    def command(_: Sequence[str]) -> int:
        raise error

    return boundary.guarded(command, arguments)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("x"), 2),
        (errors.ToolNotFound("x"), 3),
        (errors.InvalidTool("tool-x", ["x"]), 4),
        (errors.ParsingError("x"), 5),
        (errors.MissingSecret("KEY", tool="x"), 6),
        (errors.InvalidOutput("x"), 1),
        (errors.TimedOut("x", seconds=1), 124),
        (errors.StorageError("read", "x", OSError(28, "No space left on device")), 1),
        (errors.Interrupted("x"), 130),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (click.exceptions.Exit(7), 7),
        (click.UsageError("x"), 2),
        (ZeroDivisionError(), 70),
    ],
)
def test_each_kind_of_failure_has_its_code(
    error: BaseException, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert fail_with(error) == code
    assert capfd.readouterr().out == ""


def test_a_signal_while_a_class_is_made_is_an_interruption_like_any_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Slow:
        def __set_name__(self, owner: type, name: str) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    def command(_: Sequence[str]) -> int:
        type("Made", (), {"slow": Slow()})
        return 0

    assert boundary.guarded(command, ()) == 143
    assert capsys.readouterr().err.strip() == "vespe: interrupted"


def test_what_a_library_makes_of_a_signal_is_that_signal_unless_one_went_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def command(arguments: Sequence[str]) -> int:
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        if arguments:
            signals.go_on()
        raise AttributeError("half of a module")

    assert [boundary.guarded(command, ()), boundary.guarded(command, ("on",))] == [143, 70]


def test_a_failure_is_one_json_document_where_json_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        fail_with(errors.ToolNotFound("wirte", close=["write"]), "tool", "run", "wirte", "--json")
        == 3
    )
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["close"], error["hint"]) == (
        "tool_not_found",
        ["write"],
        "did you mean write?",
    )


def test_json_behind_a_double_dash_is_an_argument_and_no_wish(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fail_with(errors.ToolNotFound("x"), "tool", "run", "--", "--json")
    captured = capsys.readouterr()
    assert captured.out == "" and "no available tool" in captured.err


def test_a_bug_gives_a_report_to_paste_without_the_arguments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert fail_with(ZeroDivisionError("oops"), "tool", "run", "x", "--args", "s3cret") == 70
    report = capsys.readouterr().err
    assert "Traceback" in report and "vespe 0." in report and "command: vespe tool run\n" in report
    assert "s3cret" not in report


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "tool run t --timeout",
            "error: Option '--timeout' requires an argument\n  hint: `vespe tool run --help` shows",
        ),
        ("tool run t --timeout abc", "'abc' is not a number\n"),
        ("log -n abc", "'abc' is not a whole number\n"),
        (
            "connect",
            "error: Missing argument 'CLIENT': choose one of claude-code, claude-desktop, cursor, ",
        ),
        (
            "kit install x --ref v1",
            "there is no option --ref\n  hint: `vespe kit install --help` shows",
        ),
        ("kit install x --jsn", "there is no option --jsn\n  tip: did you mean --json?"),
        ("-v", "there is no option -v\n  hint: `vespe -V` shows the version"),
        ("--nope", "there is no option --nope\n  hint: `vespe --help` lists the commands"),
    ],
)
def test_a_mistake_in_the_line_is_told_in_plain_words_with_the_page_of_its_command(
    line: str, says: str, command: Command
) -> None:
    said = command(*line.split())
    assert said.code == 2 and says in said.err


def test_a_sentence_is_inert_and_its_hint_follows(capsys: pytest.CaptureFixture[str]) -> None:
    fail_with(errors.VespeError("bad \x1b[2K name", hint="mend it"))
    assert capsys.readouterr().err == "vespe: error: bad \\x1b[2K name\n  hint: mend it\n"


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["kit", "list"], ["kit", "list", "--json"]],
    ids=" ".join,
)
def test_a_full_disk_behind_stdout_is_a_sentence(arguments: list[str], home: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "vespe", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr.decode()) == (
        1,
        "vespe: error: cannot write to stdout: No space left on device\n",
    )


def test_a_closed_stdout_is_a_sentence(home: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m vespe kit list >&-"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        1,
        "vespe: error: cannot write to stdout: Bad file descriptor\n",
    )


@pytest.mark.parametrize(
    "arguments", ["config set secrets.X -", "tool run f --args -", "agent run -"]
)
def test_a_closed_stdin_is_an_empty_one(home: Path, arguments: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m vespe {arguments} <&-"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode != 70 and "bug" not in done.stderr


def test_a_reader_that_has_gone_ends_the_command_quietly(home: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-m", "vespe", "kit", "list"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


def test_p31_ctrl_c_while_starting_ends_without_a_word(home: Path) -> None:
    code = (
        "import os, signal, vespe.__main__; os.kill(os.getpid(), signal.SIGINT); "
        "import time; time.sleep(5)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, env=interruptible()
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_p31_a_signal_ends_the_tool_first_and_then_the_command(
    number: int, code: int, project: Path
) -> None:
    body = f"import os, time\nopen({str(project / 'pid')!r}, 'w').write({SAYS})\ntime.sleep(60)"
    python_tool(project / ".vespe/tools/tool-w", "w", body)
    running = subprocess.Popen(
        [sys.executable, "-m", "vespe", "tool", "run", "w", "--json"],
        cwd=project,
        stdout=subprocess.PIPE,
        env=interruptible(),
    )
    while not (project / "pid").exists() or not (project / "pid").read_text(encoding="utf-8"):
        assert running.poll() is None
    pid = outside((project / "pid").read_text(encoding="utf-8"))
    assert pid > 1
    running.send_signal(number)
    out, _ = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, out) == (code, b"")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
