"""A tool's inputs as a person reads and types them: one line of names, and a command to copy."""

from collections.abc import Iterator
from typing import Final

from vespe.documents import strict_json
from vespe.lazy import shlex
from vespe.models import JsonObject, JsonValue

_LONGEST_CHOICE: Final = 30
_DEEPEST: Final = 8
_SAMPLES: Final[dict[str, JsonValue]] = {
    "integer": 1,
    "number": 1,
    "boolean": True,
    "null": None,
    "string": "TEXT",
}


def signature(schema: JsonObject) -> str:
    """Return the inputs on one line: `a` is required, `b=1` has a default, `c?` is optional,
    `d=x|y` is one of these words with the first as its default, `e=(x|y)` one of them without a
    default.
    """
    return ", ".join(_said(key, facts, needed=needed) for key, facts, needed in inputs(schema))


def inputs(schema: JsonObject) -> Iterator[tuple[str, JsonObject, bool]]:
    """Yield each property's name, schema and whether it is required; the required ones first."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return
    needed = set(required) if isinstance(required, list) else set()
    for key in sorted(properties, key=lambda key: key not in needed):
        facts = properties[key]
        yield key, facts if isinstance(facts, dict) else {}, key in needed


def members(facts: JsonObject, root: JsonObject) -> JsonObject | None:
    """Return the schema of the object that an input is, or is a list of, if its members are
    known.
    """
    schema = followed(facts, root)
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict) or isinstance(schema.get("properties"), dict):
            break
        branches = schema.get("anyOf") or schema.get("oneOf") or [schema.get("items")]
        found = [followed(one, root) for one in branches] if isinstance(branches, list) else []
        schema = next((one for one in found if isinstance(one, dict) and _is_deep(one)), None)
    return schema if isinstance(schema, dict) and schema.get("properties") else None


def _is_deep(schema: JsonObject) -> bool:
    return bool({"properties", "items", "anyOf", "oneOf"} & schema.keys())


def followed(schema: JsonValue, root: JsonObject) -> JsonValue:
    """Return what a schema is after its local references; {} for one that leads nowhere."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        schema = root
        for token in reference[1:].split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            schema = schema.get(token) if isinstance(schema, dict) else None
    return {}


def example(name: str, schema: JsonObject) -> str:
    """Return a command that runs the tool with its required inputs, for a person to complete."""
    words = [f"{key}={_typed(facts, schema)}" for key, facts, needed in inputs(schema) if needed]
    return " ".join(["vespe tool run", *map(shlex.quote, [name, *words])])


def choices(facts: JsonObject) -> list[JsonValue]:
    """Return the values that a property's schema lists; [] where it lists none."""
    values = facts.get("enum", [True, False] if facts.get("type") == "boolean" else [])
    return values if isinstance(values, list) else []


def _said(key: str, facts: JsonObject, *, needed: bool) -> str:
    words = (
        [_shown(value) for value in facts.get("enum", []) if value is not None]
        if isinstance(facts.get("enum"), list)
        else []
    )
    default = facts.get("default")
    if default is not None:
        words = [_shown(default), *(word for word in words if word != _shown(default))]
    mark = "" if needed or default is not None else "?"
    if not words:
        return f"{key}{mark}"
    shown = "|".join(words)
    shown = shown if len(shown) <= _LONGEST_CHOICE else words[0] + "|…" * (len(words) > 1)
    return f"{key}{mark}=" + (f"({shown})" if default is None else shown)


def _shown(value: JsonValue) -> str:
    """Return a value as it stands in a line of inputs: in quotes where it could be read as more
    than one.
    """
    is_plain = isinstance(value, str) and value and not set(value) & set(" \t\n,|=()\"'")
    return value if isinstance(value, str) and is_plain else strict_json.compact_json(value)


def plain(value: JsonValue) -> str:
    """Return a value as it is typed after `key=`."""
    return value if isinstance(value, str) and value else strict_json.compact_json(value)


def _typed(facts: JsonObject, root: JsonObject) -> str:
    """Return a value for an input as it is typed after `key=`."""
    value = _sample(facts, root, 0)
    return plain("TEXT" if value is None and facts.get("type") != "null" else value)


def _sample(schema: JsonValue, root: JsonObject, depth: int) -> JsonValue:
    """Return a value that the schema is likely to take, with the required members of objects."""
    facts = followed(schema, root)
    if not isinstance(facts, dict) or depth > _DEEPEST:
        return None
    for known in (facts.get("examples"), choices(facts)):
        if isinstance(known, list) and known:
            return known[0]
    for keyword in ("default", "const"):
        if keyword in facts:
            return facts[keyword]
    branches = facts.get("anyOf") or facts.get("oneOf")
    if isinstance(branches, list) and branches:
        return _sample(branches[0], root, depth + 1)
    kind = facts.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        return {
            key: _sample(member, root, depth + 1) for key, member, needed in inputs(facts) if needed
        }
    if kind == "array":
        item = _sample(facts.get("items"), root, depth + 1)
        return [] if item is None else [item]
    return _SAMPLES.get(str(kind), None if depth else "TEXT")
