"""What a case's schemas say of the numbers, the names, the properties and the items of its values; pure."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import Any, Final

from vespe.schemas import validator
from vespe.schemas.comparison.cases import Case, Side

_CLOSING: Final = ("additionalProperties", "unevaluatedProperties")


def required_by(case: Case) -> set[str]:
    """Give the names that every object of a case has."""
    return {name for part in case.objects for name in part.get("required", ())}


def number(part: dict[str, Any], keyword: str) -> Fraction | None:
    """Give the exact number under a keyword, or None."""
    value = part.get(keyword)
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else Fraction(str(value))


def lower_bounds(case: Case) -> list[tuple[Fraction, bool]]:
    """The lower bounds of a case's numbers, each with whether the bound itself is out."""
    found = _bounds(case, "minimum", "exclusiveMinimum")
    return [(Fraction(floor(b) + 1 if out else ceil(b)), False) for b, out in found] if case.atoms == {"integer"} else found


def upper_bounds(case: Case) -> list[tuple[Fraction, bool]]:
    """The upper bounds of a case's numbers, each with whether the bound itself is out."""
    found = _bounds(case, "maximum", "exclusiveMaximum")
    return [(Fraction(ceil(b) - 1 if out else floor(b)), False) for b, out in found] if case.atoms == {"integer"} else found


def _bounds(case: Case, inclusive: str, exclusive: str) -> list[tuple[Fraction, bool]]:
    found = [(bound, False) for part in case.objects if (bound := number(part, inclusive)) is not None]
    return found + [(bound, True) for part in case.objects if (bound := number(part, exclusive)) is not None]


def known_names(case: Case) -> set[str]:
    """Give every name that the case's parts name, in place too where they close its objects."""
    return {name for part in case.objects for name in part.get("properties", {})} | set(names_of(case) or ())


def case_of_property(case: Case, name: str) -> Case:
    """Give the values that an object of the case may have under a name."""
    parts = [sub for part in case.objects for _, sub in schemas_of_property(part, name)]
    names = names_of(case)
    return Case(side=case.side, parts=(False,) if names is not None and name not in names else tuple(parts))


def schemas_of_property(schema: dict[str, Any], name: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give what one schema object asks of the property `name`, with the steps to each."""
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
    """Give names that hold every name of the case's objects, where a part closes them; None where they are open."""
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
    """Give every name that some part in place could let past `unevaluatedProperties`; None where that is no list."""
    if not isinstance(part, dict) or id(part) in seen:
        return frozenset()
    seen.add(id(part))
    if part.get("patternProperties") or any(part.get(keyword, False) is not False for keyword in _CLOSING):
        return None
    if "dependentSchemas" in part or "dependencies" in part:
        return None
    inner = [side.references.target(part["$ref"])] if "$ref" in part else []
    inner += [one for keyword in ("allOf", "anyOf", "oneOf") for one in part.get(keyword, ())]
    inner += [part[keyword] for keyword in ("if", "then", "else") if keyword in part]
    found = [_evaluated(side, one, seen) for one in inner]
    if any(names is None for names in found):
        return None
    return frozenset(part.get("properties", {})).union(*(names for names in found if names is not None))


def case_of_item(case: Case, index: int) -> Case:
    """Give the values that an array of the case may have at an index."""
    return Case(side=case.side, parts=tuple(schema_of_item(part, index) for part in case.objects))


def schema_of_item(schema: dict[str, Any], index: int) -> Any:
    """Give what one schema object asks of the item at an index."""
    first = schema.get("prefixItems", [])
    return first[index] if index < len(first) else schema.get("items", True)
