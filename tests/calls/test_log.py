"""The log of calls: one private line each, never in the way of a call; and the whole of what was
cut.
"""

import hashlib
import json
import os
import re
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from vespe.calls import log as call_log
from vespe.errors import StorageError
from vespe.models import Failure, Outcome, Tool

TOOL = Tool(
    uid="tool-a",
    name="add",
    description="Add.",
    input_schema={"type": "object"},
    scope="project_tools",
)
OK = Outcome(tool="add", uid="tool-a", result=3, duration_ms=1.23456)


def append(
    arguments: Any = None, *, outcome: Outcome = OK, root: str = "/p", **options: Any
) -> str | None:
    return call_log.append(
        root,
        tool=TOOL,
        arguments={} if arguments is None else arguments,
        outcome=outcome,
        **options,
    )


def log(home: Path) -> Path:
    return next((home / "state" / "vespe" / "log").glob("*.jsonl"))


def test_what_is_noted_on_a_call_is_in_its_line(home: Path) -> None:
    append(
        outcome=Outcome(tool="add", uid="tool-a", result=1, notes=("it ran with hunter2",)),
        secrets=("hunter2",),
    )
    (line,) = call_log.read("/p")
    assert "hunter2" not in str(line["notes"]) and line["notes"][0].startswith("it ran with ")


def test_a_call_leaves_one_line_without_its_arguments(home: Path) -> None:
    assert append({"b": 2, "a": 1}) is None
    (line,) = call_log.read("/p")
    assert (
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
        and len(line.pop("id")) == 8
    )
    assert line == {
        "project": "/p",
        "tool": "add",
        "uid": "tool-a",
        "scope": "project_tools",
        "arguments_digest": hashlib.sha256(b'{"a":1,"b":2}').hexdigest(),
        "outcome": "ok",
        "duration_ms": 1.235,
        "truncated": False,
    }


def test_a_failed_call_is_logged_by_its_code(home: Path) -> None:
    append(
        outcome=Outcome(
            tool="add",
            uid="tool-a",
            error=Failure(code="timed_out", message="too late"),
            truncated=True,
        )
    )
    (line,) = call_log.read("/p")
    assert (line["outcome"], line["truncated"]) == ("timed_out", True)


def test_the_log_is_private_and_outside_of_the_project(home: Path) -> None:
    append()
    assert stat.S_IMODE(log(home).stat().st_mode) == 0o600
    assert stat.S_IMODE(log(home).parent.stat().st_mode) == 0o700
    assert log(home).name == hashlib.sha256(b"/p").hexdigest() + ".jsonl"


def test_p36_arguments_stand_in_the_log_only_when_asked_for_and_without_secrets(home: Path) -> None:
    append({"key": "hush-hush-secret"}, keep_arguments=True, secrets=("hush-hush-secret",))
    append({"key": "open"}, keep_arguments=True)
    assert [line["arguments"]["key"] for line in call_log.read("/p")] == ["***", "open"]
    assert "hush" not in log(home).read_text(encoding="utf-8")


def test_a_failed_call_keeps_the_beginning_of_its_error_without_secrets_and_why_it_was_made(
    home: Path,
) -> None:
    failed = Outcome(
        tool="add",
        uid="tool-a",
        error=Failure(code="timed_out", message="no hush-hush-secret " + "x" * 1000),
    )
    call_log.CallLog("/p", purpose="test").append(
        TOOL, {}, outcome=failed, secrets=("hush-hush-secret",)
    )
    append()
    (line,) = call_log.read("/p", wanted=lambda call: call.get("purpose") == "test")
    assert line["error"].startswith("no *** x") and len(line["error"]) <= 500


def test_a_secret_across_the_end_of_what_is_kept_of_an_error_leaves_no_half(home: Path) -> None:
    message = "x" * 490 + " hush-hush-secret"
    failed = Outcome(tool="add", uid="tool-a", error=Failure(code="timed_out", message=message))
    call_log.CallLog("/p").append(TOOL, {}, outcome=failed, secrets=("hush-hush-secret",))
    (line,) = call_log.read("/p")
    assert "hush" not in line["error"]


@pytest.mark.parametrize("text", ['{"a": 1}', b'{"a":1}'])
def test_the_digest_of_arguments_does_not_depend_on_how_they_were_written(
    text: str | bytes,
) -> None:
    assert call_log.arguments_digest(text) == call_log.arguments_digest({"a": 1})


@pytest.mark.parametrize("text", ["{", b"\xff", "\ud800", float("nan"), {"a": {1, 2}}])
def test_arguments_that_are_no_json_are_logged_too(home: Path, text: Any) -> None:
    assert append(text) is None
    assert len(call_log.read("/p")[0]["arguments_digest"]) == 64


def test_broken_arguments_are_kept_as_text_when_asked_for(home: Path) -> None:
    append(b'{"a": \xff', keep_arguments=True)
    assert call_log.read("/p")[0]["arguments"] == '{"a": \ufffd'


def test_a_line_that_would_be_too_long_goes_without_its_arguments(home: Path) -> None:
    append({"text": "x" * call_log.MAX_LINE_BYTES}, keep_arguments=True)
    (line,) = call_log.read("/p")
    assert line["arguments_cut"] is True
    assert "arguments" not in line


def test_reading_gives_the_last_lines_newest_last_and_makes_nothing(home: Path) -> None:
    assert call_log.read("/p") == call_log.read() == []
    assert list(home.iterdir()) == []
    for number in range(5):
        append(outcome=Outcome(tool="add", uid="tool-a", duration_ms=number))
    assert [line["duration_ms"] for line in call_log.read("/p", limit=2)] == [3, 4]
    assert call_log.read("/p", limit=0) == []


def test_without_a_project_the_calls_of_all_are_read_in_order_of_time(home: Path) -> None:
    for root in ("/p", "/q", "/p"):
        append(root=root)
    assert sorted(line["project"] for line in call_log.read()) == ["/p", "/p", "/q"]
    times = [line["time"] for line in call_log.read()]
    assert times == sorted(times)
    assert [line["project"] for line in call_log.read("/q")] == ["/q"]


def test_a_torn_last_line_costs_only_itself(home: Path) -> None:
    append()
    with log(home).open("ab") as file:
        file.write(b'{"time": "2026')
    assert len(call_log.read("/p")) == 1
    append()
    assert len(call_log.read("/p")) == 2


def test_p46_writers_at_once_never_mix_their_lines(home: Path) -> None:
    def write(name: str) -> None:
        for _ in range(40):
            append({"text": name * 5000}, keep_arguments=True)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [line for line in log(home).read_text(encoding="utf-8").splitlines() if line]
    assert len(lines) == 240
    assert all(len(set(json.loads(line)["arguments"]["text"])) == 1 for line in lines)


def test_a_log_that_has_grown_becomes_the_old_one_and_both_are_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_log, "MAX_LOG_BYTES", 1000)
    for number in range(12):
        append(outcome=Outcome(tool="add", uid="tool-a", duration_ms=number))
    assert len(list(log(home).parent.iterdir())) == 3  # and what the old one counted
    durations = [line["duration_ms"] for line in call_log.read("/p")]
    assert durations == list(range(12))[-len(durations) :]
    assert len(durations) > len(log(home).read_text(encoding="utf-8").splitlines())


def test_p47_what_cannot_be_written_is_a_warning_and_no_failure(home: Path) -> None:
    (home / "state").write_text("a file in the way", encoding="utf-8")
    warning = append()
    assert warning
    assert warning.startswith("the call could not be logged: ")
    assert call_log.read("/p") == call_log.read() == []


def test_p47_a_full_disk_loses_the_line_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append()
    whole = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: whole(descriptor, data[:7]))
    warning = append()
    monkeypatch.undo()
    assert warning
    assert "full" in warning


def test_a_log_that_is_no_file_of_ours_is_left_alone(home: Path, tmp_path: Path) -> None:
    append()
    target = tmp_path / "target"
    target.touch()
    path = log(home)
    path.unlink()
    path.symlink_to(target)
    assert append()
    assert target.read_bytes() == b""


def test_a_whole_output_is_kept_in_a_private_file_of_which_the_newest_fifty_stay(
    home: Path,
) -> None:
    paths = [call_log.keep_output(f"{number}".encode()) for number in range(53)]
    directory = Path(paths[0]).parent
    (directory / "notes.txt").touch()
    assert [Path(path).exists() for path in paths] == [False] * 3 + [True] * 50
    assert Path(paths[-1]).read_bytes() == b"52"
    assert stat.S_IMODE(Path(paths[-1]).stat().st_mode) == 0o600
    Path(f"{paths[0]}.1f-2f.tmp").touch()
    call_log.keep_output(b"more")
    assert sum(path.suffix == ".out" for path in directory.iterdir()) == 50
    assert (directory / "notes.txt").exists()
    assert not list(directory.glob("*.tmp"))


def test_an_output_that_cannot_be_kept_is_a_storage_error(home: Path) -> None:
    (home / "state").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="outputs"):
        call_log.keep_output(b"whole")


def test_figures_survive_the_rotation_of_a_log(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "MAX_LOG_BYTES", 1000)
    for _ in range(40):
        append()
    assert len(call_log.read("/p", limit=100)) < 20
    totals, problems = call_log.count_calls("/p")
    assert problems == () and [(row["tool"], row["calls"]) for row in totals.rows()] == [
        ("add", 40)
    ]
    assert call_log.count_calls()[0].rows() == totals.rows()
    assert call_log.count_calls("/elsewhere")[0].rows() == []
    (file,) = log(home).parent.glob("*.stats")
    file.write_bytes(b"no")
    assert str(file) in call_log.count_calls("/p")[1][0]
    for _ in range(40):
        assert append() is None
    assert call_log.count_calls("/p")[1] == ()
