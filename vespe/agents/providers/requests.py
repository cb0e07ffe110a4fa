"""What every request holds: the options beside the messages, and tools of either kind in an API's own shape."""

from collections.abc import Mapping
from typing import Final

from vespe.adapters.base import ToolShape
from vespe.adapters.openai import OpenAIShape
from vespe.agents.providers.base import Tools
from vespe.errors import UsageError
from vespe.models import JsonObject, Tool

OURS: Final = ("messages", "tools", "stream", "system", "model")
"""What no option sets: it follows from the conversation, the tools and the provider."""


def checked_options(options: Mapping[str, object] | None) -> JsonObject:
    """Return a copy of the options; raises UsageError for one that Vespe sets itself."""
    given = dict(options or {})
    for name in OURS:
        if name in given:
            raise UsageError(f"the option {name!r} cannot be set: it follows from the conversation, its tools and the provider")
    return given


def with_options(payload: JsonObject, options: Mapping[str, object]) -> JsonObject:
    """Return the payload with the options over it; one that is None takes its key away."""
    return {key: value for key, value in {**payload, **options}.items() if value is not None}


def definitions(tools: Tools | None, shape: ToolShape) -> list[JsonObject]:
    """Return the tools in an API's shape; a definition that is not in OpenAI's shape is the API's own, and stays as it is."""
    read = OpenAIShape().read
    made: list[JsonObject] = []
    for tool in tools or ():
        if not isinstance(tool, Tool) and (shape.name == "openai" or not isinstance(tool.get("function"), dict)):
            made.append(dict(tool))
        else:
            made.append(shape.definition(tool if isinstance(tool, Tool) else read(tool)))
    return made
