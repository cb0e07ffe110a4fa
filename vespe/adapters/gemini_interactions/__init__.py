"""Gemini's Interactions: tools, calls and results, and whole conversations as steps.

What `generateContent` takes is in `vespe.adapters.gemini`.
"""

from typing import ClassVar

from vespe.adapters import (
    definition_parts,
    definitions,
    model_calls,
    result_parts,
    tool_errors,
)
from vespe.adapters.gemini_interactions.contents import to_content
from vespe.adapters.gemini_interactions.inbound import (
    as_steps,
    assistant_message,
    last_turn,
    to_openai_messages,
)
from vespe.adapters.gemini_interactions.outbound import from_openai_messages
from vespe.adapters.messages import quote
from vespe.adapters.stops import from_interactions_usage
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.records import dataclass

__all__ = [
    "InteractionsAdapter",
    "InteractionsShape",
    "as_steps",
    "assistant_message",
    "from_interactions_usage",
    "from_openai_messages",
    "last_turn",
    "to_openai_messages",
]


class InteractionsShape:
    """Tools as Gemini's Interactions takes them (API reference, `tools[]` of type function)."""

    name = "gemini-interactions"

    def definition(self, tool: Tool) -> JsonObject:
        """Return `{"type": "function", "name", "description", "parameters"}`."""
        told = definition_parts.described(tool) | {
            "parameters": definition_parts.shown_schema(tool)
        }
        return definition_parts.own_fields(tool, self.name) | {"type": "function"} | told

    def read(self, definition: JsonObject) -> Tool:
        """Return the tool of a definition; one that Gemini runs itself is refused."""
        if definition.get("type") != "function":
            definitions.refuse(
                definition.get("name"),
                f"is of type {quote(definition.get('type'))}, which is not a function",
            )
        rest = definitions.others(definition, ("type", "name", "description", "parameters"))
        return definitions.foreign_tool(
            self.name, definition, schema=definition.get("parameters"), rest=rest
        )


@dataclass(frozen=True, slots=True)
class InteractionsAdapter:
    """One tool at Gemini's Interactions."""

    name: ClassVar[str] = "gemini-interactions"
    tool: Tool
    execute_tool = model_calls.execute_tool

    def generate_tool_description(self) -> JsonObject:
        """Return the entry of a request's `tools`."""
        return InteractionsShape().definition(self.tool)

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Return the calls among an interaction's steps, behind what others said last, or of a
        single step.
        """
        given = model_calls.read_answer(text_or_message, what="Gemini's interaction")
        steps = (
            [given]
            if given.get("type") == "function_call"
            else last_turn(model_calls.objects(given.get("steps"), "`steps`"))
        )
        calls = (step for step in steps if step.get("type") == "function_call")
        return model_calls.own_calls(
            self.tool,
            (model_calls.made_call(c.get("name"), c.get("arguments"), c.get("id")) for c in calls),
        )

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonObject:
        """Return the `function_result` step, with `is_error` where the call failed; images are
        contents of the result.
        """
        value, failed = tool_errors.outcome_of(output)
        parts = result_parts.shown(value)
        return {
            "type": "function_result",
            "call_id": call_id,
            "name": self.tool.name,
            "result": parts if isinstance(parts, str) else [to_content(part, 0) for part in parts],
            **tool_errors.field_of(failed),
        }
