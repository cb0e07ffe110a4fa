"""The model APIs, one literal table of shapes and one of adapters.

An API's module is imported when it is first asked for: a command or a server needs one of them, or
none.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    from vespe.adapters.base import ToolAdapter, ToolShape
    from vespe.models import Tool

T = TypeVar("T")


class _Table(Mapping[str, T], Generic[T]):
    """What has a name, by that name; `made` makes it of the class that `places` says."""

    def __init__(self, places: Mapping[str, str], made: Callable[[Any], T]) -> None:
        self._places, self._made = places, made
        self._known: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._known:
            module, _, kind = self._places[name].partition(":")
            found = getattr(importlib.import_module(module), kind)
            self._known.setdefault(name, self._made(found))
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __or__(self, other: Mapping[str, T]) -> dict[str, T]:
        return dict(self) | dict(other)

    def __contains__(self, name: object) -> bool:
        return name in self._places


SHAPES: "Final[_Table[ToolShape]]" = _Table(
    {
        "openai": "vespe.adapters.openai:OpenAIShape",
        "anthropic": "vespe.adapters.anthropic:AnthropicShape",
        "ollama": "vespe.adapters.ollama:OllamaShape",
        "mcp": "vespe.adapters.mcp:McpShape",
        "openai-responses": "vespe.adapters.openai_responses:OpenAIResponsesShape",
        "gemini": "vespe.adapters.gemini:GeminiShape",
    },
    lambda shape: shape(),
)
"""Every shape of a tool definition by its name."""

ADAPTERS: "Final[_Table[Callable[[Tool], ToolAdapter]]]" = _Table(
    {
        "openai": "vespe.adapters.openai:OpenAIAdapter",
        "openai-responses": "vespe.adapters.openai_responses:OpenAIResponsesAdapter",
        "anthropic": "vespe.adapters.anthropic:AnthropicAdapter",
        "gemini": "vespe.adapters.gemini:GeminiAdapter",
        "gemini-interactions": "vespe.adapters.gemini_interactions:InteractionsAdapter",
        "ollama": "vespe.adapters.ollama:OllamaAdapter",
        "mcp": "vespe.adapters.mcp:McpAdapter",
        "text": "vespe.adapters.plain_text:PlainTextAdapter",
    },
    lambda adapter: adapter,
)
"""By the name of an API, what makes the adapter of one tool at it."""
