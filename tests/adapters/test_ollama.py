"""Ollama: tools, calls and results."""

import pytest

from vespe.adapters.ollama import OllamaAdapter, OllamaShape
from vespe.errors import InvalidDocument, ToolExecutionError
from vespe.models import Tool

TOOL = Tool(
    uid="tool-t", name="today", description="Tell the date.", input_schema={"type": "object"}
)


def test_properties_are_there_even_where_the_schema_has_none() -> None:
    parameters = OllamaShape().definition(TOOL)["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {}, "additionalProperties": False}


def test_fields_that_only_ollama_knows_are_kept() -> None:
    parameters = {"type": "object", "properties": {}, "additionalProperties": False}
    definition = {
        "type": "function",
        "function": {"name": "t", "parameters": parameters, "x": 1},
        "y": 2,
    }
    assert OllamaShape().definition(OllamaShape().read(definition)) == definition


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="needs a `function`"):
        OllamaShape().read({"name": "t"})


def test_calls_are_read_from_a_message_and_from_a_response() -> None:
    message = {
        "role": "assistant",
        "tool_calls": [
            {"id": "c", "function": {"name": "today", "arguments": {"a": 1}}},
            {"function": {"name": "today", "arguments": {"vespe_arguments": "{"}}},
        ],
    }
    for given in (message, {"message": message, "done": True}):
        calls = OllamaAdapter(TOOL).parse_llm_response(given)
        assert [(call.call_id, call.arguments) for call in calls] == [("c", {"a": 1}), (None, "{")]


def test_results_bear_the_tools_name_and_errors_a_mark() -> None:
    adapter = OllamaAdapter(TOOL)
    assert adapter.format_tool_output("r") == {"role": "tool", "content": "r", "tool_name": "today"}
    failed = adapter.format_tool_output(ToolExecutionError("no"), call_id="c")
    assert failed == {
        "role": "tool",
        "content": "[tool error]\nno",
        "tool_name": "today",
        "tool_call_id": "c",
    }
