"""OpenAI's chat completions: tools, calls and results; and the inner messages as they go over its
wire.
"""

from typing import ClassVar

from vespe.adapters import definition_parts, definitions, model_calls, result_parts, tool_errors
from vespe.adapters.messages import quote
from vespe.adapters.openai.wire import to_wire
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.records import dataclass

__all__ = ["OpenAIAdapter", "OpenAIShape", "read_function", "to_wire"]


class OpenAIShape:
    """Tools as OpenAI's chat completions take them (API reference, `tools[].function`)."""

    name = "openai"

    def definition(self, tool: Tool) -> JsonObject:
        """Return `{"type": "function", "function": {"name", "description", "parameters"}}`."""
        own = definition_parts.own_fields(tool, self.name)
        inner = own.pop("function", None)
        function = definition_parts.described(tool) | {
            "parameters": definition_parts.shown_schema(tool)
        }
        return own | {
            "type": "function",
            "function": (inner if isinstance(inner, dict) else {}) | function,
        }

    def read(self, definition: JsonObject) -> Tool:
        """Return the tool of a definition; a custom tool, whose input is no object, is refused."""
        return read_function(self.name, definition)


def read_function(shape: str, definition: JsonObject) -> Tool:
    """Return the tool of `{"type": "function", "function": {…}}`, the definition that several APIs
    share.
    """
    function = definition.get("function")
    if definition.get("type") not in (None, "function") or not isinstance(function, dict):
        custom = definition.get("custom")
        name = custom.get("name") if isinstance(custom, dict) else definition.get("name")
        definitions.refuse(
            name,
            f"is of type {quote(definition.get('type'))}, which is not a function with a JSON "
            "object as its input",
        )
    rest = definitions.others(definition, ("type", "function"))
    if inner := definitions.others(function, ("name", "description", "parameters")):
        rest["function"] = inner
    return definitions.foreign_tool(shape, function, schema=function.get("parameters"), rest=rest)


@dataclass(frozen=True, slots=True)
class OpenAIAdapter:
    """One tool at OpenAI's chat completions, or at any endpoint that speaks them."""

    name: ClassVar[str] = "openai"
    tool: Tool
    execute_tool = model_calls.execute_tool

    def generate_tool_description(self) -> JsonObject:
        """Return the entry of a request's `tools`."""
        return OpenAIShape().definition(self.tool)

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Return the calls of a message, or of every choice of a whole response."""
        given = model_calls.read_answer(text_or_message, what="OpenAI's message")
        choices = model_calls.objects(given.get("choices"), "`choices`")
        messages = list(
            model_calls.objects([choice.get("message") or {} for choice in choices], "`message`")
        ) or [given]
        calls = (call for message in messages for call in _calls_of(message))
        return model_calls.own_calls(self.tool, (_call(call) for call in calls))

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonObject:
        """Return the tool message; an error's text begins with the line `[tool error]`.

        OpenAI takes no image in a tool message: `[image/png]` stands in its place. The image itself
        is for a user message behind the results, as `Toolset.answer` and `to_wire` make it.
        """
        value, failed = tool_errors.outcome_of(output)
        parts = result_parts.shown(value)
        text = parts if isinstance(parts, str) else result_parts.named(parts)
        return {
            "role": "tool",
            "tool_call_id": call_id,
            "content": tool_errors.mark(text, error=failed),
        }


def _calls_of(message: JsonObject) -> list[JsonObject]:
    """Return a message's `tool_calls`, or its deprecated `function_call` as the one that there
    is.
    """
    calls = list(model_calls.objects(message.get("tool_calls"), "`tool_calls`"))
    old = message.get("function_call")
    return calls or ([{"function": old}] if isinstance(old, dict) else [])


def _call(call: JsonObject) -> Call:
    function = call.get("custom") if call.get("type") == "custom" else call.get("function")
    held = function if isinstance(function, dict) else {}
    return model_calls.made_call(
        held.get("name"), held.get("arguments", held.get("input")), call.get("id")
    )
