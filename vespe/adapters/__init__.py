"""The shapes of the model APIs, one literal table."""

from typing import Final

from vespe.adapters.anthropic import AnthropicShape
from vespe.adapters.base import ToolShape
from vespe.adapters.mcp import McpShape
from vespe.adapters.ollama import OllamaShape
from vespe.adapters.openai import OpenAIShape

SHAPES: Final[dict[str, ToolShape]] = {shape.name: shape for shape in (OpenAIShape(), AnthropicShape(), OllamaShape(), McpShape())}
"""Every shape by its name."""
