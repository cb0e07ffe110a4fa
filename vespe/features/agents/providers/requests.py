"""What every request holds: the options beside the messages, and tools of either kind in an API's
own shape.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from vespe.adapters import callers, definition_shapes
from vespe.adapters.base import ToolShape
from vespe.adapters.definitions import foreign_tool
from vespe.documents import strict_json
from vespe.errors import UsageError
from vespe.features.agents.providers.base import Definitions, ShownTools, Tools
from vespe.models import JsonObject, Tool

OURS: Final = ("messages", "input", "tools", "stream", "system", "system_instruction", "model")
"""What no option sets: it follows from the conversation, the tools and the provider."""


def checked_options(options: Mapping[str, object] | None) -> JsonObject:
    """Return a copy of the options; raises UsageError for one that Vespe sets itself."""
    given = dict(options or {})
    for name in OURS:
        if name in given:
            raise UsageError(
                f"the option {name!r} cannot be set: Vespe derives it from the conversation, its "
                "tools and the provider"
            )
    return given


def with_options(payload: JsonObject, options: Mapping[str, object]) -> JsonObject:
    """Return the payload with the options over it; one that is None takes its key away."""
    return {key: value for key, value in {**payload, **options}.items() if value is not None}


def finished(
    made: JsonObject, tools: Tools | None, shape: ToolShape, *, stream: bool, options: JsonObject
) -> JsonObject:
    """Return a request with the tools, `stream` where that is asked for, and the options."""
    if defined := definitions(tools, shape):
        made["tools"] = defined
    return with_options(made | ({"stream": True} if stream else {}), options)


def definitions(
    tools: Tools | None, shape: ToolShape, *, beside: Iterable[object] = ()
) -> list[JsonObject]:
    """Return the tools in an API's shape, whichever shape each of them has: one that
    `vespe.adapters` knows, or a config.json's.

    A definition that is in the API's shape already stays as it is, and so does one of no known
    shape: it is one of the API's own tools (`web_search`). Where one of these, or of those that
    stand `beside`, runs programs, the others say whether programs may call them. Raises
    InvalidDocument for a definition that cannot be read.
    """
    if isinstance(tools, ShownTools):
        if shape.name not in tools.told:
            tools.told[shape.name] = Definitions(_made(tools, shape))
        return tools.told[shape.name]
    return _made(tools or (), shape, beside)


def encode(payload: JsonObject) -> bytes:
    """Return a request as it goes out. The JSON of definitions that are kept is written once."""
    if not isinstance(tools := payload.get("tools"), Definitions):
        return strict_json.compact_json(payload).encode("utf-8")
    rest = {key: value for key, value in payload.items() if key != "tools"}
    opened = strict_json.compact_json(rest).encode("utf-8").removesuffix(b"}")
    return b"".join((opened, b',"tools":' if rest else b'"tools":', tools.data, b"}"))


def _made(tools: Tools, shape: ToolShape, beside: Iterable[object] = ()) -> list[JsonObject]:
    word = callers.word_for_programs((*tools, *beside), shape.name)
    return [_definition(tool, shape, word) for given in tools for tool in _declarations(given)]


def _definition(tool: Tool | JsonObject, shape: ToolShape, word: str) -> JsonObject:
    if isinstance(tool, Tool):
        return callers.with_callers(shape.definition(tool), tool, word)
    if isinstance(schema := tool.get("schema"), dict) and "input" in schema:
        own = foreign_tool("vespe", tool, schema=schema["input"], rest={})
        return _definition(replace(own, document={**tool, **own.document}), shape, word)
    if definition_shapes.shape_of(tool) in (None, shape.name):
        return dict(tool)
    return _definition(definition_shapes.read_definition(tool), shape, word)


def _declarations(given: Tool | JsonObject) -> Sequence[Tool | JsonObject]:
    """Return what Gemini's `{"functionDeclarations": […]}` holds, or what was given."""
    if not isinstance(given, Tool):
        for key in definition_shapes.DECLARATIONS:
            if isinstance(declared := given.get(key), list):
                return declared
    return (given,)
