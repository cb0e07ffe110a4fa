"""Anthropic: tools, calls, results, and whole conversations there and back."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.adapters import strategies
from tests.adapters.judges import accepts, assert_anthropic_request
from vespe.adapters.anthropic import AnthropicAdapter, AnthropicShape, from_openai_messages, to_openai_messages
from vespe.errors import InvalidDocument, InvalidToolCall, ToolExecutionError
from vespe.models import Tool

RECORDED = sorted((Path(__file__).parent.parent / "cases" / "adapters" / "recorded").glob("*/*.json"))
TOOL = Tool(uid="tool-t", name="today", description="Tell the date.", input_schema={"type": "object"})


def test_a_tool_is_a_name_a_description_and_an_input_schema() -> None:
    assert AnthropicShape().definition(TOOL) == {
        "name": "today",
        "description": "Tell the date.",
        "input_schema": {"type": "object", "additionalProperties": False},
    }


def test_fields_that_only_anthropic_knows_are_kept_and_come_back() -> None:
    definition = {"name": "t", "input_schema": {"type": "object", "additionalProperties": False}, "strict": True, "defer_loading": True}
    assert AnthropicShape().definition(AnthropicShape().read(definition)) == definition
    assert accepts("anthropic tool", definition)


def test_a_tool_that_anthropic_runs_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="web_search_20250305"):
        AnthropicShape().read({"type": "web_search_20250305", "name": "web_search"})


def test_calls_are_read_from_a_message_and_those_of_server_tools_are_not() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "server_tool_use", "id": "s", "name": "today", "input": {}},
        {"type": "tool_use", "id": "c", "name": "today", "input": {"a": 1}},
        {"type": "tool_use", "id": "d", "name": "today", "input": {"vespe_arguments": "{"}},
    ]
    calls = AnthropicAdapter(TOOL).parse_llm_response({"role": "assistant", "content": blocks})
    assert [(call.call_id, call.arguments) for call in calls] == [("c", {"a": 1}), ("d", "{")]
    assert AnthropicAdapter(TOOL).parse_llm_response('{"content": "hello"}') == ()


def test_a_call_of_another_tool_alone_is_no_call_of_this_one() -> None:
    with pytest.raises(InvalidToolCall, match="'other'"):
        AnthropicAdapter(TOOL).parse_llm_response({"content": [{"type": "tool_use", "id": "c", "name": "other", "input": {}}]})


def test_results_and_errors_are_blocks() -> None:
    adapter = AnthropicAdapter(TOOL)
    assert adapter.format_tool_output({"a": 1}, call_id="c") == {"type": "tool_result", "tool_use_id": "c", "content": '{"a":1}'}
    failed = adapter.format_tool_output(ToolExecutionError("it failed"), call_id="c")
    assert failed == {"type": "tool_result", "tool_use_id": "c", "content": "it failed", "is_error": True}
    assert accepts("anthropic message", {"role": "user", "content": [failed]})


@settings(derandomize=True, max_examples=200, deadline=None)
@given(strategies.openai_conversations())
def test_there_and_back_is_the_identity_on_what_both_can_express(messages: list[dict[str, Any]]) -> None:
    given_messages = copy.deepcopy(messages)
    made = from_openai_messages(messages)
    assert messages == given_messages
    assert_anthropic_request(made["system"], made["messages"])
    assert to_openai_messages(made["messages"], made["system"]) == messages
    assert from_openai_messages(to_openai_messages(made["messages"], made["system"])) == made


def case_of(path: Path) -> list[dict[str, Any]]:
    request = json.loads(path.read_text(encoding="utf-8"))["request"]
    return to_openai_messages(request["messages"], request.get("system")) if path.parent.name == "anthropic" else request["messages"]


@pytest.mark.parametrize("path", [p for p in RECORDED if p.parent.name != "ollama"], ids=lambda p: p.stem)
def test_recorded_conversations_become_requests_that_anthropic_takes(path: Path) -> None:
    made = from_openai_messages(case_of(path))
    assert_anthropic_request(made["system"], made["messages"])
    assert from_openai_messages(to_openai_messages(made["messages"], made["system"])) == made


@pytest.mark.parametrize("path", [p for p in RECORDED if p.parent.name == "anthropic"], ids=lambda p: p.stem)
def test_recorded_requests_of_anthropic_come_back_as_they_were(path: Path) -> None:
    request = json.loads(path.read_text(encoding="utf-8"))["request"]
    assert from_openai_messages(case_of(path)) == {"system": request.get("system", []), "messages": request["messages"]}
