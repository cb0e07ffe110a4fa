"""Ollama's chat API: OpenAI's shape, whose `parameters` must name their type and properties."""

from vespe import schemas
from vespe.models import JsonObject, Tool


class OllamaShape:
    """Tools as Ollama's `/api/chat` takes them (its API page, `tools`)."""

    name = "ollama"

    def definition(self, tool: Tool) -> JsonObject:
        """Give `{"type": "function", "function": {…}}`; `properties` is always there, since Ollama's types require it."""
        parameters = {"type": "object", "properties": {}} | schemas.closed_schema(tool.input_schema)
        return {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": parameters}}
