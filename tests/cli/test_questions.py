"""How a person answers on the terminal what a tool asks."""

import io
import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, vespe
from tests.support.terminal import plain, vespe_on_a_terminal
from vespe.calls.asking import PersonReply, ToolQuestion
from vespe.cli import questions, report

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "description": "Who\x1b[2J it is."},
        "age": {"type": "integer", "minimum": 1},
        "share": {"type": "number", "default": 0.5},
        "sure": {"type": "boolean"},
        "stage": {"type": "string", "oneOf": [{"const": "a", "title": "Alpha"}, {"const": "b"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
    },
    "required": ["name", "age"],
}


def asked(typed: str, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> PersonReply:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    made = {"tool": "deploy", "text": "Where\x1b to?", "schema": FORM, "key": "k", **fields}
    return questions.answer(ToolQuestion(**made))


def test_a_form_is_filled_in_field_by_field_and_wrong_values_are_said(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = asked("y\nA\nAnna\n\nold\n7\n\nyes\n2\nx, 2\n", monkeypatch)
    assert reply == PersonReply(
        action="accept",
        content={
            "name": "Anna",
            "age": 7,
            "share": 0.5,
            "sure": True,
            "stage": "b",
            "tags": ["x", "y"],
        },
    )
    said = capfd.readouterr().err
    assert "The tool `deploy` asks:" in said and "Where\\x1b to?" in said and "\x1b" not in said
    assert "this one is needed" in said and "1  a  Alpha" in said
    assert "name is too short" in said or "'name'" in said or "name" in said


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("n\n", "decline"),
        ("what\nno\n", "decline"),
        ("", "cancel"),
        ("y\n", "cancel"),
        ("y\nAnna\n", "cancel"),
    ],
)
def test_a_no_declines_and_the_end_of_the_input_cancels(
    typed: str, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(typed, monkeypatch) == PersonReply(action=action)


def test_what_needs_no_values_is_agreed_to(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    empty = {"type": "object", "properties": {}}
    assert asked("y\n", monkeypatch, schema=empty) == PersonReply(action="accept")
    assert "Do you agree? [y/n]" in capfd.readouterr().err
    assert asked("y\n", monkeypatch, schema=empty, problem="too old").action == "accept"
    assert "That does not fit: too old" in capfd.readouterr().err


def test_a_question_that_is_over_is_not_asked_while_another_one_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = threading.Event()
    over.set()
    with questions.terminal() as first:
        assert first
        assert asked("y\n", monkeypatch, over=over) == PersonReply(action="cancel")
    assert asked("n\n", monkeypatch).action == "decline"


def test_no_progress_is_written_over_a_prompt(capfd: pytest.CaptureFixture[str]) -> None:
    with questions.terminal():
        report.progress.show("running")
    assert capfd.readouterr().err == ""


def test_without_a_terminal_there_is_nobody_to_ask() -> None:
    assert questions.asker() is None


@pytest.fixture
def asking_tool(project: Path) -> Path:
    """A project with a tool that asks before it notes that it ran."""
    body = 'import vespe_ask\nvespe_ask.ask("Pour it?")\nreturn "poured"'
    python_tool(project / ".vespe/tools/tool-pour", "pour", body)
    assert vespe("trust", "--yes", cwd=project).returncode == 0
    return project


@pytest.mark.parametrize(
    ("typed", "shown", "code"),
    [
        ("maybe\ny\n", "poured", 0),
        ("n\n", "declined", "declined"),
        ("\x04", "did not answer", "declined"),
    ],
)
def test_a_tool_that_runs_on_a_terminal_asks_there_once(
    asking_tool: Path, typed: str, shown: str, code: object
) -> None:
    said = vespe_on_a_terminal("tool", "run", "pour", columns=60, cwd=asking_tool, typed=typed)
    assert "The tool `pour` asks:\n  Pour it?\nDo you agree? [y/n]" in said and shown in said
    assert ("(exit code 6)" in said) is bool(code)
    calls = json.loads(vespe("log", "--json", cwd=asking_tool).stdout)["calls"]
    assert len(calls) == 1


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_question_about_a_call_fits_the_terminal_and_spells_its_keys_out_once(
    asking_tool: Path, columns: int
) -> None:
    text = "a rather long line that goes on beyond the width of every terminal " * 2
    turn = [{"name": "pour", "arguments": {}}]
    turns = [{"tool_calls": turn}, {"tool_calls": turn}, {"text": "Done."}]
    (asking_tool / "script.json").write_text(json.dumps({"turns": turns}), encoding="utf-8")
    config = asking_tool / ".vespe/tools/tool-pour/config.json"
    config.write_text(
        json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"description": text}),
        encoding="utf-8",
    )
    assert vespe("trust", "--yes", cwd=asking_tool).returncode == 0
    said = vespe_on_a_terminal(
        *("agent", "run", "Pour.", "--provider", "simulated", "--script", "script.json"),
        columns=columns,
        cwd=asking_tool,
        typed="n\nn\n",
    )
    shown = plain(said).split("Run it?")[0].splitlines()[1:]
    assert all(len(line) <= columns for line in shown) and said.count("Run it? [y/s/p") == 2
    assert said.count("s   yes, in this session") == 1 and "You are asked because it may" in said
