"""Gemini's declarations, calls and responses."""

import pytest

from vespe.adapters.gemini import GeminiAdapter, GeminiShape, json_schema
from vespe.errors import InvalidDocument, ToolExecutionError
from vespe.models import Tool

SCHEMA = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/a"}},
    "$defs": {"a": {"type": "string"}},
    "additionalProperties": False,
}
TOOL = Tool(
    uid="tool-t", name="t", description="T.", input_schema=SCHEMA, output_schema={"type": "object"}
)


def test_a_declaration_carries_json_schema_whole() -> None:
    definition = GeminiShape().definition(TOOL)
    assert definition == {
        "name": "t",
        "description": "T.",
        "parametersJsonSchema": SCHEMA,
        "responseJsonSchema": {"type": "object"},
    }
    assert GeminiShape().definition(GeminiShape().read(definition)) == definition


def test_older_schemas_and_snake_case_are_read() -> None:
    older = {
        "type": "OBJECT",
        "properties": {
            "tags": {
                "type": "ARRAY",
                "minItems": "1",
                "items": {"type": "STRING", "nullable": True, "enum": ["a"]},
            },
            "type": {"anyOf": [{"type": "INTEGER"}, {"type": "NULL"}]},
        },
        "propertyOrdering": ["tags"],
        "required": ["tags"],
    }
    tool = GeminiShape().read({"name": "t", "parameters": older, "behavior": "BLOCKING"})
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "tags": {
                "type": "array",
                "minItems": 1,
                "items": {"type": ["string", "null"], "enum": ["a", None]},
            },
            "type": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["tags"],
    }
    assert GeminiShape().definition(tool)["behavior"] == "BLOCKING"
    assert (
        GeminiShape().read({"name": "t", "parameters_json_schema": SCHEMA}).input_schema == SCHEMA
    )


@pytest.mark.parametrize(
    "schema", [None, "x", {"nullable": False, "type": "string"}, {"nullable": True}]
)
def test_other_schemas_are_let_be(schema: object) -> None:
    expected = (
        {key: value for key, value in schema.items() if key != "nullable"}
        if isinstance(schema, dict)
        else schema
    )
    assert json_schema(schema) == expected


def test_calls_are_read_from_a_content_and_from_candidates() -> None:
    content = {
        "role": "model",
        "parts": [
            {"text": "a"},
            {"functionCall": {"id": "c", "name": "t", "args": {"a": "x"}}},
            {"function_call": {"name": "t"}},
        ],
    }
    for given in (content, {"candidates": [{"content": content}, {}]}):
        calls = GeminiAdapter(TOOL).parse_llm_response(given)
        assert [(call.call_id, call.arguments) for call in calls] == [("c", {"a": "x"}), (None, {})]


@pytest.mark.parametrize(
    ("output", "response"),
    [({"a": 1}, {"a": 1}), ([1], {"result": [1]}), (ToolExecutionError("no"), {"error": "no"})],
)
def test_a_result_is_a_function_response(output: object, response: object) -> None:
    made = GeminiAdapter(TOOL).format_tool_output(output, call_id="c")
    assert made == {"functionResponse": {"id": "c", "name": "t", "response": response}}
    assert "id" not in GeminiAdapter(TOOL).format_tool_output(output)["functionResponse"]


def test_a_response_schema_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="`response` must be an object, not str"):
        GeminiShape().read({"name": "t", "response": "x"})
