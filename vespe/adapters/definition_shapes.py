"""Foreign tool definitions: which shape each one has, where they lie in a document, and the tools
that they are.

This is the only recogniser: `vespe tool import`, `vespe lint` and requests to providers all ask it.
"""

from collections.abc import Iterator
from typing import Final

from vespe.adapters import SHAPES
from vespe.adapters.messages import detached, quote
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue, Tool
from vespe.schemas.explain import describe

BARE: Final = "bare"
"""What `likely_shape` says of a name and `parameters` alone: OpenAI's, Ollama's and Gemini's inner
function look like that.
"""
INPUTS: Final = (
    ("input_schema", "anthropic"),
    ("inputSchema", "mcp"),
    ("parameters", BARE),
    ("parametersJsonSchema", "gemini"),
    ("parameters_json_schema", "gemini"),
)
"""The keys of a definition's input schema, each with the shape that it tells."""
DECLARATIONS: Final = ("functionDeclarations", "function_declarations")
"""Gemini's keys of a list of definitions."""
_LISTS: Final = ("tools", "functions", *DECLARATIONS, "function")
"""Keys whose list holds definitions; the function-calling leaderboard has its own under
`function`.
"""
_WRAPPERS: Final = ("tool", "result")
_GEMINI_ALONE: Final = frozenset(
    ("name", "description", "behavior", "response", "responseJsonSchema", "response_json_schema")
)
"""The keys of a declaration without inputs."""
_MOST_KEYS: Final = 8


def likely_shape(definition: JsonObject) -> str | None:
    """Return the name of the shape that a definition is meant to have, even if it is broken: `BARE`
    where several are possible, None where its inputs tell none.
    """
    if isinstance(definition.get("function"), dict):
        return "openai"
    shape = next((shape for key, shape in INPUTS if key in definition), None)
    return "openai-responses" if shape == BARE and definition.get("type") == "function" else shape


def shape_of(definition: JsonObject) -> str | None:
    """Return the name of the shape by which a definition can be read, None where there is none."""
    shape = likely_shape(definition)
    if shape in ("openai", "anthropic", "mcp"):
        return shape
    if "name" not in definition:
        return None
    if definition.get("type") == "function":
        return "openai-responses"
    # A definition without inputs, and with keys that Gemini does not know, may have inputs that
    # Vespe does not know.
    known = shape is not None or definition.keys() <= _GEMINI_ALONE
    return "gemini" if known and "type" not in definition else None


def holders(document: JsonObject) -> list[str]:
    """Return the keys of an object under which definitions lie; none where it is one itself."""
    if any(key in document for key, _ in INPUTS) and isinstance(document.get("name"), str):
        return []
    lists = [key for key in _LISTS if isinstance(document.get(key), list)]
    wrapped = (key for key in _WRAPPERS if isinstance(document.get(key), dict))
    return lists + ([] if "name" in document else list(wrapped))


def read_definition(definition: JsonValue) -> Tool:
    """Return the tool of one definition, of whatever shape; raises InvalidDocument with the
    reason.
    """
    if not isinstance(definition, dict):
        raise InvalidDocument(f"must be an object, not {describe(definition)}")
    shape = shape_of(definition)
    if shape is None:
        kind = f" of type {quote(definition['type'])}" if "type" in definition else ""
        keys = [quote(key) for key in definition][:_MOST_KEYS]
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
    keys = holders(document) if isinstance(document, dict) else []
    for key in keys:
        yield from definitions_in(document[key], f"{pointer}/{key}")
    if not keys:
        yield pointer, document
