"""Anthropic's Messages API: tools, calls and results; whole conversations both ways."""

from typing import ClassVar

from vespe.adapters import (
    arguments,
    definition_parts,
    definitions,
    model_calls,
    result_parts,
    tool_errors,
)
from vespe.adapters.anthropic.inbound import to_openai_messages
from vespe.adapters.anthropic.outbound import from_openai_messages
from vespe.adapters.content_parts import to_block
from vespe.adapters.messages import quote
from vespe.adapters.stops import (
    from_anthropic_usage,
    to_anthropic_usage,
    to_finish_reason,
    to_stop_reason,
)
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.records import dataclass

__all__ = [
    "AnthropicAdapter",
    "AnthropicShape",
    "from_anthropic_usage",
    "from_openai_messages",
    "to_anthropic_usage",
    "to_finish_reason",
    "to_openai_messages",
    "to_stop_reason",
]


class AnthropicShape:
    """Tools as Anthropic's Messages API takes them (API reference, `tools`)."""

    name = "anthropic"

    def definition(self, tool: Tool) -> JsonObject:
        """Return `{"name", "description", "input_schema"}`, with the tool's examples as
        `input_examples`.
        """
        return (
            definition_parts.shown_examples(tool, "input_examples")
            | definition_parts.own_fields(tool, self.name)
            | definition_parts.described(tool)
            | {"input_schema": definition_parts.shown_schema(tool)}
        )

    def read(self, definition: JsonObject) -> Tool:
        """Return the tool of a definition; one that Anthropic runs itself (a `type` other than
        custom) is refused.
        """
        if definition.get("type") not in (None, "custom"):
            definitions.refuse(
                definition.get("name"),
                f"is of type {quote(definition['type'])}, which Anthropic runs itself",
            )
        rest = definitions.others(definition, ("name", "description", "input_schema"))
        return definitions.foreign_tool(
            self.name, definition, schema=definition.get("input_schema"), rest=rest
        )


@dataclass(frozen=True, slots=True)
class AnthropicAdapter:
    """One tool at Anthropic's Messages API."""

    name: ClassVar[str] = "anthropic"
    tool: Tool
    execute_tool = model_calls.execute_tool

    def generate_tool_description(self) -> JsonObject:
        """Return the entry of a request's `tools`."""
        return AnthropicShape().definition(self.tool)

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Return the calls in the `tool_use` blocks of a message; those of server tools are never
        ours.
        """
        content = model_calls.read_answer(text_or_message, what="Anthropic's message").get(
            "content"
        )
        blocks = model_calls.objects([] if isinstance(content, str) else content, "`content`")
        return model_calls.own_calls(
            self.tool, (_call(block) for block in blocks if block.get("type") == "tool_use")
        )

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonObject:
        """Return the `tool_result` block for the user's next message; images are `image` blocks in
        it.
        """
        value, failed = tool_errors.outcome_of(output)
        parts = result_parts.shown(value)
        block: JsonObject = {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": parts if isinstance(parts, str) else [to_block(part, 0) for part in parts],
        }
        return block | tool_errors.field_of(failed)


def _call(block: JsonObject) -> Call:
    given = block.get("input")
    kept = arguments.kept_text(given)
    return model_calls.made_call(
        block.get("name"), given if kept is None else kept, block.get("id")
    )
