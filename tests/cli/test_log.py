"""`vespe log`."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool

Command = Callable[..., Any]


def test_every_call_is_a_line_with_time_tool_outcome_and_a_digest(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    command("tool", "run", "one")
    command("tool", "run", "one", "x=1")
    calls = command("log", "--json").document["calls"]
    assert [(call["tool"], call["outcome"]) for call in calls] == [("one", "ok"), ("one", "invalid_arguments")]
    assert all(len(call["arguments_digest"]) == 64 and call["duration_ms"] > 0 for call in calls)


def test_the_log_is_private_and_lies_outside_the_project(command: Command, project: Path, home: Path) -> None:
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


def test_an_empty_log_says_so_on_stderr(command: Command) -> None:
    said = command("log")
    assert said.out == "" and "no calls yet" in said.err
