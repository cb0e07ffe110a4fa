"""`vespe agent calls` of a conversation whose program waits: the call is shown, allowed or denied,
and made once; what nobody saw end is settled by a person.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool

pytest.importorskip("pydantic_monty")
Command = Callable[..., Any]
BODY = "with open('counter', 'a') as file:\n    file.write('x')\nreturn 1"
CODE = "a = mark()\nb = mark()\na + b"


@pytest.fixture
def talk(command: Command, project: Path) -> Path:
    """A conversation whose program waits for its first call."""
    python_tool(project / ".vespe/tools/tool-mark", "mark", BODY)
    script = {"turns": [{"tool_calls": [{"name": "run_code", "arguments": {"code": CODE}}]}]}
    (project / "s.json").write_text(json.dumps(script), encoding="utf-8")
    done = command(
        "agent", "run", "hi", "--provider", "simulated", "--script", "s.json",
        "--tools-mode", "code", "--save", "talk.json",
    )  # fmt: skip
    assert done.code == 1 and "needs your approval" in done.err, done.err
    assert "vespe agent calls talk.json approve" in done.err
    return project / "talk.json"


def count(project: Path) -> int:
    counter = project / "counter"
    return len(counter.read_text(encoding="utf-8")) if counter.exists() else 0


def test_each_call_is_approved_in_its_turn_and_made_once(
    command: Command, project: Path, talk: Path
) -> None:
    shown = command("agent", "calls", "talk.json")
    assert "a program waits for call_1_1/1 in line 1: mark {}" in shown.err and count(project) == 0
    done = command("agent", "calls", "talk.json", "approve", "--yes")
    assert done.code == 1 and "call_1_1/2 in line 2: mark {}" in done.err and count(project) == 1
    done = command("agent", "calls", "talk.json", "approve", "--yes", "--json")
    assert done.code == 0 and count(project) == 2 and done.document["open_calls"] == 0
    assert done.document["calls"][0]["content"] == "2"


def test_all_alike_are_approved_at_once_and_deny_raises_in_the_program(
    command: Command, project: Path, talk: Path
) -> None:
    before = talk.read_text(encoding="utf-8")
    assert command("agent", "calls", "talk.json", "approve", "--yes", "--alike").code == 0
    assert count(project) == 2
    talk.write_text(before, encoding="utf-8")
    assert command("agent", "calls", "talk.json", "deny").code == 0
    assert count(project) == 2
    last = json.loads(talk.read_text(encoding="utf-8"))["messages"][-1]
    assert "line 1: PermissionError: the user has denied this call of 'mark'" in last["content"]


def test_a_program_that_made_calls_and_whose_tool_is_renamed_is_not_said_never_to_have_run(
    command: Command, project: Path, talk: Path
) -> None:
    before = talk.read_text(encoding="utf-8")
    assert command("agent", "calls", "talk.json", "approve", "--yes").code == 1
    assert command("tool", "rename", "mark", "marked").code == 0
    argv = ("agent", "calls", "talk.json", "approve", "--yes")
    assert command(*argv).code == 1 and count(project) == 1
    said = json.loads(talk.read_text(encoding="utf-8"))["messages"][-1]["content"]
    assert said.startswith("the program had made 1 call, and cannot go on because its tools have")
    assert "called 'mark'" in said and "what it has done is not undone" in said
    assert "was not run" not in said and "make it again" not in said
    talk.write_text(before, encoding="utf-8")  # it had made none
    assert command(*argv).code == 1 and count(project) == 1
    said = json.loads(talk.read_text(encoding="utf-8"))["messages"][-1]["content"]
    assert said.startswith("the program was not run") and "called 'mark'" in said


def test_what_nobody_saw_end_is_settled_by_a_person(
    command: Command, project: Path, talk: Path
) -> None:
    assert command("agent", "calls", "talk.json", "approve", "--yes").code == 1
    held = json.loads(talk.read_text(encoding="utf-8"))
    program = held["vespe"]["programs"]["call_1_1"]
    del program["calls"][0]["outcome"], program["waits"]  # killed while it ran
    talk.write_text(json.dumps(held), encoding="utf-8")
    refused = command("agent", "calls", "talk.json", "approve", "--yes")
    assert refused.code == 1 and "its outcome is unknown" in refused.err and count(project) == 1
    refused = command("agent", "calls", "talk.json", "approve", "--yes")
    assert refused.code == 6 and "--happened RESULT" in refused.err and count(project) == 1
    before = talk.read_text(encoding="utf-8")
    argv = ("agent", "calls", "talk.json", "approve", "--yes", "--alike")
    done = command(*argv, "--happened", "40")
    assert done.code == 1 and count(project) == 1  # the second call waits in its turn
    assert command(*argv).code == 0 and count(project) == 2
    assert json.loads(talk.read_text(encoding="utf-8"))["messages"][-1]["content"] == "41"
    talk.write_text(before, encoding="utf-8")
    assert command(*argv, "--run-again").code == 0 and count(project) == 4
    assert command("agent", "calls", "talk.json", "approve", "--run-again", "--yes").code == 2
