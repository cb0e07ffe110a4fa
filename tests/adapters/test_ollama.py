"""Ollama's shape of a tool."""

from vespe.adapters.ollama import OllamaShape
from vespe.models import Tool


def test_properties_are_there_even_where_the_schema_has_none() -> None:
    tool = Tool(uid="tool-t", name="today", description="Tell the date.", input_schema={"type": "object"})
    parameters = OllamaShape().definition(tool)["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {}, "additionalProperties": False}
