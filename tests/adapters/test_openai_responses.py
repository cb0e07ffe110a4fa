"""OpenAI's Responses API."""

import pytest

from tests.adapters.judges import accepts
from vespe.adapters.openai_responses import OpenAIResponsesAdapter, OpenAIResponsesShape
from vespe.errors import InvalidDocument, ToolExecutionError
from vespe.models import Tool

TOOL = Tool(
    uid="tool-t",
    name="t",
    description="T.",
    input_schema={"type": "object"},
    output_schema={"type": "array"},
)


def test_a_tool_is_flat_not_strict_and_says_its_output() -> None:
    definition = OpenAIResponsesShape().definition(TOOL)
    assert definition == {
        "strict": False,
        "type": "function",
        "name": "t",
        "description": "T.",
        "parameters": {"type": "object", "additionalProperties": False},
        "output_schema": {"type": "array"},
    }
    assert accepts("openai-responses tool", definition)
    assert OpenAIResponsesShape().read(definition).output_schema == {"type": "array"}


def test_strict_comes_back_where_it_was_said() -> None:
    definition = {
        "type": "function",
        "name": "t",
        "parameters": {"type": "object", "additionalProperties": False},
        "strict": True,
    }
    assert OpenAIResponsesShape().definition(OpenAIResponsesShape().read(definition)) == definition


def test_a_definition_without_strict_is_one_with_null_which_means_the_same() -> None:
    definition = {
        "type": "function",
        "name": "t",
        "parameters": {"type": "object", "additionalProperties": False},
    }
    made = OpenAIResponsesShape().definition(OpenAIResponsesShape().read(definition))
    assert made == {**definition, "strict": None} and accepts("openai-responses tool", made)


def test_a_tool_that_openai_runs_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="web_search"):
        OpenAIResponsesShape().read({"type": "web_search"})


def test_calls_are_read_from_a_response_or_an_item() -> None:
    item = {"type": "function_call", "call_id": "c", "id": "fc", "name": "t", "arguments": "{}"}
    for given in (item, {"output": [{"type": "reasoning"}, item]}):
        (call,) = OpenAIResponsesAdapter(TOOL).parse_llm_response(given)
        assert (call.call_id, call.arguments) == ("c", "{}")


def test_a_result_is_an_output_item() -> None:
    made = OpenAIResponsesAdapter(TOOL).format_tool_output(ToolExecutionError("no"), call_id="c")
    assert made == {"type": "function_call_output", "call_id": "c", "output": "[tool error]\nno"}
    assert OpenAIResponsesAdapter(TOOL).format_tool_output("yes", call_id="c")["output"] == "yes"


def test_an_output_schema_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="`output_schema` must be an object, not str"):
        OpenAIResponsesShape().read(
            {"type": "function", "name": "t", "parameters": {}, "output_schema": "x"}
        )
