"""How often a schema can make a validator judge one value: references that double at each step are
found before they run.

A validator that follows references takes time in proportion to the subschemas that meet at one
place of a value, each as often as it is reached. Twenty-five definitions that each name the next
one twice are reached 2^25 times. The count is made here by walking all places that a value can have
(names, indexes) and what applies there, not by trying values.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from vespe.schemas.subschemas import IN_PLACE, REFERENCES, References, children, is_resource, walk

_STEPS: Final = 60_000
"""How much counting is done before a schema is called too entangled."""
_BUNDLED_DRAFT: Final = 50
_ANY: Final = None

Label: TypeAlias = tuple[str, str | int | None]


def peak(schema: Any, *, limit: int) -> int:
    """Return the most judgements that one place of a value can cost, or `limit + 1` where it is
    more or cannot be told.

    Each subschema that applies counts one, and one for each name in its `required`.
    """
    graph = _Graph(schema, limit)
    start = graph.applying(Counter({id(schema): 1}))
    waiting, seen, most = [start], {_key(start)}, 0
    while waiting:
        here = waiting.pop()
        most = max(most, graph.cost(here))
        if most > limit or graph.steps > _STEPS:
            return limit + 1
        for label in graph.labels(here):
            below = graph.applying(graph.step(here, label))
            if below and _key(below) not in seen:
                seen.add(_key(below))
                waiting.append(below)
    return most


def _key(counts: Counter[int]) -> frozenset[tuple[int, int]]:
    return frozenset(counts.items())


class _Graph:
    """The subschemas of one schema by identity, and what each leads to."""

    def __init__(self, schema: Any, limit: int) -> None:
        self.steps = 0
        self._limit = limit
        self._nodes: dict[int, Any] = {}
        self._in_place: dict[int, list[int]] = {}
        self._extra: dict[int, int] = {}
        subs = list(walk(schema, most=2 * limit))
        self._references = References(schema, most=2 * limit)
        self._resources = [
            sub for _, sub, _, _ in subs if isinstance(sub, dict) and is_resource(sub)
        ]
        self._dynamic = [
            sub for _, sub, _, _ in subs if isinstance(sub, dict) and "$dynamicAnchor" in sub
        ]
        for _, sub, _, resource in subs:
            if isinstance(sub, dict):
                self._nodes[id(sub)] = sub
                targets = list(self._targets(sub, resource))
                self._in_place[id(sub)] = [
                    id(inner) for steps, inner in children(sub) if steps[0] in IN_PLACE
                ] + [id(t) for t in targets]
                self._extra[id(sub)] = _own_cost(sub)

    def _targets(self, schema: dict[str, Any], resource: Any) -> Iterator[Any]:
        for keyword in REFERENCES:
            reference = schema.get(keyword)
            if not isinstance(reference, str):
                continue
            base, _, fragment = reference.partition("#")
            within = self._named(base) if base else [resource]
            found = [self._references.target(f"#{fragment}", resource=one) for one in within]
            found = [target for target in found if target is not None]
            if keyword == "$dynamicRef" and any(_is_dynamic(target, fragment) for target in found):
                found = self._outermost(fragment)
            yield from found

    def _outermost(self, name: str) -> list[Any]:
        """Return what a dynamic reference stands for: the root's own anchor, since all begins
        there, else any of that name.
        """
        own = self._references.target(f"#{name}")
        return (
            [own]
            if _is_dynamic(own, name)
            else [sub for sub in self._dynamic if _is_dynamic(sub, name)]
        )

    def _named(self, address: str) -> list[Any]:
        last = address.rpartition("/")[2]
        return [
            sub
            for sub in self._resources
            if sub["$id"].removesuffix("#").rpartition("/")[2] == last
        ]

    def applying(self, counts: Counter[int]) -> Counter[int]:
        """Return everything that applies to a value where `counts` do, each as often as it is
        reached.
        """
        total: Counter[int] = Counter()
        while counts:
            total.update(counts)
            if total.total() > self._limit:
                break
            following: Counter[int] = Counter()
            for node, times in counts.items():
                for inner in self._in_place.get(node, ()):
                    following[inner] += times
                    self.steps += 1
            counts = following
        return total

    def cost(self, counts: Counter[int]) -> int:
        return sum(times * self._extra.get(node, 1) for node, times in counts.items())

    def labels(self, counts: Counter[int]) -> set[Label]:
        """Return the kinds of places below a value that the schemas applying to it tell apart."""
        found: set[Label] = {("name", _ANY), ("item", _ANY), ("key", _ANY)}
        for node in counts:
            schema = self._nodes.get(node, {})
            for keyword, kind in (
                ("properties", "name"),
                ("prefixItems", "item"),
                ("items", "item"),
            ):
                value = schema.get(keyword)
                if isinstance(value, dict) and keyword == "properties":
                    found.update((kind, name) for name in value)
                elif isinstance(value, list):
                    found.update((kind, index) for index in range(len(value)))
        self.steps += len(found)
        return found

    def step(self, counts: Counter[int], label: Label) -> Counter[int]:
        """Return what applies below a value at `label`, before anything that this leads to in
        place.
        """
        found: Counter[int] = Counter()
        for node, times in counts.items():
            for schema in _below(self._nodes.get(node, {}), label):
                found[id(schema)] += times
            self.steps += 1
        return found


def _is_dynamic(schema: Any, name: str) -> bool:
    return isinstance(schema, dict) and schema.get("$dynamicAnchor") == name


def _own_cost(schema: dict[str, Any]) -> int:
    required = schema.get("required")
    drafts = (
        _BUNDLED_DRAFT
        if any("json-schema.org" in str(schema.get(k, "")) for k in ("$ref", "$dynamicRef"))
        else 0
    )
    return 1 + drafts + (len(required) if isinstance(required, list) else 0)


def _below(schema: dict[str, Any], label: Label) -> Iterator[Any]:
    kind, at = label
    if kind == "key":
        return (sub for sub in [schema.get("propertyNames")] if isinstance(sub, dict))
    return _named_below(schema, at) if kind == "name" else _items_below(schema, at)


def _named_below(schema: dict[str, Any], name: str | int | None) -> Iterator[Any]:
    properties, patterns = schema.get("properties"), schema.get("patternProperties")
    known = isinstance(properties, dict) and name in properties
    if isinstance(properties, dict) and known:
        yield properties[name]
    if isinstance(patterns, dict):
        yield from patterns.values()
    if not known:
        yield from (
            schema[k]
            for k in ("additionalProperties", "unevaluatedProperties")
            if isinstance(schema.get(k), dict)
        )


def _items_below(schema: dict[str, Any], index: str | int | None) -> Iterator[Any]:
    listed = schema.get("prefixItems", schema.get("items"))
    if isinstance(listed, list) and isinstance(index, int) and index < len(listed):
        yield listed[index]
    else:
        yield from (
            schema[k] for k in ("items", "additionalItems") if isinstance(schema.get(k), dict)
        )
    yield from (
        schema[k] for k in ("contains", "unevaluatedItems") if isinstance(schema.get(k), dict)
    )
