"""How a person answers on the terminal what a tool asks."""

import io
import sys
import threading
from typing import Any

import pytest

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
