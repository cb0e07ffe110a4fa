"""What a person may be asked for: flat forms, as MCP's elicitation has them, and the answers to
them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vespe.documents import strict_json
from vespe.documents.escaping import inert, inert_line
from vespe.documents.pointers import escape_pointer
from vespe.models import JsonObject, JsonValue
from vespe.schemas.explain import messages_of, shorten
from vespe.schemas.validator import Validator, check_schema, closed_schema, fits_format

MAX_FIELDS: Final = 32
MAX_SIZE: Final = 64 * 1024
"""How long a schema may be, in characters of JSON, and an answer too."""
_SCALARS: Final = ("string", "number", "integer", "boolean")
_FORMATS: Final = {
    "email": "an e-mail address such as ann@example.org",
    "uri": "a URI such as https://example.org",
    "date": "a date such as 2026-02-28",
    "date-time": "a date and time such as 2026-02-28T09:30:00Z",
}
"""The formats that MCP's elicitation has; any other says nothing."""
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
        if problem := _problem_of_field(one) or _unshowable(name, one):
            return f"/properties/{inert_line(escape_pointer(name))} {problem}"
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
    violations = Validator(closed_schema(schema)).violations(content, subject="the answer")
    return messages_of(violations) or "; ".join(_misformed(schema, content))


def _misformed(schema: JsonObject, content: JsonValue) -> Iterator[str]:
    """Say of each field of an answer that is not what its `format` names."""
    for name, field in schema["properties"].items():
        said, value = _FORMATS.get(str(field.get("format"))), content.get(name)
        if said is None or not isinstance(value, str):
            continue
        # a display name before the address is none of it
        odd = field["format"] == "email" and any(mark in value for mark in "<> ")
        if odd or not fits_format(value, field["format"]):
            yield f"`{name}` must be {said}, not {shorten(strict_json.compact_json(value), 80)}"


def with_defaults(schema: JsonObject, content: Mapping[str, Any]) -> JsonObject:
    """Return an answer with the defaults of its schema where it says nothing."""
    given = {
        name: one["default"]
        for name, one in schema["properties"].items()
        if "default" in one and name not in content
    }
    return {**content, **given}


def kind_of(field: JsonObject) -> str:
    """Say in words what a field takes."""
    words = _FORMATS.get(str(field.get("format")))
    return words if words and field["type"] == "string" else str(field["type"])


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


def _unshowable(name: str, field: JsonObject) -> str:
    """Say why a person could not see what they choose: what is data cannot be escaped."""
    if inert_line(name) != name:
        return "has a name with control characters, which no form can show"
    if any(inert_line(value) != value for value, _ in choices_of(field)):
        return "has choices with control characters, which no form can show"
    default = field.get("default")
    if isinstance(default, str) and inert(default) != default:
        return "has a default with control characters, which no form can show"
    return ""


def shown_schema(schema: JsonObject) -> JsonObject:
    """Return the schema of a form with what is said beside its fields made inert."""
    properties = {name: _inert_field(one) for name, one in schema["properties"].items()}
    return _inert_words(schema) | {"properties": properties}


def _inert_field(field: JsonObject) -> JsonObject:
    made = _inert_words(field)
    for key in ("oneOf", "anyOf"):
        if isinstance(made.get(key), list):
            made[key] = [_inert_words(choice) for choice in made[key]]
    if isinstance(made.get("items"), dict):
        made["items"] = _inert_field(made["items"])
    return made


def _inert_words(said: JsonObject) -> JsonObject:
    """Return an object of a schema with its titles and description made inert."""
    made = dict(said)
    for key in ("title", "description"):
        if isinstance(made.get(key), str):
            made[key] = inert(made[key])
    if isinstance(names := made.get("enumNames"), list):
        made["enumNames"] = [inert_line(str(name)) for name in names]
    return made


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
