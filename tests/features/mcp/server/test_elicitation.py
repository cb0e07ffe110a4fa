"""Questions to a client's user, and the answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.calls.asking import CallQuestions, PersonReply, ToolQuestion
from vespe.calls.policy import Question
from vespe.documents.unseen import is_seen
from vespe.errors import NeedsInput
from vespe.features.mcp.server import elicitation
from vespe.models import JsonObject, Tool

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "cases/questions/asked.json").read_text(encoding="utf-8")
)
TOOL = Tool(uid="t", name="send", description="Send a mail.", input_schema={}, scope="mail")


def asked(text: str = "Which one?", key: str = "one", problem: str = "") -> ToolQuestion:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    return ToolQuestion(tool="send", text=text, schema=schema, key=key, problem=problem)


def test_an_approval_says_what_would_run_and_takes_one_required_boolean() -> None:
    why = "it may send data to others"
    params = elicitation.approval(Question(tool=TOOL, inputs={"to": "a@b"}, why=why))
    assert "`send` would run (a tool of the kit mail)" in params["message"]
    assert 'to: "a@b"' in params["message"] and f"because {why}" in params["message"]
    schema = params["requestedSchema"]
    assert schema["required"] == ["allow"] == list(schema["properties"])
    assert schema["properties"]["allow"]["type"] == "boolean"


def test_an_approval_is_bounded_and_inert() -> None:
    inputs = {f"value{number}": "x" * 900 for number in range(100)} | {"to": "\x1b[2J\u202eevil"}
    message = elicitation.approval(Question(tool=TOOL, inputs=inputs, why="so"))["message"]
    assert len(message) < 17_000 and "more characters" in message
    assert message.endswith("You are asked because so.")
    assert "\x1b" not in message and "\u202e" not in message


def test_a_question_of_a_tool_names_it_and_says_what_was_wrong_before() -> None:
    params = elicitation.form(asked("Which\x1b[2J one?", problem="`n` must be an integer"))
    assert params["message"].startswith("The tool `send` asks:") and "\x1b" not in str(params)
    assert "did not fit: `n` must be an integer" in params["message"]
    assert params["requestedSchema"] == asked().schema


def test_hostile_questions_are_inert_in_a_clients_form_too() -> None:
    asked: list[ToolQuestion] = []

    def person(question: ToolQuestion) -> PersonReply:
        asked.append(question)
        return PersonReply(action="decline")

    for case in CASES:
        if case["shown"]:
            said = case["ask"]
            CallQuestions("raw", person).reply(said["question"], said.get("schema"))
    assert len(asked) > 20
    for question in asked:
        params = elicitation.form(question)
        assert params["message"].startswith("The tool `raw` asks:")
        assert is_seen(json.dumps(params, ensure_ascii=False)), question.text
        properties = params["requestedSchema"]["properties"]
        assert list(properties) == list(question.schema["properties"])


def test_no_question_of_a_tool_has_the_key_of_the_approval() -> None:
    assert elicitation.key_of(asked(key="user_name")) == "user_name"
    assert elicitation.key_of(asked(key=elicitation.APPROVAL)) != elicitation.APPROVAL


@pytest.mark.parametrize("answer", [None, 5, [], {}, {"action": "yes"}, {"action": ["accept"]}])
def test_what_is_no_answer_is_told(answer: Any) -> None:
    with pytest.raises(NeedsInput, match="must be accept, decline or cancel"):
        elicitation.reply_in(answer)


def test_only_a_true_that_was_accepted_allows() -> None:
    def allows(action: Any, **content: Any) -> bool:
        return elicitation.allows(PersonReply(action=action, content=content), tool="send")

    assert allows("accept", allow=True) is True
    for action, content in (
        ("accept", {"allow": False}),
        ("decline", {"allow": True}),
        ("cancel", {"allow": True}),
    ):
        assert allows(action, **content) is False
    for wrong in ({}, {"allow": 1}, {"allow": "true"}, {"allow": None}):
        with pytest.raises(NeedsInput, match="must be true or false"):
            allows("accept", **wrong)


def test_a_digest_tells_two_questions_apart() -> None:
    one: JsonObject = {"message": "a", "requestedSchema": {}}
    other = one | {"message": "b"}
    assert elicitation.digest_of(one) != elicitation.digest_of(other)
    assert elicitation.digest_of(one) == elicitation.digest_of(dict(one))
