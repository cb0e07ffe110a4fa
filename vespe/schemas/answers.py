"""What a person may be asked for: flat forms, as MCP's elicitation has them, and the answers to
them.
"""

from collections.abc import Mapping
from typing import Any, Final

from vespe.documents import strict_json
from vespe.documents.pointers import escape_pointer
from vespe.models import JsonObject, JsonValue
from vespe.schemas.explain import messages_of
from vespe.schemas.validator import Validator, check_schema, closed_schema

MAX_FIELDS: Final = 32
MAX_SIZE: Final = 64 * 1024
"""How long a schema may be, in characters of JSON, and an answer too."""
_SCALARS: Final = ("string", "number", "integer", "boolean")
_NESTING: Final = ("$ref", "allOf", "if", "not", "properties", "prefixItems", "$dynamicRef")


def problem_of_schema(schema: JsonValue) -> str:
    """Say why no form can be made of a schema, "" where one can."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return 'the schema must be an object with "type": "object"'
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(properties) > MAX_FIELDS:
        return f"its properties must be an object of at most {MAX_FIELDS} fields"
    try:
        if len(strict_json.compact_json(schema)) > MAX_SIZE:
            return f"the schema is longer than {MAX_SIZE} characters"
    except (ValueError, TypeError, RecursionError):
        return "the schema is no JSON"
    for name, one in properties.items():
        if problem := _problem_of_field(one):
            return f"/properties/{escape_pointer(name)} {problem}"
    if any(key in schema for key in (*_NESTING[:4], "anyOf", "oneOf", "patternProperties")):
        return "the schema must be flat: properties and required alone"
    return messages_of(check_schema(schema))


def problem_of(schema: JsonObject, content: JsonValue) -> str:
    """Say in words what of an answer its schema refuses, "" where it fits."""
    try:
        if len(strict_json.compact_json(content)) > MAX_SIZE:
            return f"the answer is longer than {MAX_SIZE} characters"
    except (ValueError, TypeError, RecursionError):
        return "the answer is no JSON"
    # not `compile_schema`, which keeps what it made: a question's schema is new each time
    return messages_of(Validator(closed_schema(schema)).violations(content, subject="the answer"))


def with_defaults(schema: JsonObject, content: Mapping[str, Any]) -> JsonObject:
    """Return an answer with the defaults of its schema where it says nothing."""
    given = {
        name: one["default"]
        for name, one in schema["properties"].items()
        if "default" in one and name not in content
    }
    return {**content, **given}


def choices_of(field: JsonObject) -> list[tuple[str, str]]:
    """Return the choices of a field, or of a list's items, each with its title; `[]` where it is
    free.
    """
    items = field.get("items")
    one = items if field.get("type") == "array" and isinstance(items, dict) else field
    titled = one.get("oneOf") or one.get("anyOf") or ()
    if titled:
        return [(choice["const"], choice.get("title", choice["const"])) for choice in titled]
    values = one.get("enum") or ()
    titles = one.get("enumNames") or values
    return list(zip(values, titles, strict=False))


def _problem_of_field(field: JsonValue) -> str:
    if not isinstance(field, dict) or field.get("type") not in (*_SCALARS, "array"):
        return f"must have one of the types {', '.join(_SCALARS)}, or be a list of choices"
    if any(key in field for key in _NESTING):
        return "must be flat"
    listed = field["type"] == "array"
    one = field.get("items") if listed else field
    if not isinstance(one, dict) or (listed and any(key in one for key in _NESTING)):
        return "must be a list of choices"
    titled = one.get("oneOf", one.get("anyOf"))
    if titled is not None and not _are_titled(titled):
        return "must have choices with a const, a string, and a title"
    values = one.get("enum")
    if values is not None and not (
        isinstance(values, list) and values and all(isinstance(value, str) for value in values)
    ):
        return "must have choices that are strings"
    return "must be a list of choices" if listed and not (titled or values) else ""


def _are_titled(choices: JsonValue) -> bool:
    return (
        isinstance(choices, list)
        and bool(choices)
        and all(
            isinstance(one, dict)
            and isinstance(one.get("const"), str)
            and isinstance(one.get("title", ""), str)
            for one in choices
        )
    )
