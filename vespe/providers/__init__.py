"""The providers of models, one literal table; a provider is imported when it is asked for."""

import importlib
from collections.abc import Callable
from typing import Any, Final

from vespe.providers.base import LLMProvider

PROVIDERS: Final = {
    "openai": ("vespe.providers.openai", "OpenAIProvider"),
    "anthropic": ("vespe.providers.anthropic", "AnthropicProvider"),
    "ollama": ("vespe.providers.ollama", "OllamaProvider"),
    "simulated": ("vespe.providers.simulated", "SimulatedProvider"),
}
"""The module and the class of each provider."""


def provider_class(name: str) -> Callable[..., LLMProvider]:
    """Give a provider's class; raises KeyError for a name that is not in the table."""
    module, attribute = PROVIDERS[name]
    made: Any = getattr(importlib.import_module(module), attribute)
    given: Callable[..., LLMProvider] = made
    return given
