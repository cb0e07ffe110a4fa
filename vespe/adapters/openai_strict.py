"""OpenAI's strict mode: a schema rewritten so that it takes it, or what cannot be rewritten; and
the arguments on their way back.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from vespe.adapters.limits import limits_on
from vespe.documents.pointers import pointer_to
from vespe.models import JsonObject, JsonValue
from vespe.schemas.explain import short
from vespe.schemas.subschemas import References, walk

_API: Final = "openai"
_MOST: Final = 20_000
_DROPPED: Final = frozenset(
    (
        "default",
        "examples",
        "$schema",
        "$id",
        "$comment",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
        "unevaluatedProperties",
    )
)
"""What only describes, or only narrows what Vespe checks again at each call; it is left out where
strict mode refuses it.
"""
_REFUSED: Final = (
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "prefixItems",
    "contains",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
)
_ANNOTATIONS: Final = frozenset(("title", "description", *_DROPPED))
Steps = tuple[str | int, ...]


class Refusal(NamedTuple):
    """One thing that strict mode cannot be given: a pointer into the schema, and a sentence."""

    pointer: str
    message: str


@dataclass(slots=True)
class _Rewriting:
    refusals: list[Refusal] = field(default_factory=list)

    def refuse(self, steps: Steps, message: str) -> JsonObject:
        self.refusals.append(Refusal(pointer_to(steps), message))
        return {}

    def schema(self, given: Any, steps: Steps) -> JsonObject:
        """Return one subschema as strict mode takes it; where that cannot be, it is refused and
        what is given is not used.
        """
        if not isinstance(given, dict) or not set(given) - _ANNOTATIONS - {"$defs", "definitions"}:
            return self.refuse(
                steps, "allows any value, but strict mode requires a type: state one"
            )
        for keyword in _REFUSED:
            if keyword in given:
                self.refuse(
                    (*steps, keyword),
                    f"uses `{keyword}`, which strict mode does not support and for which there is "
                    "no replacement",
                )
        one = self._merged(given, steps)
        if "$ref" in one:
            return self._reference(one, steps)
        made = {keyword: value for keyword, value in one.items() if keyword not in _DROPPED}
        if "const" in made:
            made["enum"] = [made.pop("const")]
        if "oneOf" in made:
            made["anyOf"] = (
                [*made.pop("anyOf", []), *made.pop("oneOf")]
                if "anyOf" not in made
                else self._two(made, steps)
            )
        if "format" in made and made["format"] not in _formats():
            del made["format"]
        self._within(one, made, steps)
        if "type" not in made and "anyOf" not in made and "enum" not in made:
            self.refuse(steps, "has no `type`, but strict mode requires one")
        return made

    def _two(self, made: JsonObject, steps: Steps) -> list[JsonValue]:
        self.refuse(
            (*steps, "oneOf"), "uses `oneOf` beside `anyOf`, and strict mode takes one `anyOf`"
        )
        listed: list[JsonValue] = made.pop("anyOf")
        del made["oneOf"]
        return listed

    def _merged(self, given: JsonObject, steps: Steps) -> JsonObject:
        """Return a schema whose `allOf` is one with it, where they say different things."""
        if "allOf" not in given:
            return given
        merged = {keyword: value for keyword, value in given.items() if keyword != "allOf"}
        for index, part in enumerate(given["allOf"]):
            new = part if isinstance(part, dict) else {}
            if any(
                keyword in merged and merged[keyword] != value
                for keyword, value in new.items()
                if keyword not in _ANNOTATIONS
            ):
                self.refuse(
                    (*steps, "allOf", index),
                    "repeats a keyword that is also beside `allOf`, and strict mode does not "
                    "support `allOf`",
                )
            merged = {**new, **merged}
        return self._merged(merged, steps) if "allOf" in merged else merged

    def _reference(self, one: JsonObject, steps: Steps) -> JsonObject:
        beside = set(one) - _ANNOTATIONS - {"$ref", "$defs", "definitions"}
        if beside:
            self.refuse(
                steps,
                f"has {', '.join(sorted(beside))} beside `$ref`, "
                "and strict mode takes `$ref` alone",
            )
        reference = str(one["$ref"])
        if reference != "#" and not reference.startswith(("#/$defs/", "#/definitions/")):
            self.refuse(
                (*steps, "$ref"),
                f"refers to {reference}, and strict mode follows only `#` and `#/$defs/…`",
            )
        made: JsonObject = {"$ref": reference.replace("#/definitions/", "#/$defs/", 1)}
        # the definitions of a root that is a reference stand beside it
        return made

    def _within(self, one: JsonObject, made: JsonObject, steps: Steps) -> None:
        if "anyOf" in made:
            keyword = "anyOf" if "anyOf" in one else "oneOf"
            made["anyOf"] = [
                self.schema(branch, (*steps, keyword, index))
                for index, branch in enumerate(made["anyOf"])
            ]
        kinds = made["type"] if isinstance(made.get("type"), list) else [made.get("type")]
        if "object" in kinds or "properties" in made:
            self._object(one, made, steps)
        if "array" in kinds:
            if "items" not in made:
                self.refuse(steps, "is an array without `items`, but strict mode requires them")
            else:
                made["items"] = self.schema(made["items"], (*steps, "items"))

    def _object(self, one: JsonObject, made: JsonObject, steps: Steps) -> None:
        others = one.get("additionalProperties", one.get("unevaluatedProperties"))
        properties = one.get("properties", {})
        if (
            (isinstance(others, dict) and others)
            or (others in (True, {}) and not properties)
            or (others is None and not properties and steps)
        ):
            place = (*steps, "additionalProperties") if "additionalProperties" in one else steps
            self.refuse(
                place,
                "allows properties that are not listed, but strict mode requires objects that list "
                "every property",
            )
        required = one.get("required", [])
        for name in set(required) - set(properties):
            self.refuse((*steps, "required"), f"requires {short(name)}, which is not a property")
        made["properties"] = {
            name: self._property(sub, (*steps, "properties", name), optional=name not in required)
            for name, sub in properties.items()
        }
        made["required"] = list(properties)
        made["additionalProperties"] = False

    def _property(self, given: Any, steps: Steps, *, optional: bool) -> JsonObject:
        made = self.schema(given, steps)
        said = {
            keyword: given[keyword]
            for keyword in ("description", "title")
            if isinstance(given, dict) and keyword in given
        }
        if optional:
            return nullable(made, said)
        return {"anyOf": [made], **said} if "$ref" in made and said else made


def nullable(schema: JsonObject, said: JsonObject) -> JsonObject:
    """Return a schema that takes null too; `said` is what is told of it to a model."""
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}], **said}
    made = dict(schema)
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    if "anyOf" in made and not any(
        isinstance(branch, dict) and _takes_null(branch) for branch in made["anyOf"]
    ):
        made["anyOf"] = [*made["anyOf"], {"type": "null"}]
    if "type" in made:
        kinds = made["type"] if isinstance(made["type"], list) else [made["type"]]
        made["type"] = kinds if "null" in kinds else [*kinds, "null"]
    return made


def _takes_null(branch: JsonObject) -> bool:
    kind = branch.get("type")
    return (
        kind == "null"
        or (isinstance(kind, list) and "null" in kind)
        or None in branch.get("enum", ())
    )


def rewrite(schema: JsonObject) -> tuple[JsonObject, list[Refusal]]:
    """Return an input schema as OpenAI's strict mode takes it, and all that it cannot be given
    (then the schema is of no use).

    Every object is closed and lists every property as required; what was optional takes null
    instead (`without_nulls` takes it out of the arguments again). What only narrows values and
    strict mode does not know is left out: Vespe checks each call by the tool's own schema. `oneOf`
    becomes `anyOf`, `const` an `enum`, `definitions` become `$defs`.
    """
    work = _Rewriting()
    if any(keyword in schema for keyword in ("anyOf", "oneOf", "enum", "$ref")):
        work.refuse(
            (),
            "has anyOf, oneOf, enum or $ref at its root, and strict mode takes an object with "
            "properties there",
        )
    made = work.schema(schema, ())
    made.setdefault("type", "object")
    definitions = {}
    for keyword in ("definitions", "$defs"):
        made.pop(keyword, None)
        for name, sub in (schema.get(keyword) or {}).items():
            definitions[name] = work.schema(sub, (keyword, name))
    if definitions:
        made["$defs"] = definitions
    work.refusals += _past_limits(made)
    return made, list(dict.fromkeys(work.refusals))


def _past_limits(schema: JsonObject) -> Iterator[Refusal]:
    properties, depth, characters = 0, 0, 0
    for steps, part, _, _ in walk(schema, most=_MOST):
        if not isinstance(part, dict):
            continue
        named = part.get("properties", {})
        properties += len(named)
        depth = max(depth, sum(step == "properties" for step in steps[::2]) + bool(named))
        characters += sum(map(len, named)) + sum(
            len(value) for value in part.get("enum", ()) if isinstance(value, str)
        )
    for about, count in (
        ("strict-properties", properties),
        ("strict-depth", depth),
        ("strict-characters", characters),
    ):
        limits = limits_on(about, api=_API)
        yield from (
            Refusal("", f"comes to {count}, and strict mode takes {limit.words}")
            for limit in limits
            if count > limit.value
        )


def _formats() -> frozenset[str]:
    return frozenset().union(*(limit.value for limit in limits_on("strict-formats", api=_API)))


def without_nulls(schema: JsonObject, arguments: JsonObject) -> JsonObject:
    """Return strict mode's arguments as the tool's own schema takes them: a null that stands for an
    absent one is left out.

    That is a null for a property that is not required and whose own schema does not take null;
    neither argument is changed.
    """
    made: JsonObject = _without(schema, arguments, References(schema))
    return made


def _without(schema: Any, value: Any, references: References) -> Any:
    while (
        isinstance(schema, dict)
        and "$ref" in schema
        and (target := references.target(schema["$ref"])) is not schema
    ):
        schema = target
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [_without(schema.get("items"), item, references) for item in value]
    if not isinstance(value, dict):
        return value
    properties, required = schema.get("properties", {}), schema.get("required", [])
    return {
        name: _without(properties.get(name), item, references)
        for name, item in value.items()
        if item is not None
        or name in required
        or name not in properties
        or _allows_null(properties[name], references)
    }


def _allows_null(schema: Any, references: References) -> bool:
    seen = 0
    while isinstance(schema, dict) and "$ref" in schema and seen < _MOST:
        schema, seen = references.target(schema["$ref"]), seen + 1
    if not isinstance(schema, dict):
        return schema is not False
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if branches:
        return any(_allows_null(branch, references) for branch in branches)
    if "enum" in schema or "const" in schema:
        return None in schema.get("enum", [schema.get("const")])
    return "type" not in schema or _takes_null(schema)
