"""OpenAI's shape of a tool."""

from vespe.adapters.openai import OpenAIShape
from vespe.models import Tool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_a_tool_is_a_function_whose_closed_schema_says_so() -> None:
    tool = Tool(uid="tool-w", name="weather", description="Tell the weather.", input_schema=SCHEMA)
    assert OpenAIShape().definition(tool) == {
        "type": "function",
        "function": {"name": "weather", "description": "Tell the weather.", "parameters": SCHEMA | {"additionalProperties": False}},
    }


def test_a_schema_that_allows_more_is_shown_as_it_is() -> None:
    schema = SCHEMA | {"additionalProperties": {"type": "string"}}
    tool = Tool(uid="tool-w", name="weather", description="Tell the weather.", input_schema=schema)
    assert OpenAIShape().definition(tool)["function"]["parameters"] == schema
