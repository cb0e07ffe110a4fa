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
