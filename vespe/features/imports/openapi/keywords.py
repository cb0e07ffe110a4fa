"""The keywords of one OpenAPI schema, mended into JSON Schema 2020-12; what cannot be kept is
said.
"""

import re
from collections.abc import Set
from functools import lru_cache
from typing import Any, Final

from vespe.documents import strict_json
from vespe.documents.nesting import deeper_than
from vespe.errors import InvalidDocument
from vespe.features.imports.made import digest, plain, short
from vespe.features.imports.openapi.documents import At
from vespe.models import JsonObject, JsonValue
from vespe.schemas import validator

_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object", "null")
_MEANT: Final = {
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "long": "integer",
    "short": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "str": "string",
    "text": "string",
    "date": "string",
    "datetime": "string",
    "date-time": "string",
    "uuid": "string",
    "uri": "string",
    "url": "string",
    "file": "string",
    "password": "string",
    "binary": "string",
    "dict": "object",
    "map": "object",
    "hash": "object",
    "json": "object",
    "list": "array",
    "tuple": "array",
    "none": "null",
}
_COUNTS: Final = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_PAIRS: Final = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
)
_COMPOSED: Final = ("$ref", "allOf", "anyOf", "oneOf", "not", "if")
_MAX_TEXT: Final = 400
_MAX_EXAMPLE: Final = 80
_MAX_ENUM: Final = 500
_OUTSIDE: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def definition_name(text: str) -> str:
    """Return a name under `$defs` that needs no escape in a reference."""
    made = _OUTSIDE.sub("_", text.replace("~1", "_").replace("~0", "_")).strip("_") or "schema"
    return made if len(made) <= 80 else f"{made[:70]}_{digest(text)[:8]}"


def kinds(at: At) -> set[str]:
    """Return the JSON types that a schema says of itself; an empty set where it does not say."""
    value = at.value
    if not isinstance(value, dict):
        return set()
    found = set(_types(value.get("type"), {}))
    if found and value.get("nullable") is True:
        found.add("null")
    if not found and isinstance(value.get("properties"), dict):
        return {"object"}
    if not found and isinstance(listed := value.get("enum"), list):
        return {"string"} if all(isinstance(one, str) for one in listed) else set()
    return found


def finished(
    said: JsonObject, below: JsonObject, hidden: Set[str], notes: dict[str, None]
) -> JsonObject:
    """Return one schema of its own keywords and what its subschemas became; `hidden` are members
    that a call does not send.
    """
    made: JsonObject = {}
    if description := _description(said, below):
        made["description"] = description
    if types := _types(said.get("type"), notes):
        made["type"] = types[0] if len(types) == 1 else types
    for key in _COUNTS:
        if _is_count(said.get(key)):
            made[key] = int(said[key])
    _numbers(said, made)
    _texts(said, made, notes)
    if said.get("uniqueItems") is True:
        made["uniqueItems"] = True
    made |= below
    _drop_alone(made)
    _required(said, made, hidden, notes)
    _values(said, made, notes)
    for low, high in _PAIRS:
        least, most = made.get(low), made.get(high)
        if (
            least is not None
            and most is not None
            and (least > most or (least == most and "exclusive" in low + high))
        ):
            notes[
                f"`{low}` {least} and `{high}` {most} contradict each other, and are left out"
            ] = None
            del made[low], made[high]
    _parts(made, notes)
    return _nullable(_flat(made), said)


def _types(said: Any, notes: dict[str, None]) -> list[str]:
    found: dict[str, None] = {}
    for one in said if isinstance(said, list) else [said]:
        kind = one if one in _TYPES else _MEANT.get(str(one).lower(), str(one).lower())
        if one is None or kind == "any":
            continue
        if kind in _TYPES:
            found[kind] = None
        else:
            notes[f"{short(str(one), most=40)} is not a type, and is left out"] = None
    return list(found)


def _description(said: JsonObject, below: JsonObject) -> str:
    text = short(plain(said.get("description")) or plain(said.get("title")), most=_MAX_TEXT)
    default = said.get("default")
    if "default" in said and default is not None and not isinstance(default, (dict, list)):
        # Vespe fills defaults in; here it is the server that does, and nothing is sent that nobody
        # gave.
        written = short(strict_json.compact_json(default), most=_MAX_EXAMPLE)
        if written.strip('"').lower() not in text.lower() or not written.strip('"'):
            text = f"{text} Default: {plain(written)}.".strip()
    if (
        "writeOnly" not in said
        and said.get("deprecated") is True
        and "deprecated" not in text.lower()
    ):
        text = f"Deprecated. {text}".strip()
    return text


def _is_count(value: Any) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and 0 <= value < 1 << 53
        and value == int(value)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(said: JsonObject, made: JsonObject) -> None:
    """Take the bounds of a number; before 3.1 `exclusiveMinimum` is true or false, and says it of
    `minimum`.
    """
    for key in _NUMBERS:
        if _is_number(said.get(key)) and (key != "multipleOf" or said[key] > 0):
            made[key] = said[key]
    for exclusive, plain_key in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if said.get(exclusive) is True and plain_key in made:
            made[exclusive] = made.pop(plain_key)


def _texts(said: JsonObject, made: JsonObject, notes: dict[str, None]) -> None:
    for key in ("format", "contentEncoding", "contentMediaType"):
        if isinstance(said.get(key), str) and said[key]:
            made[key] = plain(said[key])
    if said.get("type") == "file" or (
        said.get("format") == "binary" and "string" in str(said.get("type"))
    ):
        made["format"] = "binary"
    pattern = said.get("pattern")
    if isinstance(pattern, str):
        if _is_linear(pattern):
            made["pattern"] = pattern
        else:
            shown = plain(short(pattern, most=120))
            notes[
                f"the pattern {shown} needs a backtracking engine, so Vespe does not check it; "
                "the server does"
            ] = None
            made["description"] = f"{made.get('description', '')} Must match {shown}".strip()


@lru_cache(maxsize=4096)
def _is_linear(pattern: str) -> bool:
    return not validator.check_schema({"type": "string", "pattern": pattern}, root_object=False)


def _drop_alone(made: JsonObject) -> None:
    """Leave out what has no effect without its partner."""
    for key, needs in (
        ("minContains", "contains"),
        ("maxContains", "contains"),
        ("then", "if"),
        ("else", "if"),
    ):
        if needs not in made:
            made.pop(key, None)
    for key in ("allOf", "anyOf", "oneOf", "prefixItems"):
        if made.get(key) == []:
            del made[key]


def _required(said: JsonObject, made: JsonObject, hidden: Set[str], notes: dict[str, None]) -> None:
    """Take `required`, that of draft 3 too, without what a call does not send or may not."""
    listed = said.get("required")
    names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    properties = said.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        if isinstance(part, dict) and part.get("required") is True:
            names.append(name)
    known = made.get("properties", {})
    closed = made.get("additionalProperties") is False and not made.keys() & {
        "allOf",
        "anyOf",
        "oneOf",
        "patternProperties",
    }
    kept = []
    for name in dict.fromkeys(names):
        if name in hidden:
            continue
        if known.get(name) is False or (closed and name not in known):
            notes[
                f"{short(name, most=60)} is required but not allowed, so here it is not required"
            ] = None
        else:
            kept.append(name)
    if kept:
        made["required"] = kept[:1000]


def _values(said: JsonObject, made: JsonObject, notes: dict[str, None]) -> None:
    """Take `enum` and `const`; where the rest of the schema refuses one of them, they are right and
    the rest is not.
    """
    listed = said.get("enum")
    values = (
        list({strict_json.compact_json(value): value for value in listed}.values())
        if isinstance(listed, list)
        else []
    )
    if len(values) > _MAX_ENUM:
        notes[f"an `enum` of {len(values)} values is too long for a model, and is left out"] = None
        values = []
    if any(isinstance(value, (dict, list)) and deeper_than(value, 4) for value in values):
        values = []
    given = (
        [*values, said["const"]]
        if "const" in said and not isinstance(said["const"], (dict, list))
        else values
    )
    if values:
        made["enum"] = values
    if len(given) > len(values):
        made["const"] = given[-1]
    if said.get("nullable") is True:
        given = [value for value in given if value is not None]
    if given and not _fits(made, given):
        for key in (*_COUNTS, *_NUMBERS, "pattern", "format"):
            made.pop(key, None)
        if not _fits(made, given):
            made.pop("type", None)
            notes["the values of an `enum` are not of its type, which is left out"] = None
    examples = (
        said.get("examples")
        if isinstance(said.get("examples"), list)
        else [said["example"]]
        if "example" in said
        else []
    )
    kept = [
        one
        for one in examples or []
        if isinstance(one, (str, int, float)) and len(str(one)) <= _MAX_EXAMPLE
    ]
    if kept and not given and _fits(made, kept[:1]):
        made["examples"] = [plain(kept[0]) if isinstance(kept[0], str) else kept[0]]


def _fits(made: JsonObject, values: list[JsonValue]) -> bool:
    rest = {
        key: item
        for key, item in made.items()
        if key not in ("enum", "const", "description", "format", "examples")
    }
    if "$defs" in str(rest):
        rest = {key: item for key, item in rest.items() if key == "type"}
    if not rest:
        return True
    try:
        judge = validator.Validator(rest)
    except InvalidDocument:
        return False
    return all(judge.is_valid(value) for value in values)


def _parts(made: JsonObject, notes: dict[str, None]) -> None:
    """Take types out of `allOf` that no value can have at once."""
    parts = [made, *(part for part in made.get("allOf", ()) if isinstance(part, dict))]
    typed = [part for part in parts if "type" in part]
    allowed: set[str] | None = None
    for part in typed:
        names = {part["type"]} if isinstance(part["type"], str) else set(part["type"])
        names |= {"integer"} if "number" in names else set()
        allowed = names if allowed is None else allowed & names
    if allowed is not None and not allowed:
        notes["the types in an `allOf` contradict each other, and are left out"] = None
        for part in typed:
            del part["type"]


def _flat(made: JsonObject) -> JsonObject:
    """Return an `allOf` of one part that stands alone as that part."""
    parts = made.get("allOf")
    if (
        isinstance(parts, list)
        and len(parts) == 1
        and isinstance(parts[0], dict)
        and not made.keys() - {"allOf", "description", "type"}
    ):
        beside = {key: item for key, item in made.items() if key != "allOf"}
        return (
            {**parts[0], **beside}
            if "$ref" not in parts[0]
            else {**{key: beside[key] for key in beside if key != "type"}, **parts[0]}
        )
    return made


def _nullable(made: JsonObject, said: JsonObject) -> JsonObject:
    """Return a schema that allows null too where the document says so."""
    if said.get("nullable") is not True and said.get("x-nullable") is not True:
        return made
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    if "type" in made and not any(key in made for key in _COMPOSED):
        types = made["type"] if isinstance(made["type"], list) else [made["type"]]
        return {**made, "type": [*types, *(["null"] if "null" not in types else [])]}
    if any(key in made for key in _COMPOSED):
        beside = {"description": made["description"]} if "description" in made else {}
        return {
            **beside,
            "anyOf": [
                {key: item for key, item in made.items() if key != "description"},
                {"type": "null"},
            ],
        }
    return made
