"""Gemini's Interactions: tools, and whole conversations as steps.

What `generateContent` takes is in `vespe.adapters.gemini`.
"""

from vespe.adapters import definition_parts, definitions
from vespe.adapters.gemini_interactions.inbound import (
    as_steps,
    assistant_message,
    to_openai_messages,
)
from vespe.adapters.gemini_interactions.outbound import from_openai_messages
from vespe.adapters.messages import quote
from vespe.adapters.stops import from_interactions_usage
from vespe.models import JsonObject, Tool

__all__ = [
    "InteractionsShape",
    "as_steps",
    "assistant_message",
    "from_interactions_usage",
    "from_openai_messages",
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
