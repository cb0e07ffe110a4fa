"""Where subschemas stand inside a JSON Schema, draft 4 to 2020-12, and how each is reached; pure,
and tolerant of nonsense.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from vespe.lazy import pattern

Steps: TypeAlias = tuple[str | int, ...]

_IN_PLACE_ONE: Final = ("not", "if", "then", "else")
_IN_PLACE_MANY: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE_NAMED: Final = ("dependentSchemas", "dependencies")
_CHILD_ONE: Final = (
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
)
_CHILD_MANY: Final = ("prefixItems", "items")
_CHILD_NAMED: Final = ("properties", "patternProperties")
_APART_NAMED: Final = ("$defs", "definitions")

IN_PLACE: Final = frozenset((*_IN_PLACE_ONE, *_IN_PLACE_MANY, *_IN_PLACE_NAMED))
"""Keywords whose subschemas judge the same value as the schema that they stand in."""
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")

_PERCENT: Final = pattern(rb"%([0-9A-Fa-f]{2})")

_ONE: Final = (*_IN_PLACE_ONE, *_CHILD_ONE)
_MANY: Final = (*_IN_PLACE_MANY, *_CHILD_MANY)
_NAMED: Final = (*_IN_PLACE_NAMED, *_CHILD_NAMED, *_APART_NAMED)
WITH_SUBSCHEMAS: Final = frozenset((*_ONE, *_MANY, *_NAMED))
"""Every keyword that subschemas stand in."""


def children(schema: Any) -> Iterator[tuple[Steps, Any]]:
    """Return each direct subschema of `schema` with the steps to it: (keyword,) or (keyword, name
    or index).
    """
    if not isinstance(schema, dict):
        return
    for keyword in _ONE:
        if isinstance(schema.get(keyword), (dict, bool)):
            yield (keyword,), schema[keyword]
    for keyword in _MANY:
        if isinstance(listed := schema.get(keyword), list):
            yield from (
                ((keyword, i), sub) for i, sub in enumerate(listed) if isinstance(sub, (dict, bool))
            )
    for keyword in _NAMED:
        if isinstance(named := schema.get(keyword), dict):
            yield from (
                ((keyword, name), sub)
                for name, sub in named.items()
                if isinstance(sub, (dict, bool))
            )


def walk(schema: Any, *, most: int) -> Iterator[tuple[Steps, Any, int, Any]]:
    """Return (steps, subschema, depth, resource) for `schema` and all below it, at most `most` of
    them.

    The depth counts subschemas from 1. The resource is the nearest schema above, itself included,
    that bears an `$id` of its own: references are relative to it.
    """
    waiting: list[tuple[Steps, Any, int, Any]] = [((), schema, 1, schema)]
    seen = 0
    while waiting and seen < most:
        steps, current, depth, resource = waiting.pop()
        seen += 1
        if isinstance(current, dict) and is_resource(current):
            resource = current
        yield steps, current, depth, resource
        below = [((*steps, *more), sub, depth + 1, resource) for more, sub in children(current)]
        waiting.extend(reversed(below))


def is_resource(schema: dict[str, Any]) -> bool:
    """Whether a schema bears an identity of its own, which the references below it are relative
    to.
    """
    identity = schema.get("$id")
    return isinstance(identity, str) and not identity.startswith("#")


def without_children(schema: Any) -> Any:
    """Return `schema` with each direct subschema replaced by the one that allows everything, to
    judge it alone.
    """
    if not isinstance(schema, dict):
        return schema
    alone = dict(schema)
    for steps, _ in children(schema):
        if len(steps) == 1:
            alone[str(steps[0])] = {}
            continue
        keyword, at = steps
        if alone[str(keyword)] is schema[str(keyword)]:
            alone[str(keyword)] = schema[str(keyword)].copy()
        alone[str(keyword)][at] = {}
    return alone


class References:
    """What the `#…` references of one schema stand for; anchors are gathered once a resource."""

    def __init__(self, root: Any, *, most: int = 1000) -> None:
        self._root = root
        self._most = most
        self._anchors: dict[int, dict[str, Any]] = {}

    def target(self, reference: Any, *, resource: Any = None) -> Any:
        """Return the subschema that a reference inside `resource` (the whole, unless said) names;
        None: no such place here.
        """
        if not isinstance(reference, str) or not reference.startswith("#"):
            return self._root if reference == "" else None
        within = self._root if resource is None else resource
        fragment = _PERCENT.sub(
            lambda m: bytes.fromhex(m[1].decode()), reference[1:].encode("utf-8", "replace")
        ).decode("utf-8", "replace")
        if fragment and not fragment.startswith("/"):
            return self._named(within).get(fragment)
        value = within
        for token in fragment.split("/")[1:]:
            value = _below(value, token.replace("~1", "/").replace("~0", "~"))
        return value if isinstance(value, (dict, bool)) else None

    def _named(self, resource: Any) -> dict[str, Any]:
        if id(resource) not in self._anchors:
            self._anchors[id(resource)] = dict(_anchors(resource, most=self._most))
        return self._anchors[id(resource)]


def _anchors(resource: Any, *, most: int) -> Iterator[tuple[str, Any]]:
    for _, schema, _, owner in walk(resource, most=most):
        if isinstance(schema, dict) and owner is resource:
            yield from (
                (schema[k], schema)
                for k in ("$anchor", "$dynamicAnchor")
                if isinstance(schema.get(k), str)
            )
            if isinstance(identity := schema.get("$id"), str) and identity.startswith("#"):
                yield identity[1:], schema


def _below(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token)
    if (
        isinstance(value, list)
        and len(token) < 10
        and token.isascii()
        and token.isdecimal()
        and int(token) < len(value)
    ):
        return value[int(token)]
    return None
