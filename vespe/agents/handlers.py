"""The handlers by the name of the API whose answers they handle."""

from collections.abc import Callable
from typing import Final

from vespe.agents.claude_handler import ClaudeHandler
from vespe.agents.gpt_handler import GptHandler
from vespe.agents.handler_base import ToolHandler
from vespe.agents.ollama_handler import OllamaHandler

HANDLERS: Final[dict[str, Callable[[], ToolHandler]]] = {
    "openai": GptHandler,
    "anthropic": ClaudeHandler,
    "ollama": OllamaHandler,
}
"""By an API's name, what makes its handler."""
