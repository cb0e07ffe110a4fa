"""OpenAI's Responses API: tools, `function_call` items, their outputs, and conversations."""

from typing import ClassVar

from vespe.adapters import definition_parts, definitions, model_calls, result_parts, tool_errors
from vespe.adapters.messages import quote
from vespe.adapters.openai_responses.inbound import as_items, assistant_message, to_openai_messages
from vespe.adapters.openai_responses.outbound import from_openai_messages
from vespe.adapters.stops import from_responses_usage
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.records import dataclass

__all__ = [
    "OpenAIResponsesAdapter",
    "OpenAIResponsesShape",
    "as_items",
    "assistant_message",
    "from_openai_messages",
    "from_responses_usage",
    "to_openai_messages",
]


class OpenAIResponsesShape:
    """Tools as OpenAI's Responses API takes them (API reference, `tools[]` of type function)."""

    name = "openai-responses"

    def definition(self, tool: Tool) -> JsonObject:
        """Return `{"type": "function", "name", "description", "parameters",
        "strict"}`, with `output_schema` where there is one.

        `strict` is false unless config.json says otherwise: this API takes its absence for true,
        and then refuses schemas that leave an argument optional. For a definition of this API's own
        without it, it is null, which means the same.
        """
        own = {"strict": False} | definition_parts.own_fields(tool, self.name)
        told = definition_parts.described(tool) | {
            "parameters": definition_parts.shown_schema(tool)
        }
        return (
            own | {"type": "function"} | told | definition_parts.shown_output(tool, "output_schema")
        )

    def read(self, definition: JsonObject) -> Tool:
        """Return the tool of a definition; one that OpenAI runs itself is refused."""
        if definition.get("type") != "function":
            definitions.refuse(
                definition.get("name"),
                f"is of type {quote(definition.get('type'))}, which is not a function",
            )
        rest = {"strict": None} | definitions.others(
            definition, ("type", "name", "description", "parameters", "output_schema")
        )
        return definitions.foreign_tool(
            self.name,
            definition,
            schema=definition.get("parameters"),
            rest=rest,
            output_schema=definitions.object_or_none(
                definition, "output_schema", definition.get("output_schema")
            ),
        )


@dataclass(frozen=True, slots=True)
class OpenAIResponsesAdapter:
    """One tool at OpenAI's Responses API."""

    name: ClassVar[str] = "openai-responses"
    tool: Tool
    execute_tool = model_calls.execute_tool

    def generate_tool_description(self) -> JsonObject:
        """Return the entry of a request's `tools`."""
        return OpenAIResponsesShape().definition(self.tool)

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Return the calls among a response's `output` items, or of a single item."""
        given = model_calls.read_answer(text_or_message, what="OpenAI's response")
        items = (
            [given]
            if given.get("type") == "function_call"
            else model_calls.objects(given.get("output"), "`output`")
        )
        calls = (item for item in items if item.get("type") == "function_call")
        return model_calls.own_calls(
            self.tool,
            (
                model_calls.made_call(c.get("name"), c.get("arguments"), c.get("call_id"))
                for c in calls
            ),
        )

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonObject:
        """Return the `function_call_output` item; an error's text begins with the line
        `[tool error]`, and images are `input_image` parts of the output.
        """
        value, failed = tool_errors.outcome_of(output)
        parts = result_parts.shown(value)
        return {
            "type": "function_call_output",
            "call_id": call_id,
            "output": tool_errors.mark(parts, error=failed)
            if isinstance(parts, str)
            else [_input_part(part) for part in parts],
        }


def _input_part(part: JsonObject) -> JsonObject:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"]}
