"""OpenAI's chat completions: `{"type": "function", "function": {…}}`."""

from vespe import schemas
from vespe.models import JsonObject, Tool


class OpenAIShape:
    """Tools as OpenAI's chat completions take them (API reference, `tools[].function`)."""

    name = "openai"

    def definition(self, tool: Tool) -> JsonObject:
        """Give `{"type": "function", "function": {"name", "description", "parameters"}}`."""
        parameters = schemas.closed_schema(tool.input_schema)
        return {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": parameters}}
