"""OpenAI's chat completions, and every endpoint that speaks them: tools in the request, results as tool messages."""

from collections.abc import Sequence

from vespe.adapters.messages import checked
from vespe.adapters.openai import OpenAIShape, to_wire
from vespe.adapters.streams.openai import GptStreamingProcessor
from vespe.agents import handler_base
from vespe.agents.providers import requests
from vespe.agents.system_prompts import with_system_message
from vespe.models import JsonObject, Tool


class GptHandler:
    """Handles answers of OpenAI's chat completions; see `ToolHandler`.

    A request goes on with the assistant's message and one tool message for each call.
    """

    processor = GptStreamingProcessor
    supports_tools = handler_base.supports_tools
    process_stream = handler_base.process_stream

    def prepare_payload(
        self, payload: JsonObject, tool_definitions: Sequence[Tool | JsonObject], tools_system_prompt: str = ""
    ) -> JsonObject:
        """Give the payload with `tools`, and the prompt behind the first system message, or as one; nothing given is changed."""
        made = with_system_message(payload, tools_system_prompt)
        defined = requests.definitions(tool_definitions, OpenAIShape())
        return made | {"tools": [*(payload.get("tools") or ()), *defined]} if defined else made

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Give the messages, whose format is the inner one."""
        return checked(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Give the last messages as OpenAI takes them."""
        return to_wire(messages[len(messages) - answered :])
