"""A tool's inputs as a person reads and types them: one line of names, and a command to copy."""

from collections.abc import Iterator
from typing import Final

from vespe.documents import strict_json
from vespe.lazy import shlex
from vespe.models import JsonObject, JsonValue

_LONGEST_CHOICE: Final = 30
_SAMPLES: Final = {"integer": "1", "number": "1", "boolean": "true", "object": "{}", "null": "null"}
_ITEMS: Final = {**_SAMPLES, "string": '"TEXT"'}


def signature(schema: JsonObject) -> str:
    """Return the inputs on one line: `a` is required, `b=1` has a default, `c?` is optional,
    `d=x|y` is one of these words.
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


def example(name: str, schema: JsonObject) -> str:
    """Return a command that runs the tool with its required inputs, for a person to complete."""
    words = [f"{key}={_sample(facts)}" for key, facts, needed in inputs(schema) if needed]
    return " ".join(["vespe tool run", *map(shlex.quote, [name, *words])])


def choices(facts: JsonObject) -> list[JsonValue]:
    """Return the values that a property's schema lists; [] where it lists none."""
    values = facts.get("enum", [True, False] if facts.get("type") == "boolean" else [])
    return values if isinstance(values, list) else []


def _said(key: str, facts: JsonObject, *, needed: bool) -> str:
    words = (
        [plain(value) for value in facts.get("enum", []) if value is not None]
        if isinstance(facts.get("enum"), list)
        else []
    )
    if "default" in facts and facts["default"] is not None:
        words = [
            plain(facts["default"]),
            *(word for word in words if word != plain(facts["default"])),
        ]
    mark = "" if needed or words else "?"
    shown = "|".join(words)
    return f"{key}{mark}" + (
        f"={shown if len(shown) <= _LONGEST_CHOICE else words[0] + '|…'}" if words else ""
    )


def plain(value: JsonValue) -> str:
    """Return a value as it is typed after `key=`."""
    return value if isinstance(value, str) and value else strict_json.compact_json(value)


def _sample(facts: JsonObject) -> str:
    for known in (facts.get("examples"), choices(facts)):
        if isinstance(known, list) and known:
            return plain(known[0])
    if "default" in facts:
        return plain(facts["default"])
    items = facts.get("items")
    if (
        facts.get("type") == "array"
        and isinstance(items, dict)
        and (of := _ITEMS.get(str(items.get("type"))))
    ):
        return f"[{of}]"
    return _SAMPLES.get(str(facts.get("type")), "TEXT")
