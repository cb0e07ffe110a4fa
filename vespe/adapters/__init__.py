"""The model APIs, one literal table of shapes and one of adapters."""

from collections.abc import Callable
from typing import Final

from vespe.adapters.anthropic import AnthropicAdapter, AnthropicShape
from vespe.adapters.base import ToolAdapter, ToolShape
from vespe.adapters.gemini import GeminiAdapter, GeminiShape
from vespe.adapters.gemini_interactions import InteractionsAdapter
from vespe.adapters.mcp import McpAdapter, McpShape
from vespe.adapters.ollama import OllamaAdapter, OllamaShape
from vespe.adapters.openai import OpenAIAdapter, OpenAIShape
from vespe.adapters.openai_responses import OpenAIResponsesAdapter, OpenAIResponsesShape
from vespe.adapters.plain_text import PlainTextAdapter
from vespe.models import Tool

SHAPES: Final[dict[str, ToolShape]] = {
    shape.name: shape
    for shape in (
        OpenAIShape(),
        AnthropicShape(),
        OllamaShape(),
        McpShape(),
        OpenAIResponsesShape(),
        GeminiShape(),
    )
}
"""Every shape of a tool definition by its name."""

ADAPTERS: Final[dict[str, Callable[[Tool], ToolAdapter]]] = {
    "openai": OpenAIAdapter,
    "openai-responses": OpenAIResponsesAdapter,
    "anthropic": AnthropicAdapter,
    "gemini": GeminiAdapter,
    "gemini-interactions": InteractionsAdapter,
    "ollama": OllamaAdapter,
    "mcp": McpAdapter,
    "text": PlainTextAdapter,
}
"""By the name of an API, what makes the adapter of one tool at it."""
