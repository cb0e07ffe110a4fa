"""MCP's shape of a tool."""

from vespe.adapters.mcp import McpShape
from vespe.models import Tool

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}}


def test_annotations_title_and_an_object_output_are_listed() -> None:
    annotations = {"readOnlyHint": True, "title": "Today"}
    tool = Tool(
        uid="tool-t", name="today", description="D.", input_schema={"type": "object"}, output_schema=OBJECT, annotations=annotations
    )
    shown = McpShape().definition(tool)
    assert (shown["title"], shown["outputSchema"], shown["annotations"]) == ("Today", OBJECT, annotations)
    assert shown["inputSchema"] == {"type": "object", "additionalProperties": False}


def test_an_output_that_is_no_object_is_not_listed() -> None:
    tool = Tool(uid="tool-t", name="today", description="D.", input_schema={"type": "object"}, output_schema={"type": "string"})
    assert McpShape().definition(tool).keys() == {"name", "description", "inputSchema"}
