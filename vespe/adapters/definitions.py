"""Foreign tool definitions as tools: what every reader of one shape needs."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue, Tool

API_FIELDS: Final = "api_fields"
"""In config.json: by shape, the fields of a definition that only that API knows (`strict`, `defer_loading`, …)."""


def refuse(name: object, reason: str) -> NoReturn:
    """Raise InvalidDocument for the definition of `name`."""
    raise InvalidDocument(reason, path=f"the tool {name!r:.80}" if isinstance(name, str) and name else "a tool without a name")


def foreign_tool(shape: str, definition: JsonObject, *, schema: JsonValue, rest: JsonObject, **fields: Any) -> Tool:
    """Give the tool of a foreign definition: no uid, nothing that implements it, and a config.json as `document`.

    `schema` is the inputs' JSON Schema, or None where the definition has none; `rest` is what only this API knows;
    `fields` are the other fields of the Tool. Raises InvalidDocument.
    """
    name = definition.get("name")
    if not isinstance(name, str) or not name:
        refuse(name, "needs a `name`, a text that is not empty")
    description = definition.get("description")
    if not isinstance(description, str | None):
        refuse(name, f"`description` must be a text, not {type(description).__name__}")
    inputs = _object_schema(name, schema)
    document: JsonObject = {"name": name, "description": description or "", "schema": {"input": inputs}}
    if fields.get("output_schema") is not None:
        document["schema"]["output"] = fields["output_schema"]
    if fields.get("annotations"):
        document["annotations"] = fields["annotations"]
    if rest:
        document[API_FIELDS] = {shape: rest}
    return Tool(uid="", name=name, description=description or "", input_schema=inputs, document=document, **fields)


def own_fields(tool: Tool, shape: str) -> JsonObject:
    """Give what config.json keeps for this API alone."""
    kept = tool.document.get(API_FIELDS)
    fields = kept.get(shape) if isinstance(kept, Mapping) else None
    return dict(fields) if isinstance(fields, dict) else {}


def others(definition: JsonObject, known: Iterable[str]) -> JsonObject:
    """Give the fields of a definition that are not in `known`."""
    return {key: value for key, value in definition.items() if key not in set(known)}


def described(tool: Tool) -> JsonObject:
    """Give `name`, and `description` where the tool has one."""
    return {"name": tool.name} | ({"description": tool.description} if tool.description else {})


def _object_schema(name: str, schema: JsonValue) -> JsonObject:
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        refuse(name, f"the schema of its inputs must be an object, not {type(schema).__name__}")
    return schema if "type" in schema else {"type": "object", **schema}
