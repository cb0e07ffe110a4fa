"""`vespe log`."""

import json
import os
import select
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, interruptible, python_tool, vespe
from tests.support.terminal import plain, vespe_on_a_terminal
from vespe.projects.init import found_project

Command = Callable[..., Any]


def test_every_call_is_a_line_with_time_tool_outcome_and_a_digest(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    command("tool", "run", "one")
    command("tool", "run", "one", "x=1")
    calls = command("log", "--json").document["calls"]
    assert [(call["tool"], call["outcome"]) for call in calls] == [
        ("one", "ok"),
        ("one", "invalid_arguments"),
    ]
    assert all(len(call["arguments_digest"]) == 64 and call["duration_ms"] > 0 for call in calls)
    digest = calls[0]["arguments_digest"][:8]
    assert f"arguments not kept, digest {digest}" in command("log").out.splitlines()[0]


def test_a_person_is_told_what_a_digest_is_and_how_arguments_are_kept(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    command("tool", "run", "one")
    (call,) = command("log", "--json").document["calls"]
    for words in (("log",), ("log", "show", call["id"])):
        told = " ".join(plain(vespe_on_a_terminal(*words, cwd=project)).split())
        assert "calls with the same arguments have the same digest" in told
        assert "`vespe tool run --log-arguments` keeps the arguments themselves" in told
        assert "same digest" not in command(*words).err
    command("tool", "run", "--log-arguments", "one")
    shown = vespe_on_a_terminal("log", "-n", "1", cwd=project)
    assert "one" in shown and "same digest" not in " ".join(plain(shown).split())


def test_a_denied_call_and_one_of_no_tool_are_not_in_the_log(
    command: Command, project: Path
) -> None:
    assert command("tool", "create", "change", "--type", "python_script").code == 0
    calls: list[dict[str, Any]] = [
        {"name": name, "arguments": {}} for name in ("change", "nothing")
    ]
    script = project / "script.json"
    script.write_text(
        json.dumps({"turns": [{"tool_calls": calls}, {"text": "done"}]}), encoding="utf-8"
    )
    words = ("agent", "run", "hi", "--provider", "simulated", "--script", str(script))
    done = command(*words)
    assert done.code == 0 and "change denied" in done.err, done.err
    assert command("tool", "run", "nothing").code == 3
    assert command("log", "--json").document["calls"] == []


def test_the_log_is_private_and_lies_outside_the_project(
    command: Command, project: Path, home: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    command("tool", "run", "one")
    (log,) = (home / "state").rglob("*.jsonl")
    assert stat.S_IMODE(os.stat(log).st_mode) == 0o600


def test_the_newest_lines_come_last_and_are_bounded(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    for _ in range(3):
        command("tool", "run", "one")
    command("tool", "run", "one", "x=1")
    lines = command("log", "-n", "2").out.splitlines()
    assert len(lines) == 2 and "invalid_arguments" in lines[1]


def test_a_person_is_told_how_to_see_what_is_left_out_and_that_works(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    for _ in range(3):
        command("tool", "run", "one")
    shown = plain(vespe_on_a_terminal("log", "-n", "2", columns=100, cwd=project))
    assert "vespe: the newest 2 calls: -n 20 shows earlier ones too\n" in shown
    assert (
        "newest" not in vespe_on_a_terminal("log", "-n", "20", cwd=project)
        and command("log", "-n", "2").err == ""
    )


def test_an_empty_log_says_so_on_stderr(command: Command) -> None:
    said = command("log")
    assert said.out == "" and "no calls yet" in said.err


def test_a_failed_call_shows_its_error_and_one_that_ran_its_arguments_where_they_are_kept(
    command: Command, project: Path
) -> None:
    python_tool(
        project / ".vespe/tools/tool-one",
        "one",
        "return 1",
        schema={"type": "object", "properties": {"a": {"type": "string"}}},
    )
    command("tool", "run", "one", "a=x y", "--log-arguments")
    command("tool", "run", "one", "b=1")
    first, second = (line.split("\t") for line in command("log").out.splitlines())
    assert first[5] == 'a="x y"' and second[3] == "invalid_arguments" and "`b`" in second[5]


def test_failed_calls_and_those_of_one_tool_can_be_chosen(command: Command, project: Path) -> None:
    for name in ("one", "two"):
        python_tool(project / f".vespe/tools/tool-{name}", name, "return 1")
        command("tool", "run", name)
    command("tool", "run", "two", "b=1")
    assert [call["tool"] for call in command("log", "--failed", "--json").document["calls"]] == [
        "two"
    ]
    assert [
        call["tool"] for call in command("log", "--tool", "one", "--json").document["calls"]
    ] == ["one"]


def test_calls_of_tests_are_shown_only_where_they_are_asked_for(
    command: Command, project: Path
) -> None:
    python_tool(
        project / ".vespe/tools/tool-one", "one", "return 1", examples=[{"input": {}, "output": 1}]
    )
    assert command("tool", "test", "one").code == 0
    assert command("log", "--json").document["calls"] == []
    assert [call["purpose"] for call in command("log", "--all", "--json").document["calls"]] == [
        "test"
    ]


def test_one_call_is_shown_whole_by_its_id(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    command("tool", "run", "one")
    (call,) = command("log", "--json").document["calls"]
    assert command("log", "show", call["id"]).document == call
    assert command("log", "show", "zz").code == 3 and command("log", "shw").code == 2


def test_times_are_local(command: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    command("tool", "run", "one")
    utc = command("log", "--json").document["calls"][0]["time"]
    said = {
        zone: vespe("log", cwd=project, env={"TZ": zone}).stdout.split("\t")[0]
        for zone in ("UTC", "UTC-5")
    }
    assert said["UTC"] == f"{utc[5:10]} {utc[11:19]}" and said["UTC-5"] != said["UTC"]


def test_following_prints_calls_as_they_come_and_ctrl_c_ends_it(project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    argv = [sys.executable, "-um", "vespe", "log", "-f"]
    with subprocess.Popen(
        argv, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=interruptible()
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        assert b"no calls yet" in running.stderr.readline()
        while running.poll() is None and not select.select([running.stdout], [], [], 0.5)[0]:
            vespe("tool", "run", "one", cwd=project)
        assert b"one  ok" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE_S) == 130


def test_outside_of_a_project_the_calls_of_each_are_told_apart(
    command: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    command("tool", "run", "one")
    assert str(project) not in command("log").out
    monkeypatch.chdir(tmp_path)
    assert f"\t{project}\tone\t" in command("log").out


def test_the_log_follows_a_project_that_is_moved(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    python_tool(project / ".vespe/tools/tool-two", "two", "return 1")
    command("tool", "run", "one")
    moved = project.with_name("moved")
    project.rename(moved)
    monkeypatch.chdir(moved)
    command("tool", "run", "two")
    assert [call["tool"] for call in command("log", "--json").document["calls"]] == ["one", "two"]
    moved.rename(project)
    found_project(str(moved))
    python_tool(moved / ".vespe/tools/tool-three", "three", "return 1")
    monkeypatch.chdir(moved)
    command("tool", "run", "three")
    monkeypatch.chdir(project)
    assert [call["tool"] for call in command("log", "--json").document["calls"]] == ["one", "two"]


def test_figures_are_counted_by_tool(command: Command, project: Path, home: Path) -> None:
    assert "no calls yet" in command("log", "--stats").err
    empty = command("log", "--stats", "--json").document
    assert empty == {"since": None, "calls": 0, "tools": []}
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    python_tool(project / ".vespe/tools/tool-two", "two", "raise ValueError('no')")
    for name in ("one", "two", "one"):
        command("tool", "run", name)
    said = command("log", "--stats", "--json").document
    assert [(row["tool"], row["calls"], row["failed"]) for row in said["tools"]] == [
        ("one", 2, 0),
        ("two", 1, 1),
    ]
    assert said["calls"] == 3 and said["since"].endswith("Z")
    assert all(0 < row["p50_ms"] <= row["p95_ms"] for row in said["tools"])
    done = command("log", "--stats", "--tool", "two")
    assert done.out.startswith("two\t1\t1\t") and ", 1 call" in done.err
    for words in (("--failed",), ("--follow",), ("--all",), ("show", "x")):
        assert command("log", "--stats", *words).code == 2
    (log,) = (home / "state/vespe/log").glob("*.jsonl")
    log.with_name(f"{log.name}.stats").write_text("[]", encoding="utf-8")
    done = command("log", "--stats", "--json")
    assert done.code == 0 and "not counted" in done.err and done.document["calls"] == 3
