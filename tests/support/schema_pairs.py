"""Pairs of schemas, a version and the next one, and values for them, made from a seed: what tests
of their comparison judge.
"""

import copy
import random
from typing import Any

NAMES = ("a", "b", "c")
_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    12,
    2.0,
    2.5,
    "",
    "a",
    "b",
    "aaaaaaa",
    "x",
    [],
    [1],
    ["a", "a"],
    {},
    {"a": 1},
    {"c": "b"},
)


def pair(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give an object schema and a next version of it: mended in one place, or another schema
    altogether.
    """
    source = random.Random(seed)
    old = objects(source)
    if source.random() < 0.2:
        return old, objects(source)
    new = copy.deepcopy(old)
    place, more = source.choice(_places(new)), anything(source, 1)
    if source.random() < 0.4 and place:
        place.pop(source.choice(list(place)))
    elif isinstance(more, dict):
        place.update(more)
    return old, new


def value(source: random.Random, schema: Any) -> Any:
    """Give a value that a schema probably takes: it follows most keywords, and now and then
    none.
    """
    if not isinstance(schema, dict) or source.random() < 0.05:
        return source.choice(_VALUES)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return (
                value(source, {**schema, keyword: None} | _branch(source, schema[keyword]))
                if schema[keyword]
                else _of_kind(source, schema)
            )
    return source.choice(schema["enum"]) if "enum" in schema else _of_kind(source, schema)


def _branch(source: random.Random, branches: list[Any]) -> dict[str, Any]:
    chosen = source.choice(branches)
    return chosen if isinstance(chosen, dict) else {}


def _of_kind(source: random.Random, schema: dict[str, Any]) -> Any:
    kinds = schema.get("type") or ["object", "array", "string", "integer", "null"]
    kind = source.choice(kinds) if isinstance(kinds, list) else kinds
    if kind == "object":
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        names = [
            *schema.get("required", ()),
            *(name for name in (*NAMES, "ab", "long-name") if source.random() < 0.4),
        ]
        return {
            name: value(source, known.get(name, others))
            for name in names
            if name in known or others is not False or source.random() < 0.1
        }
    if kind == "array":
        return [
            value(source, schema.get("items", True))
            for _ in range(source.randint(schema.get("minItems", 0), schema.get("maxItems", 3)))
        ]
    if kind == "string":
        return "".join(
            source.choices(
                "ab✓", k=source.randint(schema.get("minLength", 0), schema.get("maxLength", 6))
            )
        )
    return (
        source.choice([*range(-5, 15), *([2.5, 3.0, 0.5] if kind == "number" else [])])
        if kind in ("integer", "number")
        else kind == "boolean" or None
    )


def _places(schema: Any) -> list[dict[str, Any]]:
    below = (
        schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    )
    return ([schema] if isinstance(schema, dict) else []) + [
        place for one in below for place in _places(one)
    ]


def anything(source: random.Random, depth: int) -> Any:
    """Give a schema of any kind."""
    makers = [_plain, _numbers, _numbers, _texts, _texts, _listed, _kinds]
    makers += [] if depth > 2 else [_arrays, _arrays, objects, objects, _branches]
    return source.choice(makers)(source, depth)


def objects(source: random.Random, depth: int = 0) -> dict[str, Any]:
    """Give an object schema over a few names."""
    made: dict[str, Any] = {
        "type": "object",
        "properties": {n: anything(source, depth + 1) for n in NAMES if source.random() < 0.6},
    }
    extras: list[tuple[float, str, Any]] = [
        (0.5, "required", [name for name in NAMES if source.random() < 0.4]),
        (
            0.6,
            "additionalProperties",
            source.choice([False, True, anything(source, depth + 1) if depth < 2 else False]),
        ),
        (0.1, "patternProperties", {source.choice(["^a", "b|c"]): _texts(source, depth)}),
        (0.1, "minProperties", source.randint(0, 2)),
        (0.1, "maxProperties", source.randint(1, 3)),
        (0.1, "propertyNames", {"maxLength": source.randint(1, 4)}),
        (0.07, "unevaluatedProperties", False),
    ]
    made.update((keyword, value) for chance, keyword, value in extras if source.random() < chance)
    if depth < 2 and source.random() < 0.07:
        made["allOf"] = [objects(source, depth + 1)]
    return made


def _plain(source: random.Random, depth: int) -> Any:
    return source.choice([{}, {"type": "boolean"}, {"type": "null"}, True])


def _numbers(source: random.Random, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": source.choice(["integer", "number"])}
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if source.random() < 0.25:
            made[keyword] = source.randint(-3, 3) + (10 if "ax" in keyword else 0)
    if source.random() < 0.2:
        made["multipleOf"] = source.choice([1, 2, 3, 0.5])
    return made


def _texts(source: random.Random, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "string"}
    made.update({"minLength": source.randint(0, 3)} if source.random() < 0.4 else {})
    made.update({"maxLength": source.randint(3, 5)} if source.random() < 0.4 else {})
    made.update({"pattern": source.choice(["^a", "b"])} if source.random() < 0.1 else {})
    return made


def _listed(source: random.Random, depth: int) -> dict[str, Any]:
    return {"enum": source.sample(["x", "y", 1, True, None, 2.0, [], {}], source.randint(1, 4))}


def _kinds(source: random.Random, depth: int) -> dict[str, Any]:
    return {"type": source.sample(["string", "integer", "null", "number"], 2)}


def _arrays(source: random.Random, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "array", "items": anything(source, depth + 1)}
    made.update({"prefixItems": [anything(source, depth + 1)]} if source.random() < 0.2 else {})
    made.update({"minItems": source.randint(0, 2)} if source.random() < 0.3 else {})
    made.update({"maxItems": source.randint(2, 4)} if source.random() < 0.3 else {})
    made.update({"uniqueItems": source.random() < 0.5} if source.random() < 0.2 else {})
    return made


def _branches(source: random.Random, depth: int) -> dict[str, Any]:
    keyword = source.choice(["anyOf", "oneOf", "allOf", "not"])
    if keyword == "not":
        return {"not": anything(source, depth + 1)}
    return {keyword: [anything(source, depth + 1) for _ in range(source.randint(1, 3))]}
