"""Ollama's chat API: tools in the request, results as tool messages with the tool's name."""

from collections.abc import Sequence

from vespe.adapters.ollama import OllamaShape, from_openai_messages, to_openai_messages
from vespe.adapters.streams.ollama import OllamaStreamingProcessor
from vespe.agents import handler_base
from vespe.agents.providers import requests
from vespe.agents.system_prompts import with_system_message
from vespe.models import JsonObject, Tool


class OllamaHandler:
    """Handles answers of Ollama's `/api/chat`; see `ToolHandler`.

    A request goes on with the assistant's message and one tool message for each call.
    """

    processor = OllamaStreamingProcessor
    supports_tools = handler_base.supports_tools
    process_stream = handler_base.process_stream

    def prepare_payload(
        self, payload: JsonObject, tool_definitions: Sequence[Tool | JsonObject], tools_system_prompt: str = ""
    ) -> JsonObject:
        """Give the payload with `tools`, and the prompt behind the first system message, or as one; nothing given is changed."""
        made = with_system_message(payload, tools_system_prompt)
        defined = requests.definitions(tool_definitions, OllamaShape())
        return made | {"tools": [*(payload.get("tools") or ()), *defined]} if defined else made

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Give the messages in the inner format."""
        return to_openai_messages(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Give the last messages as Ollama takes them."""
        made: list[JsonObject] = from_openai_messages(messages)["messages"]
        return made[len(made) - answered :]
