"""One handler for each model API whose answers a program has in hand: OpenAI, Anthropic, Ollama."""

from collections.abc import Callable, Sequence
from typing import Final

from vespe.adapters import anthropic, ollama
from vespe.adapters.anthropic import AnthropicShape
from vespe.adapters.messages import checked
from vespe.adapters.ollama import OllamaShape
from vespe.adapters.openai import OpenAIShape, to_wire
from vespe.adapters.streams.anthropic import ClaudeStreamingProcessor
from vespe.adapters.streams.ollama import OllamaStreamingProcessor
from vespe.adapters.streams.openai import GptStreamingProcessor
from vespe.agents import handler_base
from vespe.agents.handler_base import ToolHandler
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
        """Return the payload with `tools`, and the prompt behind its `system`, text or blocks; nothing given is changed."""
        made = dict(payload)
        if tools_system_prompt:
            system = payload.get("system") or ""
            behind = [*system, {"type": "text", "text": tools_system_prompt}] if isinstance(system, list) else ""
            made["system"] = behind or "\n\n".join(filter(None, (system, tools_system_prompt)))
        defined = requests.definitions(tool_definitions, AnthropicShape())
        return made | {"tools": [*(payload.get("tools") or ()), *defined]} if defined else made

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Return the messages in the inner format."""
        return anthropic.to_openai_messages(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Return the last two turns: ids that an earlier turn has used are made unique, in calls and results alike."""
        turns: list[JsonObject] = anthropic.from_openai_messages(messages)["messages"]
        first = max(index for index, turn in enumerate(turns) if turn["role"] == "assistant")
        return turns[first:]


def with_system_message(payload: JsonObject, prompt: str) -> JsonObject:
    """Return a payload whose first system (or developer) message ends in `prompt`; without one, a system message comes first."""
    if not prompt:
        return dict(payload)
    messages = checked(payload.get("messages", ()))
    first = messages[0] if messages and messages[0].get("role") in ("system", "developer") else None
    if first is None:
        return payload | {"messages": [{"role": "system", "content": prompt}, *messages]}
    content = first.get("content") or ""
    joined = [*content, {"type": "text", "text": prompt}] if isinstance(content, list) else "\n\n".join(filter(None, (content, prompt)))
    return payload | {"messages": [first | {"content": joined}, *messages[1:]]}


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
        """Return the payload with `tools`, and the prompt behind the first system message, or as one; nothing given is changed."""
        made = with_system_message(payload, tools_system_prompt)
        defined = requests.definitions(tool_definitions, OpenAIShape())
        return made | {"tools": [*(payload.get("tools") or ()), *defined]} if defined else made

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Return the messages, whose format is the inner one."""
        return checked(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Return the last messages as OpenAI takes them."""
        return to_wire(messages[len(messages) - answered :])


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
        """Return the payload with `tools`, and the prompt behind the first system message, or as one; nothing given is changed."""
        made = with_system_message(payload, tools_system_prompt)
        defined = requests.definitions(tool_definitions, OllamaShape())
        return made | {"tools": [*(payload.get("tools") or ()), *defined]} if defined else made

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Return the messages in the inner format."""
        return ollama.to_openai_messages(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Return the last messages as Ollama takes them."""
        made: list[JsonObject] = ollama.from_openai_messages(messages)["messages"]
        return made[len(made) - answered :]


HANDLERS: Final[dict[str, Callable[[], ToolHandler]]] = {
    "openai": GptHandler,
    "anthropic": ClaudeHandler,
    "ollama": OllamaHandler,
}
"""By an API's name, what makes its handler."""
