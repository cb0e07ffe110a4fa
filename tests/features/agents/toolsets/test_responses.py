"""Responses of five APIs, whole or a message alone."""

from typing import Any

import pytest

from vespe.errors import InvalidToolCall, ParsingError
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.toolsets.responses import cut_calls, read_turn
from vespe.models import Failure, Outcome, Tool

TOOL = Tool(uid="", name="f", description="", input_schema={})
CHAT = {
    "role": "assistant",
    "tool_calls": [
        {"id": "i", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    ],
}
CLAUDE: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "so"},
        {"type": "tool_use", "id": "i", "name": "f", "input": {"a": 1}},
    ],
}
GEMINI = {
    "role": "model",
    "parts": [{"text": "so"}, {"functionCall": {"name": "f", "args": {"a": 1}}}],
}
LLAMA = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
}
STEPS: list[dict[str, Any]] = [
    {"type": "thought", "signature": "c2ln"},
    {"type": "function_call", "id": "i", "name": "f", "arguments": {"a": 1}},
]
ITEMS = [
    {"type": "reasoning", "id": "r", "summary": []},
    {"type": "function_call", "call_id": "i", "name": "f", "arguments": '{"a": 1}'},
]


@pytest.mark.parametrize(
    ("vendor", "response", "kept"),
    [
        ("openai", {"choices": [{"message": CHAT, "finish_reason": "tool_calls"}]}, [CHAT]),
        ("openai", CHAT, [CHAT]),
        ("openai-responses", {"object": "response", "output": ITEMS}, ITEMS),
        ("anthropic", {"type": "message", "id": "m", **CLAUDE}, [CLAUDE]),
        ("anthropic", CLAUDE, [CLAUDE]),
        ("gemini", {"candidates": [{"content": GEMINI}]}, [GEMINI]),
        ("gemini", GEMINI, [GEMINI]),
        ("gemini-interactions", {"status": "requires_action", "steps": STEPS}, STEPS),
        ("ollama", {"model": "m", "message": LLAMA, "done": True}, [LLAMA]),
    ],
)
def test_a_response_is_known_and_its_turn_is_kept_as_it_came(
    vendor: str, response: dict[str, Any], kept: list[Any]
) -> None:
    turn = read_turn(response)
    assert (turn.vendor, list(turn.messages)) == (vendor, kept)
    assert [(call.name, call.arguments in ('{"a": 1}', {"a": 1})) for call in turn.calls] == [
        ("f", True)
    ]


@pytest.mark.parametrize(
    "response",
    [
        {"choices": [{"message": CHAT, "finish_reason": "length"}]},
        {"object": "response", "output": ITEMS, "status": "incomplete"},
        {"type": "message", "stop_reason": "max_tokens", **CLAUDE},
        {"candidates": [{"content": GEMINI, "finishReason": "MAX_TOKENS"}]},
        {"message": LLAMA, "done_reason": "length"},
    ],
)
def test_the_last_call_of_an_answer_that_was_cut_off_may_not_be_whole(
    response: dict[str, Any],
) -> None:
    assert list(cut_calls(read_turn(response))) == [0]
    assert (
        list(cut_calls(read_turn({"choices": [{"message": CHAT, "finish_reason": "stop"}]}))) == []
    )


@pytest.mark.parametrize("response", [{}, {"error": {"message": "no"}}, 3, None, "{", []])
def test_what_is_no_response_is_refused_with_a_sentence(response: Any) -> None:
    with pytest.raises(ParsingError):
        read_turn(response)


def test_calls_that_are_no_list_are_refused() -> None:
    with pytest.raises(InvalidToolCall):
        read_turn({"choices": [{"message": {"tool_calls": 3}}]})


@pytest.mark.parametrize("response", [CHAT, CLAUDE, GEMINI, {"message": LLAMA}, {"output": ITEMS}])
def test_a_failure_is_told_to_every_model(response: dict[str, Any]) -> None:
    turn = read_turn(response)
    outcome = Outcome(tool="f", uid="", error=Failure(code="tool_error", message="it broke"))
    assert "it broke" in str(
        turn.results([CallResult(call=turn.calls[0], outcome=outcome)], {"f": TOOL})
    )


def test_a_turn_without_calls_has_nothing_to_tell() -> None:
    assert read_turn({"type": "message", "content": "hi"}).results([], {}) == []
    assert read_turn({"candidates": []}).results([], {}) == []


IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
SEEN = Outcome(tool="f", uid=None, result={"content": [{"type": "text", "text": "t"}, IMAGE]})
PLACED = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}


def results_of(response: dict[str, Any]) -> list[dict[str, Any]]:
    turn = read_turn(response)
    return turn.results([CallResult(call=turn.calls[0], outcome=SEEN)], {"f": TOOL})


def test_an_image_is_shown_in_a_user_message_behind_the_results_of_chat_completions() -> None:
    result, image = results_of(CHAT)
    assert (result["role"], result["content"]) == ("tool", [{"type": "text", "text": "t"}])
    assert image["role"] == "user"
    assert image["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="


def test_without_an_id_nothing_says_whose_image_it_is_and_its_type_is_told() -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    (result,) = results_of({"role": "assistant", "tool_calls": [call]})
    assert result["content"] == "t\n[image/png]"


@pytest.mark.parametrize(
    ("version", "inside"),
    [("", True), ("gemini-3-pro", True), ("gemini-10", True), ("gemini-2.5-flash", False)],
)
def test_an_image_is_in_geminis_response_or_beside_it_by_its_version(
    version: str, inside: bool
) -> None:
    (content,) = results_of({"candidates": [{"content": GEMINI}], "modelVersion": version})
    response = content["parts"][0]["functionResponse"]
    assert response["response"] == {"result": "t"}
    assert (response.get("parts"), content["parts"][1:]) == (
        ([PLACED], []) if inside else (None, [PLACED])
    )


def test_no_call_of_an_interaction_that_goes_on_elsewhere_is_whole() -> None:
    both = [*STEPS, STEPS[1] | {"id": "j"}]
    for status, cut in (
        ("requires_action", []),
        ("incomplete", [1]),
        ("requires_continuation", [0, 1]),
    ):
        turn = read_turn({"status": status, "steps": both})
        assert list(cut_calls(turn)) == cut
