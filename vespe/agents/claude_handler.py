"""Anthropic's Messages API: tools in the request, results in one user turn directly behind the calls."""

from collections.abc import Sequence

from vespe.adapters.anthropic import AnthropicShape, from_openai_messages, to_openai_messages
from vespe.adapters.streams.anthropic import ClaudeStreamingProcessor
from vespe.agents import handler_base
from vespe.agents.providers import requests
from vespe.models import JsonObject, Tool


class ClaudeHandler:
    """Handles answers of Anthropic's Messages API; see `ToolHandler`.

    A request goes on with the assistant's turn and one user turn of `tool_result` blocks.
    """

    processor = ClaudeStreamingProcessor
    supports_tools = handler_base.supports_tools
    process_stream = handler_base.process_stream

    def prepare_payload(
        self, payload: JsonObject, tool_definitions: Sequence[Tool | JsonObject], tools_system_prompt: str = ""
    ) -> JsonObject:
        """Give the payload with `tools`, and the prompt behind its `system`, text or blocks; nothing given is changed."""
        made = dict(payload)
        if tools_system_prompt:
            system = payload.get("system") or ""
            behind = [*system, {"type": "text", "text": tools_system_prompt}] if isinstance(system, list) else ""
            made["system"] = behind or "\n\n".join(filter(None, (system, tools_system_prompt)))
        defined = requests.definitions(tool_definitions, AnthropicShape())
        return made | {"tools": [*(payload.get("tools") or ()), *defined]} if defined else made

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Give the messages in the inner format."""
        return to_openai_messages(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Give the last two turns: ids that an earlier turn has used are made unique, in calls and results alike."""
        turns: list[JsonObject] = from_openai_messages(messages)["messages"]
        first = max(index for index, turn in enumerate(turns) if turn["role"] == "assistant")
        return turns[first:]
