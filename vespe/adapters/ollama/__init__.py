"""Ollama's chat API: tools, calls and results; whole conversations both ways."""

from typing import ClassVar

from vespe.adapters import (
    arguments,
    definition_parts,
    definitions,
    model_calls,
    result_parts,
    tool_errors,
)
from vespe.adapters.ollama.messages import from_openai_messages, to_openai_messages
from vespe.adapters.stops import (
    done_reason_of,
    finish_reason_of_done,
    from_ollama_usage,
    to_ollama_usage,
)
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.records import dataclass

__all__ = [
    "OllamaAdapter",
    "OllamaShape",
    "done_reason_of",
    "finish_reason_of_done",
    "from_ollama_usage",
    "from_openai_messages",
    "to_ollama_usage",
    "to_openai_messages",
]


class OllamaShape:
    """Tools as Ollama's `/api/chat` takes them (its API page, `tools`)."""

    name = "ollama"

    def definition(self, tool: Tool) -> JsonObject:
        """Return `{"type": "function", "function": {…}}`; `properties` is always there, since
        Ollama's types require it.
        """
        own = definition_parts.own_fields(tool, self.name)
        inner = own.pop("function", None)
        parameters = {"type": "object", "properties": {}} | definition_parts.shown_schema(tool)
        function = definition_parts.described(tool) | {"parameters": parameters}
        return own | {
            "type": "function",
            "function": (inner if isinstance(inner, dict) else {}) | function,
        }

    def read(self, definition: JsonObject) -> Tool:
        """Return the tool of a definition."""
        function = definition.get("function")
        if not isinstance(function, dict):
            definitions.refuse(definition.get("name"), "needs a `function`")
        rest = definitions.others(definition, ("type", "function"))
        if inner := definitions.others(function, ("name", "description", "parameters")):
            rest["function"] = inner
        return definitions.foreign_tool(
            self.name, function, schema=function.get("parameters"), rest=rest
        )


@dataclass(frozen=True, slots=True)
class OllamaAdapter:
    """One tool at Ollama."""

    name: ClassVar[str] = "ollama"
    tool: Tool
    execute_tool = model_calls.execute_tool

    def generate_tool_description(self) -> JsonObject:
        """Return the entry of a request's `tools`."""
        return OllamaShape().definition(self.tool)

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Return the calls of a message, or of a whole response."""
        given = model_calls.read_answer(text_or_message, what="Ollama's message")
        message = given["message"] if isinstance(given.get("message"), dict) else given
        calls = model_calls.objects(message.get("tool_calls"), "`tool_calls`")
        return model_calls.own_calls(self.tool, (_call(call) for call in calls))

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonObject:
        """Return the tool message; an error's text begins with the line `[tool error]`, and images
        are its `images`.
        """
        value, failed = tool_errors.outcome_of(output)
        parts = result_parts.shown(value)
        text = parts if isinstance(parts, str) else result_parts.text_in(parts)
        message: JsonObject = {
            "role": "tool",
            "content": tool_errors.mark_to_read_back(text, error=failed),
            "tool_name": self.tool.name,
        }
        if not isinstance(parts, str):
            message["images"] = [data for _, data in result_parts.images_in(parts)]
        return message | ({"tool_call_id": call_id} if call_id else {})


def _call(call: JsonObject) -> Call:
    function = call.get("function")
    held = function if isinstance(function, dict) else {}
    given = held.get("arguments")
    kept = arguments.kept_text(given)
    return model_calls.made_call(held.get("name"), given if kept is None else kept, call.get("id"))
