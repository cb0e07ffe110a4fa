"""Foreign tool definitions as tools: what every reader of one shape needs."""

from collections.abc import Iterable
from typing import Any, Final, NoReturn

from vespe.adapters.messages import detached, kind, quote
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue, Tool

API_FIELDS: Final = "api_fields"
"""In config.json: by shape, the fields of a definition that only that API knows (`strict`,
`defer_loading`, …).
"""
_ROOT: Final[dict[str, type]] = {"properties": dict, "allOf": list, "$schema": str}
"""What stands at the root of a schema that models can be shown, with the type that it must have."""


def refuse(name: object, reason: str) -> NoReturn:
    """Raise InvalidDocument for the definition of `name`."""
    raise InvalidDocument(reason, path=called(name))


def foreign_tool(
    shape: str, definition: JsonObject, *, schema: JsonValue, rest: JsonObject, **fields: Any
) -> Tool:
    """Return the tool of a foreign definition: no uid, nothing that implements it, and a
    config.json as `document`.

    `schema` is the inputs' JSON Schema, or None where the definition has none; `rest` is what only
    this API knows; `fields` are the other fields of the Tool. Nothing in it is shared with the
    definition. Raises InvalidDocument.
    """
    name = definition.get("name")
    if not isinstance(name, str) or not name:
        refuse(name, "needs a `name`, a string that is not empty")
    description = definition.get("description")
    if not isinstance(description, str | None):
        refuse(name, f"`description` must be a string, not {type(description).__name__}")
    inputs = _object_schema(name, detached(schema, called(name)))
    kept = {key: detached(value, called(name)) for key, value in fields.items()}
    document: JsonObject = {
        "name": name,
        "description": description or "",
        "schema": {"input": inputs},
    }
    if kept.get("output_schema") is not None:
        document["schema"]["output"] = kept["output_schema"]
    if kept.get("annotations"):
        document["annotations"] = kept["annotations"]
    if rest:
        document[API_FIELDS] = {shape: detached(rest, called(name))}
    return Tool(
        uid="",
        name=name,
        description=description or "",
        input_schema=inputs,
        document=document,
        **kept,
    )


def object_or_none(definition: JsonObject, key: str, value: JsonValue) -> JsonObject | None:
    """Return `value`, which a definition has under `key`, as an object or None; raises
    InvalidDocument where it is neither.
    """
    if isinstance(value, dict | None):
        return value
    refuse(definition.get("name"), f"`{key}` must be an object, not {kind(value)}")


def shallow(definition: JsonObject) -> JsonObject:
    """Return a definition back; raises InvalidDocument where it is nested so deeply that nothing
    may be made of it.
    """
    detached(definition, called(definition.get("name")))
    return definition


def others(definition: JsonObject, known: Iterable[str]) -> JsonObject:
    """Return the fields of a definition that are not in `known`."""
    return {key: value for key, value in definition.items() if key not in set(known)}


def called(name: object) -> str:
    """Return what the definition of `name` is called in a sentence."""
    return f"the tool {quote(name)}" if isinstance(name, str) and name else "a tool without a name"


def _object_schema(name: str, schema: JsonValue) -> JsonObject:
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        refuse(name, f"the schema of its inputs must be an object, not {type(schema).__name__}")
    for key, expected in _ROOT.items():
        if key in schema and not isinstance(schema[key], expected):
            refuse(name, f"`{key}` in the schema of its inputs cannot be {quote(schema[key])}")
    return schema if "type" in schema else {"type": "object", **schema}
