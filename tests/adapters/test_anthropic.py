"""Anthropic's shape of a tool."""

from vespe.adapters.anthropic import AnthropicShape
from vespe.models import Tool


def test_a_tool_is_a_name_a_description_and_an_input_schema() -> None:
    tool = Tool(uid="tool-t", name="today", description="Tell the date.", input_schema={"type": "object"})
    assert AnthropicShape().definition(tool) == {
        "name": "today",
        "description": "Tell the date.",
        "input_schema": {"type": "object", "additionalProperties": False},
    }
