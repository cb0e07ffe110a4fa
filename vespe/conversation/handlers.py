"""The handlers by the name of the API whose answers they handle."""

from collections.abc import Callable
from typing import Final

from vespe.conversation.claude_handler import ClaudeHandler
from vespe.conversation.gpt_handler import GptHandler
from vespe.conversation.handler_base import ToolHandler
from vespe.conversation.ollama_handler import OllamaHandler

HANDLERS: Final[dict[str, Callable[[], ToolHandler]]] = {
    "openai": GptHandler,
    "anthropic": ClaudeHandler,
    "ollama": OllamaHandler,
}
"""By an API's name, what makes its handler."""
