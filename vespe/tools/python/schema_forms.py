"""Small steps on JSON Schemas that Vespe itself writes: unions, nullable types, and definitions put
where they are used.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from vespe.documents.strict_json import compact_json
from vespe.models import JsonObject, JsonValue

_TYPES: tuple[tuple[type, str], ...] = (
    (type(None), "null"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)
_PREFIX = "#/$defs/"
_BESIDE_A_TYPE = frozenset(("$ref", "allOf", "anyOf", "const", "not", "oneOf"))
_WORDS = ("default", "description", "examples", "title")
_MAPS, _LISTS, _SINGLE = (
    ("properties",),
    ("allOf", "anyOf", "prefixItems"),
    ("additionalProperties", "items", "propertyNames"),
)
"""The keywords under which Vespe writes schemas; whatever else a schema holds is data (a default
may look like a schema).
"""
_SMALL = 160
"""In characters of compact JSON: a definition as short as this is repeated where it is used."""


def reference(name: str) -> JsonObject:
    """A schema that stands for the definition `name`."""
    return {"$ref": _PREFIX + name}


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """The JSON types that a schema's own `type` allows; () where it has none."""
    kind = schema.get("type", ())
    return (kind,) if isinstance(kind, str) else tuple(kind)


def json_type(value: JsonValue) -> str:
    """The JSON Schema type of a value: `integer` for whole numbers that Python has as int."""
    return next(name for kind, name in _TYPES if isinstance(value, kind))


def fits(value: JsonValue, types: Collection[str]) -> bool:
    """Whether a value is of one of the JSON types; a whole number is a number too, and no types at
    all mean any.
    """
    kind = json_type(value)
    return not types or kind in types or (kind == "integer" and "number" in types)


def enumeration(values: Iterable[JsonValue]) -> JsonObject:
    """A schema for exactly these values, each once; True is no 1."""
    distinct = {compact_json(value): value for value in values}
    kinds = list(dict.fromkeys(json_type(value) for value in distinct.values()))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(distinct.values())}


def union(members: Iterable[JsonObject]) -> JsonObject:
    """One schema for what any of the members accepts, in the shortest form that says the same."""
    flat = _flattened(members)
    if {} in flat:
        return {}
    bare = list(
        dict.fromkeys(
            kind for member in flat if member.keys() == {"type"} for kind in types_of(member)
        )
    )
    kinds = [kind for kind in bare if kind != "integer" or "number" not in bare]
    others = [member for member in flat if member.keys() != {"type"}]
    if (
        kinds == ["null"]
        and len(others) == 1
        and types_of(others[0])
        and _BESIDE_A_TYPE.isdisjoint(others[0])
    ):
        return _nullable(others[0])
    alternatives = [*others, {"type": kinds[0] if len(kinds) == 1 else kinds}] if kinds else others
    return alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}


def extended(schema: JsonObject, keywords: Mapping[str, JsonValue]) -> JsonObject:
    """The schema with more keywords; where both say something else with one keyword, both hold
    (`allOf`).
    """
    if any(
        key in schema and schema[key] != value and key not in _WORDS
        for key, value in keywords.items()
    ):
        return {"allOf": [schema], **keywords}
    return {**schema, **keywords}


def settled(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    """The schema with each definition put where it is used, when it is used once or is small; the
    rest stays in `$defs`.

    What refers to itself always stays in `$defs`; what nothing uses is left out.
    """
    used = Counter(name for part in (schema, *definitions.values()) for name in _references(part))
    finished: dict[str, JsonObject] = {}
    placed: set[str] = set()
    for name in _leaves_first(definitions):
        finished[name] = _placed(definitions[name], {other: finished[other] for other in placed})
        small = len(compact_json(finished[name])) <= _SMALL and not any(_references(finished[name]))
        if name not in _reachable(name, definitions) and (small or used[name] == 1):
            placed.add(name)
    root = _placed(schema, {name: finished[name] for name in placed})
    reachable = _reachable_from(root, finished)
    kept = {name: finished[name] for name in definitions if name in reachable}
    return {**root, "$defs": kept} if kept else root


def _flattened(members: Iterable[JsonObject]) -> list[JsonObject]:
    flat: list[JsonObject] = []
    for member in members:
        for part in member["anyOf"] if member.keys() == {"anyOf"} else [member]:
            if part not in flat:
                flat.append(part)
    return flat


def _nullable(schema: JsonObject) -> JsonObject:
    changed = {**schema, "type": [*dict.fromkeys((*types_of(schema), "null"))]}
    if "enum" in schema and None not in schema["enum"]:
        changed["enum"] = [*schema["enum"], None]
    return changed


def _subschemas(schema: JsonObject) -> Iterator[JsonObject]:
    for key, value in schema.items():
        if key in _MAPS:
            yield from value.values()
        elif key in _LISTS:
            yield from value
        elif key in _SINGLE and isinstance(value, dict):
            yield value


def _references(schema: JsonObject) -> Iterator[str]:
    if "$ref" in schema:
        yield schema["$ref"].removeprefix(_PREFIX)
    for inner in _subschemas(schema):
        yield from _references(inner)


def _reachable(name: str, definitions: Mapping[str, JsonObject]) -> set[str]:
    """The definitions that one refers to, at any remove; itself only where it is recursive."""
    return _reachable_from(definitions[name], definitions)


def _reachable_from(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> set[str]:
    found: set[str] = set()
    waiting = list(_references(schema))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(definitions[name])
    return found


def _leaves_first(definitions: Mapping[str, JsonObject]) -> list[str]:
    return sorted(definitions, key=lambda name: len(_reachable(name, definitions)))


def _placed(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    rebuilt = {key: _placed_under(key, value, definitions) for key, value in schema.items()}
    name = rebuilt.get("$ref", "").removeprefix(_PREFIX)
    if name in definitions:
        return extended(
            definitions[name], {key: value for key, value in rebuilt.items() if key != "$ref"}
        )
    if "anyOf" in rebuilt:
        return {**union(rebuilt.pop("anyOf")), **rebuilt}
    return rebuilt


def _placed_under(key: str, value: JsonValue, definitions: Mapping[str, JsonObject]) -> JsonValue:
    if key in _MAPS:
        return {name: _placed(inner, definitions) for name, inner in value.items()}
    if key in _LISTS:
        return [_placed(inner, definitions) for inner in value]
    return _placed(value, definitions) if key in _SINGLE and isinstance(value, dict) else value
