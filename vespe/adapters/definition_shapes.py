"""Files of foreign tool definitions: which shape each definition has, and the tools that they
hold.
"""

from collections.abc import Iterator
from typing import Final

from vespe.adapters import SHAPES
from vespe.adapters.messages import detached, quoted
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue, Tool
from vespe.schemas.explain import describe

_LISTS: Final = ("tools", "functions", "functionDeclarations", "function_declarations")
_GEMINI: Final = ("parameters", "parametersJsonSchema", "parameters_json_schema")
"""By one of these a declaration is Gemini's; one without inputs has nothing beside the fields
below.
"""
_GEMINI_ALONE: Final = frozenset(
    ("name", "description", "behavior", "response", "responseJsonSchema", "response_json_schema")
)
_MOST_KEYS: Final = 8


def shape_of(definition: JsonObject) -> str | None:
    """Return the name of the shape that a definition has, None where it is of none that Vespe
    knows.
    """
    if "inputSchema" in definition:
        return "mcp"
    if "input_schema" in definition:
        return "anthropic"
    if isinstance(definition.get("function"), dict):
        return "openai"
    if definition.get("type") == "function" and "name" in definition:
        return "openai-responses"
    if "name" in definition and "type" not in definition:
        return (
            "gemini"
            if definition.keys() <= _GEMINI_ALONE or any(key in definition for key in _GEMINI)
            else None
        )
    return None


def read_definition(definition: JsonValue) -> Tool:
    """Return the tool of one definition, of whatever shape; raises InvalidDocument with the
    reason.
    """
    if not isinstance(definition, dict):
        raise InvalidDocument(f"must be an object, not {describe(definition)}")
    shape = shape_of(definition)
    if shape is None:
        kind = f" of type {quoted(definition['type'])}" if "type" in definition else ""
        keys = [quoted(key) for key in definition][:_MOST_KEYS]
        held = (
            f": it holds {', '.join(keys)}{', …' if len(definition) > _MOST_KEYS else ''}"
            if keys
            else ""
        )
        raise InvalidDocument(
            f"is a definition{kind} of no shape that Vespe knows ({', '.join(SHAPES)}){held}"
        )
    return SHAPES[shape].read(definition)


def definitions_in(document: JsonValue, pointer: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Return (JSON Pointer, definition) for each definition in a document: one, a list,
    `{"tools": […]}`, or an MCP response.

    Raises InvalidDocument for a document that is nested deeper than 200 levels.
    """
    if not pointer:
        detached(document, "the definitions")
    if isinstance(document, list):
        for index, item in enumerate(document):
            yield from definitions_in(item, f"{pointer}/{index}")
        return
    if isinstance(document, dict):
        if isinstance(result := document.get("result"), dict):
            yield from definitions_in(result, f"{pointer}/result")
            return
        found = [key for key in _LISTS if isinstance(document.get(key), list)]
        for key in found:
            yield from definitions_in(document[key], f"{pointer}/{key}")
        if found:
            return
    yield pointer, document
