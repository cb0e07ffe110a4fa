"""Anthropic's messages: `{"name", "description", "input_schema"}`."""

from vespe import schemas
from vespe.models import JsonObject, Tool


class AnthropicShape:
    """Tools as Anthropic's Messages API takes them (API reference, `tools`)."""

    name = "anthropic"

    def definition(self, tool: Tool) -> JsonObject:
        """Give `{"name", "description", "input_schema"}`."""
        return {"name": tool.name, "description": tool.description, "input_schema": schemas.closed_schema(tool.input_schema)}
