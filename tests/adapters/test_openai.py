"""OpenAI's chat completions: tools, calls, results, and inner messages on the wire."""

from typing import Any

import pytest

from vespe.adapters.openai import OpenAIAdapter, OpenAIShape, to_wire
from vespe.errors import InvalidDocument, InvalidToolCall, ToolExecutionError
from vespe.models import Tool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = Tool(uid="tool-w", name="weather", description="Tell the weather.", input_schema=SCHEMA)


def test_a_tool_is_a_function_whose_closed_schema_says_so() -> None:
    assert OpenAIShape().definition(TOOL) == {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Tell the weather.",
            "parameters": SCHEMA | {"additionalProperties": False},
        },
    }


def test_a_schema_that_allows_more_is_shown_as_it_is() -> None:
    schema = SCHEMA | {"additionalProperties": {"type": "string"}}
    tool = Tool(uid="tool-w", name="weather", description="Tell the weather.", input_schema=schema)
    assert OpenAIShape().definition(tool)["function"]["parameters"] == schema


def test_fields_that_only_openai_knows_are_kept_on_both_levels() -> None:
    parameters = {"type": "object", "additionalProperties": False}
    definition = {
        "type": "function",
        "function": {"name": "t", "strict": True, "parameters": parameters},
        "cache_control": {"type": "ephemeral"},
    }
    assert OpenAIShape().definition(OpenAIShape().read(definition)) == definition


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "custom", "custom": {"name": "sh"}},
        {"type": "openrouter:web_search"},
        {"function": 3},
    ],
)
def test_what_is_no_function_is_refused(definition: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument, match="is not a function"):
        OpenAIShape().read(definition)


def test_calls_are_read_from_a_message_and_from_every_choice() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{"}}
    adapter = OpenAIAdapter(TOOL)
    (read,) = adapter.parse_llm_response({"role": "assistant", "tool_calls": [call]})
    assert (read.tool, read.arguments, read.call_id) == ("weather", "{", "c")
    assert (
        len(
            adapter.parse_llm_response(
                {
                    "choices": [
                        {"message": {"tool_calls": [call]}},
                        {"message": {"tool_calls": [call]}},
                        {},
                    ]
                }
            )
        )
        == 2
    )
    assert adapter.parse_llm_response('{"role": "assistant", "content": "hello"}') == ()


def test_a_custom_call_gives_its_text() -> None:
    (read,) = OpenAIAdapter(TOOL).parse_llm_response(
        {"tool_calls": [{"type": "custom", "custom": {"name": "weather", "input": "Paris"}}]}
    )
    assert read.arguments == "Paris"


@pytest.mark.parametrize("calls", [[{}], [{"function": {}}], "x", [3]])
def test_a_call_that_is_none_is_refused(calls: object) -> None:
    with pytest.raises(InvalidToolCall):
        OpenAIAdapter(TOOL).parse_llm_response({"tool_calls": calls})


def test_a_result_is_a_tool_message_whose_text_says_that_it_is_an_error() -> None:
    made = OpenAIAdapter(TOOL).format_tool_output(ToolExecutionError("it failed"), call_id="c")
    assert made == {
        "role": "tool",
        "tool_call_id": "c",
        "content": "[tool error]\nit failed",
    } and to_wire([made]) == [made]
    assert OpenAIAdapter(TOOL).format_tool_output("fine", call_id="c")["content"] == "fine"


def test_a_deprecated_function_call_is_read() -> None:
    (read,) = OpenAIAdapter(TOOL).parse_llm_response(
        {"function_call": {"name": "weather", "arguments": "{}"}}
    )
    assert (read.tool, read.arguments) == ("weather", "{}")
