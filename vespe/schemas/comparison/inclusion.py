"""Whether every value that one schema allows is allowed by another: proved part by part, or nothing
is claimed; pure.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from vespe import defaults
from vespe.schemas.comparison.cases import (
    NEIGHBOURLY,
    Case,
    Side,
    atoms_of,
    case_of_item,
    case_of_property,
    known_names,
    lower_bounds,
    names_of,
    number,
    required_by,
    schema_of_item,
    schemas_of_property,
    upper_bounds,
)
from vespe.schemas.subschemas import walk

_MOST_STEPS: Final = 20_000
"""Past this many judgements nothing is claimed: what splits into cases can multiply."""
_SILENT: Final = frozenset(
    (
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "format",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "$defs",
        "definitions",
        "$schema",
        "$id",
    )
)
_OBJECT: Final = ("properties", "patternProperties", "additionalProperties")
_ARRAY: Final = ("prefixItems", "items")
_CONTAINS: Final = ("contains", "minContains", "maxContains")
_CONDITION: Final = ("if", "then", "else")
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    **{
        keyword: (keyword,)
        for keyword in (
            "type",
            "enum",
            "const",
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "required",
            "minProperties",
            "maxProperties",
            "propertyNames",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
            "unevaluatedProperties",
            "unevaluatedItems",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "pattern",
            "minItems",
            "maxItems",
            "uniqueItems",
            "additionalItems",
        )
    },
    **dict.fromkeys(_OBJECT, _OBJECT),
    **dict.fromkeys(_ARRAY, _ARRAY),
    **dict.fromkeys(_CONTAINS, _CONTAINS),
    **dict.fromkeys(_CONDITION, _CONDITION),
}
"""The keywords that assert something, each with those that it is read together with."""
KIND_OF: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        (
            *_OBJECT,
            "required",
            "minProperties",
            "maxProperties",
            "propertyNames",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedProperties",
        ),
        frozenset(("object",)),
    ),
    **dict.fromkeys(
        (
            *_ARRAY,
            *_CONTAINS,
            "minItems",
            "maxItems",
            "uniqueItems",
            "unevaluatedItems",
            "additionalItems",
        ),
        frozenset(("array",)),
    ),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), frozenset(("string",))),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        frozenset(("integer", "fraction")),
    ),
}
"""The kinds of values that a keyword says anything of; one that is not here speaks of all."""


_DEEPEST: Final = 60
_NAME_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies")
_VALUES: Final = ("enum", "const", "required", "dependentRequired", "type")


class TooManySteps(Exception):
    """The question splits into more cases than are worth their time."""


@dataclass(slots=True)
class _Proof:
    """A question under way: the other side, the steps left, and what is assumed of pairs met higher
    up in the value.
    """

    side: Side
    steps: int = _MOST_STEPS
    level: int = 0
    assumed: dict[tuple[Any, ...], int] = field(default_factory=dict)


class Inclusion:
    """Proves that values of cases of one side are allowed by schemas of the other side, which is
    `side`.
    """

    def __init__(self, side: Side) -> None:
        self._proof = _Proof(side)

    def holds(self, case: Case, schema: Any) -> bool:
        """Whether all of the case is proved to be allowed by a schema of the other side; raises
        TooManySteps.
        """
        proof = self._proof
        proof.steps -= 1
        if proof.steps < 0 or len(proof.assumed) > _DEEPEST:
            raise TooManySteps
        if (
            schema is True
            or schema == {}
            or any(self._same(case.side, part, schema) for part in case.parts)
        ):
            return True
        key = (*map(id, case.parts), case.atoms, id(schema))
        if key in proof.assumed:
            return proof.assumed[key] < proof.level
        proof.assumed[key] = proof.level
        try:
            return self._holds(case.spread(), schema)
        finally:
            del proof.assumed[key]

    def _same(self, side: Side, part: Any, schema: Any) -> bool:
        if not isinstance(part, dict) or not isinstance(schema, dict) or not equal(part, schema):
            return False
        return "'$ref'" not in repr(schema) or _alike(side, self._proof.side)

    def _holds(self, case: Case, schema: Any) -> bool:
        if not case.atoms or False in case.parts:
            return True
        if schema is False:
            return case.finite() == []
        if (values := case.finite()) is not None:
            return all(self._proof.side.allows((schema,), value) is True for value in values)
        return all(self.group_holds(case, schema, group) for group in groups_of(schema))

    def group_holds(self, case: Case, schema: dict[str, Any], group: tuple[str, ...]) -> bool:
        """Whether all of the case, which is spread, is proved to be allowed by one group of a
        schema's keywords.
        """
        about = KIND_OF.get(group[0])
        if about is not None:
            case = replace(case, atoms=case.atoms & about)
            if not case.atoms:
                return True
        rule = _RULES.get(group[0])
        if rule is not None and rule(self, case, schema):
            return True
        if any(_same_group(part, schema, group) for part in case.objects) and _same_roots(
            case.side, self._proof.side, schema, group
        ):
            return True
        return self._by_cases(case, schema, group)

    def _by_cases(self, case: Case, schema: dict[str, Any], group: tuple[str, ...]) -> bool:
        """Take the branches of an `anyOf` or `oneOf` of the case one by one, else the kinds of
        values one by one.
        """
        alone = self.side.only(schema, group)
        for index, part in enumerate(case.parts):
            for keyword in ("anyOf", "oneOf"):
                if isinstance(part, dict) and keyword in part:
                    rest = case.side.without(part, keyword, "$ref", "allOf", *NEIGHBOURLY)
                    others = (*case.parts[:index], rest, *case.parts[index + 1 :])
                    return all(
                        self.holds(replace(case, parts=(*others, branch)), alone)
                        for branch in part[keyword]
                    )
        if group[0] in ("anyOf", "oneOf") and len(case.atoms) > 1:
            return all(
                self.holds(replace(case, atoms=frozenset((atom,))), alone)
                for atom in sorted(case.atoms)
            )
        return False

    def below(self, case: Case, schema: Any) -> bool:
        """As `holds`, for a part of the value: what is assumed higher up may be used here."""
        self._proof.level += 1
        try:
            return self.holds(case, schema)
        finally:
            self._proof.level -= 1

    @property
    def side(self) -> Side:
        """The side that has to allow what the other allows."""
        return self._proof.side


def groups_of(schema: Any) -> Iterator[tuple[str, ...]]:
    """Return the groups of asserting keywords that a schema has, each once."""
    found = (
        dict.fromkeys(GROUPS[keyword] for keyword in schema if keyword in GROUPS)
        if isinstance(schema, dict)
        else {}
    )
    yield from found


def _same_group(part: dict[str, Any], schema: dict[str, Any], group: tuple[str, ...]) -> bool:
    return (
        all(
            _equal_keyword(keyword, part.get(keyword, _ABSENT), schema.get(keyword, _ABSENT))
            for keyword in group
        )
        and group[0] not in NEIGHBOURLY
    )


_ABSENT: Final = object()


def equal(left: Any, right: Any) -> bool:
    """Whether two subschemas say the same, what is only said to people left out; `true` is not
    1.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        names = (left.keys() | right.keys()) - _SILENT
        return all(
            _equal_keyword(name, left.get(name, _ABSENT), right.get(name, _ABSENT))
            for name in names
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return type(left) is type(right) and bool(left == right)


def _equal_keyword(keyword: str, left: Any, right: Any) -> bool:
    if keyword in _VALUES:
        return repr(left) == repr(right)
    if keyword in _NAME_MAPS and isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[name], right[name]) for name in left)
    return equal(left, right)


def _same_roots(left: Side, right: Side, schema: dict[str, Any], group: tuple[str, ...]) -> bool:
    """Whether references inside a group of keywords lead to the same on both sides: none are there,
    or the roots are alike.
    """
    text = repr([schema.get(keyword) for keyword in group])
    return "'$ref'" not in text or _alike(left, right)


def _alike(left: Side, right: Side) -> bool:
    """Whether the same reference leads to the same in both roots: `equal` takes no notice of
    definitions, so they are compared too.
    """
    return equal(left.root, right.root) and _definitions(left) == _definitions(right)


def _definitions(side: Side) -> str:
    parts = (
        part
        for _, part, _, _ in walk(side.root, most=defaults.MAX_SUBSCHEMAS + 1)
        if isinstance(part, dict)
    )
    return repr([(part.get("$defs"), part.get("definitions")) for part in parts])


def _type(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    return case.atoms <= atoms_of(schema)


def _required(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    return set(schema["required"]) <= required_by(case)


def _reference(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    target = proof.side.references.target(schema["$ref"])
    return target is not None and proof.holds(case, target)


def _all(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    return all(proof.holds(case, part) for part in schema["allOf"])


def _any(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    return any(proof.holds(case, part) for part in schema["anyOf"])


def _one(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    """One branch allows the case, and the kinds that the others allow are none of the case's."""
    branches = schema["oneOf"]
    for index, branch in enumerate(branches):
        others = [*branches[:index], *branches[index + 1 :]]
        if all(_apart(proof.side, other, case) for other in others) and proof.holds(case, branch):
            return True
    return False


def _apart(side: Side, schema: Any, case: Case) -> bool:
    opened = Case(side=side, parts=(schema,)).spread()
    return not opened.atoms & case.atoms


def _not(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    return _apart(proof.side, schema["not"], case)


def _minimum(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    wanted = Fraction(str(schema["minimum"]))
    return any(bound >= wanted for bound, _ in lower_bounds(case))


def _exclusive_minimum(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    wanted = Fraction(str(schema["exclusiveMinimum"]))
    return any(bound > wanted or (bound == wanted and out) for bound, out in lower_bounds(case))


def _maximum(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    wanted = Fraction(str(schema["maximum"]))
    return any(bound <= wanted for bound, _ in upper_bounds(case))


def _exclusive_maximum(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    wanted = Fraction(str(schema["exclusiveMaximum"]))
    return any(bound < wanted or (bound == wanted and out) for bound, out in upper_bounds(case))


def _multiple(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    wanted = Fraction(str(schema["multipleOf"]))
    known = [step for part in case.objects if (step := number(part, "multipleOf")) is not None]
    known += [Fraction(1)] if case.atoms == {"integer"} else []
    return any((step / wanted).denominator == 1 for step in known)


def _at_least(keyword: str) -> Callable[[Inclusion, Case, dict[str, Any]], bool]:
    def rule(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
        least = len(required_by(case)) if keyword == "minProperties" else 0
        return any(
            bound >= schema[keyword]
            for bound in (least, *(part.get(keyword, 0) for part in case.objects))
        )

    return rule


def _at_most(keyword: str) -> Callable[[Inclusion, Case, dict[str, Any]], bool]:
    def rule(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
        return any(keyword in part and part[keyword] <= schema[keyword] for part in case.objects)

    return rule


def _unique(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    return schema["uniqueItems"] is False or any(
        part.get("maxItems", 2) <= 1 for part in case.objects
    )


def _properties(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    wanted = schema.get("properties", {})
    for name in sorted(known_names(case) | set(wanted)):
        allowed = case_of_property(case, name)
        if not all(proof.below(allowed, sub) for _, sub in schemas_of_property(schema, name)):
            return False
    return all(
        _others_hold(proof, case, keyword_steps, sub)
        for keyword_steps, sub in _for_any_name(schema)
    )


def _for_any_name(schema: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
    """What a schema asks of properties that it does not name: of those that match a pattern, and
    (None) of those that match none.
    """
    yield from schema.get("patternProperties", {}).items()
    if "additionalProperties" in schema:
        yield None, schema["additionalProperties"]


def _others_hold(proof: Inclusion, case: Case, pattern: str | None, wanted: Any) -> bool:
    """Whether one part of the case gives every name that is not named what is wanted of those of a
    pattern.
    """
    if wanted is True or wanted == {}:
        return True
    for part in case.objects:
        classes: Mapping[str | None, Any] = {
            None: part.get("additionalProperties", True),
            **part.get("patternProperties", {}),
        }
        concerned = [pattern] if pattern in classes and pattern is not None else list(classes)
        if all(
            proof.below(Case(side=case.side, parts=(classes[one],)), wanted) for one in concerned
        ):
            return True
    names = names_of(case)
    # every name that the case allows is a named one, and those have been looked at
    return names is not None


def _unevaluated(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    """Every name of the case is one that a part which always applies lets past."""
    names = names_of(case)
    if schema["unevaluatedProperties"] is True or names is None:
        return schema["unevaluatedProperties"] is True
    always = Case(side=proof.side, parts=(schema,)).spread()
    return names <= {name for part in always.objects for name in part.get("properties", {})}


def _property_names(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    names = names_of(case)
    if names is not None:
        return all(proof.side.allows((schema["propertyNames"],), name) is True for name in names)
    texts = frozenset(("string",))
    parts = tuple(part["propertyNames"] for part in case.objects if "propertyNames" in part)
    return proof.below(Case(side=case.side, parts=parts, atoms=texts), schema["propertyNames"])


def _items(proof: Inclusion, case: Case, schema: dict[str, Any]) -> bool:
    longest = max((len(part.get("prefixItems", ())) for part in (*case.objects, schema)), default=0)
    most = min(
        (part["maxItems"] for part in case.objects if "maxItems" in part), default=longest + 1
    )
    return all(
        proof.below(case_of_item(case, at), schema_of_item(schema, at))
        for at in range(min(longest + 1, int(most)))
    )


_RULES: Final[dict[str, Callable[[Inclusion, Case, dict[str, Any]], bool]]] = {
    "type": _type,
    "required": _required,
    "$ref": _reference,
    "allOf": _all,
    "anyOf": _any,
    "oneOf": _one,
    "not": _not,
    "minimum": _minimum,
    "exclusiveMinimum": _exclusive_minimum,
    "maximum": _maximum,
    "exclusiveMaximum": _exclusive_maximum,
    "multipleOf": _multiple,
    "minLength": _at_least("minLength"),
    "minItems": _at_least("minItems"),
    "minProperties": _at_least("minProperties"),
    "maxLength": _at_most("maxLength"),
    "maxItems": _at_most("maxItems"),
    "maxProperties": _at_most("maxProperties"),
    "uniqueItems": _unique,
    "properties": _properties,
    "prefixItems": _items,
    "unevaluatedProperties": _unevaluated,
    "propertyNames": _property_names,
}
