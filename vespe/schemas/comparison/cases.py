"""One side of a comparison of schemas: a root rewritten so that any part of it can be judged alone,
and cases of its values.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import Any, Final

from vespe import defaults
from vespe.errors import InvalidDocument
from vespe.models import JsonValue
from vespe.records import dataclass
from vespe.schemas import validator
from vespe.schemas.subschemas import References, walk

ATOMS: Final = frozenset(("null", "boolean", "object", "array", "string", "integer", "fraction"))
"""The kinds of JSON values: those of JSON Schema, with the numbers that are no integers apart."""
NEIGHBOURLY: Final = ("unevaluatedProperties", "unevaluatedItems")
"""What these say depends on all that stands beside them: they are not the same rule elsewhere."""
_NEWER: Final = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
)
_OLDER: Final = ("http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-06/schema")
_ONLY_2020: Final = ("prefixItems", "$dynamicRef", "$dynamicAnchor")
_SINCE_2019: Final = (
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
    "unevaluatedItems",
    "minContains",
    "maxContains",
)
_ROOT: Final = "#/$defs/root"


class Side:
    """A schema with its draft and its references; `problem` says why it cannot be compared, where
    it cannot.
    """

    def __init__(self, schema: JsonValue) -> None:
        self.draft = (
            str(schema.get("$schema", _NEWER[0])).rstrip("#")
            if isinstance(schema, dict)
            else _NEWER[0]
        )
        self.problem = _problem(schema, self.draft)
        self.root: Any = True if self.problem else _rebased(schema, self.draft)
        self.references = References({"$defs": {"root": self.root}})
        self._judges: dict[tuple[int, ...], tuple[Any, validator.Validator | None]] = {}
        self._made: dict[tuple[int, tuple[str, ...]], tuple[Any, dict[str, Any]]] = {}

    def allows(self, parts: tuple[Any, ...], value: JsonValue) -> bool | None:
        """Whether all the parts of this side's schema allow a value; None where that cannot be
        judged.
        """
        key = tuple(map(id, parts))
        if key not in self._judges:
            # the parts are kept, so that their ids stay theirs
            self._judges[key] = (parts, self._judge(parts))
        judge = self._judges[key][1]
        return None if judge is None else judge.is_valid(value)

    def only(self, schema: dict[str, Any], keywords: tuple[str, ...]) -> dict[str, Any]:
        """Return a schema with some of its keywords alone: the same object each time, so that a
        cycle is met again.
        """
        key = (id(schema), keywords)
        if key not in self._made:
            self._made[key] = (
                schema,
                {keyword: schema[keyword] for keyword in keywords if keyword in schema},
            )
        return self._made[key][1]

    def without(self, schema: dict[str, Any], *keywords: str) -> dict[str, Any]:
        """Return a schema without some of its keywords; as `only`, the same object each time."""
        return self.only(schema, tuple(keyword for keyword in schema if keyword not in keywords))

    def _judge(self, parts: tuple[Any, ...]) -> validator.Validator | None:
        try:
            return validator.Validator(
                {"$schema": self.draft, "$defs": {"root": self.root}, "allOf": [*parts, True]}
            )
        except InvalidDocument:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The values of one side that all of `parts` allow and that are of the kinds `atoms`."""

    side: Side
    parts: tuple[Any, ...]
    atoms: frozenset[str] = ATOMS

    def spread(self) -> "Case":
        """Return the same case with references and `allOf` opened into parts, each once, and its
        kinds narrowed.
        """
        waiting, parts, atoms, seen = list(self.parts), list[Any](), self.atoms, set[int]()
        while waiting:
            part = waiting.pop(0)
            if id(part) in seen or part is True:
                continue
            seen.add(id(part))
            if isinstance(part, dict) and ("$ref" in part or "allOf" in part):
                if "$ref" in part:
                    waiting.append(self.side.references.target(part["$ref"]))
                waiting += part.get("allOf") or ()
                part = (
                    part
                    if any(keyword in part for keyword in NEIGHBOURLY)
                    else self.side.without(part, "$ref", "allOf")
                )
            parts.append(part)
            atoms &= atoms_of(part) if isinstance(part, dict) else atoms
        return replace(self, parts=tuple(parts), atoms=frozenset() if False in parts else atoms)

    @property
    def objects(self) -> Iterator[dict[str, Any]]:
        """The parts that are objects, with keywords."""
        return (part for part in self.parts if isinstance(part, dict))

    def allows(self, value: JsonValue) -> bool | None:
        """Whether a value is of this case; None where that cannot be judged."""
        return self.side.allows(self.parts, value) if atom_of(value) in self.atoms else False

    def finite(self) -> list[Any] | None:
        """Return all the values of the case where a part lists them, else None."""
        listed = [
            part.get("enum", [part.get("const")])
            for part in self.objects
            if "const" in part or "enum" in part
        ]
        if not listed and self.atoms <= {"null", "boolean"}:
            listed = [[None, True, False]]
        shortest = min(listed, key=len, default=None)
        judged = [(value, self.allows(value)) for value in shortest or ()]
        if shortest is None or any(allowed is None for _, allowed in judged):
            return None
        return [value for value, allowed in judged if allowed]


def atoms_of(schema: dict[str, Any]) -> frozenset[str]:
    """Return the kinds that a schema's `type` allows."""
    if "type" not in schema:
        return ATOMS
    said = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return frozenset(
        atom for kind in said for atom in (("integer", "fraction") if kind == "number" else (kind,))
    )


def atom_of(value: JsonValue) -> str:
    """Return the kind of a value; `1.0` is an integer."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, (int, float)):
        return "integer" if value == int(value) else "fraction"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _problem(schema: JsonValue, draft: str) -> str | None:
    if draft not in _NEWER + _OLDER:
        return f"its $schema names {draft}, which Vespe cannot compare"
    for steps, part, _, _ in walk(schema, most=defaults.MAX_SUBSCHEMAS + 1):
        if not isinstance(part, dict):
            continue
        if (steps and ("$id" in part or "$schema" in part)) or "$anchor" in part:
            return "a part of it has its own `$id`, and such references are not followed"
        if any(keyword in part for keyword in ("$dynamicRef", "$recursiveRef", "$dynamicAnchor")):
            return "it uses dynamic references"
        if draft != _NEWER[0] and (isinstance(part.get("items"), list) or "dependencies" in part):
            return "it uses keywords of an older draft"
        reference = part.get("$ref")
        if isinstance(reference, str) and reference != "#" and not reference.startswith("#/"):
            return f"it refers to {reference} by name"
    return None


def _rebased(schema: JsonValue, draft: str) -> Any:
    """Return a copy without what its draft does not know, whose references lead into the place
    where `Side` keeps the root.
    """
    if not isinstance(schema, dict):
        return schema
    if draft in _OLDER and "$ref" in schema:  # those drafts look at nothing beside a reference
        apart = {
            keyword: schema[keyword] for keyword in ("definitions", "$defs") if keyword in schema
        }
        schema = {"$ref": schema["$ref"], **apart}
    unknown = {
        "$schema",
        "$id",
        *(_ONLY_2020 if draft != _NEWER[0] else ()),
        *(_SINCE_2019 if draft in _OLDER else ()),
    }
    made = {keyword: value for keyword, value in schema.items() if keyword not in unknown}
    if isinstance(made.get("$ref"), str):
        made["$ref"] = _ROOT + made["$ref"][1:]
    for keyword in (
        "properties",
        "patternProperties",
        "$defs",
        "definitions",
        "dependentSchemas",
        "dependencies",
    ):
        if isinstance(made.get(keyword), dict):
            made[keyword] = {name: _rebased(below, draft) for name, below in made[keyword].items()}
    for keyword in ("allOf", "anyOf", "oneOf", "prefixItems"):
        if isinstance(made.get(keyword), list):
            made[keyword] = [_rebased(below, draft) for below in made[keyword]]
    for keyword in (
        "not",
        "if",
        "then",
        "else",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "items",
        "additionalItems",
        "unevaluatedItems",
        "contains",
    ):
        if isinstance(made.get(keyword), dict):
            made[keyword] = _rebased(made[keyword], draft)
    return made


_CLOSING: Final = ("additionalProperties", "unevaluatedProperties")


def required_by(case: Case) -> set[str]:
    """Return the names that every object of a case has."""
    return {name for part in case.objects for name in part.get("required", ())}


def number(part: dict[str, Any], keyword: str) -> Fraction | None:
    """Return the exact number under a keyword, or None."""
    value = part.get(keyword)
    return (
        None
        if isinstance(value, bool) or not isinstance(value, (int, float))
        else Fraction(str(value))
    )


def lower_bounds(case: Case) -> list[tuple[Fraction, bool]]:
    """The lower bounds of a case's numbers, each with whether the bound itself is out."""
    found = _bounds(case, "minimum", "exclusiveMinimum")
    return (
        [(Fraction(floor(b) + 1 if out else ceil(b)), False) for b, out in found]
        if case.atoms == {"integer"}
        else found
    )


def upper_bounds(case: Case) -> list[tuple[Fraction, bool]]:
    """The upper bounds of a case's numbers, each with whether the bound itself is out."""
    found = _bounds(case, "maximum", "exclusiveMaximum")
    return (
        [(Fraction(ceil(b) - 1 if out else floor(b)), False) for b, out in found]
        if case.atoms == {"integer"}
        else found
    )


def _bounds(case: Case, inclusive: str, exclusive: str) -> list[tuple[Fraction, bool]]:
    found = [
        (bound, False) for part in case.objects if (bound := number(part, inclusive)) is not None
    ]
    return found + [
        (bound, True) for part in case.objects if (bound := number(part, exclusive)) is not None
    ]


def known_names(case: Case) -> set[str]:
    """Return every name that the case's parts name, in place too where they close its objects."""
    return {name for part in case.objects for name in part.get("properties", {})} | set(
        names_of(case) or ()
    )


def case_of_property(case: Case, name: str) -> Case:
    """Return the values that an object of the case may have under a name."""
    parts = [sub for part in case.objects for _, sub in schemas_of_property(part, name)]
    names = names_of(case)
    return Case(
        side=case.side, parts=(False,) if names is not None and name not in names else tuple(parts)
    )


def schemas_of_property(schema: dict[str, Any], name: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Return what one schema object asks of the property `name`, with the steps to each."""
    found = False
    if name in schema.get("properties", {}):
        found = True
        yield ("properties", name), schema["properties"][name]
    for pattern, sub in schema.get("patternProperties", {}).items():
        if _matches(pattern, name):
            found = True
            yield ("patternProperties", pattern), sub
    if not found and "additionalProperties" in schema:
        yield ("additionalProperties",), schema["additionalProperties"]


@cache
def _pattern(pattern: str) -> validator.Validator:
    return validator.Validator({"pattern": pattern})


def _matches(pattern: str, name: str) -> bool:
    return _pattern(pattern).is_valid(name)


def names_of(case: Case) -> frozenset[str] | None:
    """Return names that hold every name of the case's objects, where a part closes them; None where
    they are open.
    """
    found: frozenset[str] | None = None
    for part in case.objects:
        names: frozenset[str] | None = None
        if part.get("additionalProperties") is False and not part.get("patternProperties"):
            names = frozenset(part.get("properties", {}))
        elif part.get("unevaluatedProperties") is False:
            names = _evaluated(case.side, part, set())
        if names is not None:
            found = names if found is None else found & names
    return found


def _evaluated(side: Side, part: Any, seen: set[int]) -> frozenset[str] | None:
    """Return every name that some part in place could let past `unevaluatedProperties`; None where
    that is no list.
    """
    if not isinstance(part, dict) or id(part) in seen:
        return frozenset()
    seen.add(id(part))
    if part.get("patternProperties") or any(
        part.get(keyword, False) is not False for keyword in _CLOSING
    ):
        return None
    if "dependentSchemas" in part or "dependencies" in part:
        return None
    inner = [side.references.target(part["$ref"])] if "$ref" in part else []
    inner += [one for keyword in ("allOf", "anyOf", "oneOf") for one in part.get(keyword, ())]
    inner += [part[keyword] for keyword in ("if", "then", "else") if keyword in part]
    found = [_evaluated(side, one, seen) for one in inner]
    if any(names is None for names in found):
        return None
    return frozenset(part.get("properties", {})).union(
        *(names for names in found if names is not None)
    )


def case_of_item(case: Case, index: int) -> Case:
    """Return the values that an array of the case may have at an index."""
    return Case(side=case.side, parts=tuple(schema_of_item(part, index) for part in case.objects))


def schema_of_item(schema: dict[str, Any], index: int) -> Any:
    """Return what one schema object asks of the item at an index."""
    first = schema.get("prefixItems", [])
    return first[index] if index < len(first) else schema.get("items", True)
