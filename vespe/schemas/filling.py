"""What a schema fills into a value: the defaults of properties that it lacks, found once for each
schema.
"""

import copy
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from vespe import defaults
from vespe.schemas.subschemas import References

_CONTAINERS: Final = (dict, list)
_SCALARS: Final = ("string", "integer", "number", "boolean", "null")


class Filling:
    """A schema's defaults at one place of a value, and the places below it.

    Of the members that it has `named`, all of them where it `is_closed`, only those `below` may
    hold others; `is_flat` says that no item of a list does. `items` is for those `after` so many.
    """

    __slots__ = ("after", "below", "defaults", "is_closed", "is_flat", "items", "named")

    def __init__(self) -> None:
        self.defaults: dict[str, Any] = {}
        self.below: dict[str, Filling] = {}
        self.items: Filling | None = None
        self.after = 0
        self.named: AbstractSet[str] = frozenset()
        self.is_closed = self.is_flat = False

    def fill(self, value: Any, levels: int = defaults.MAX_JSON_DEPTH) -> Any:
        """Return a copy of a value that the schema allows, with the defaults; raises ValueError
        where it is nested deeper than `levels`.
        """
        if levels <= 0:
            raise ValueError("nested too deep")
        if value.__class__ is not dict and isinstance(value, list):
            items = self.items or NOTHING
            if self.after:
                each = enumerate(value)
                return [
                    (items if n >= self.after else NOTHING).fill(one, levels - 1)
                    if isinstance(one, _CONTAINERS)
                    else one
                    for n, one in each
                ]
            return [
                items.fill(one, levels - 1) if isinstance(one, _CONTAINERS) else one
                for one in value
            ]
        made = {**value}
        if self.is_closed or made.keys() <= self.named:
            for name, filling in self.below.items():
                if (one := made.get(name)).__class__ is list and filling.is_flat:
                    made[name] = [*one]
                elif isinstance(one, _CONTAINERS):
                    made[name] = filling.fill(one, levels - 1)
        else:
            for name, one in value.items():
                if isinstance(one, _CONTAINERS):
                    made[name] = self.below.get(name, NOTHING).fill(one, levels - 1)
        for name, default in self.defaults.items():
            if name not in made:
                made[name] = copy.deepcopy(default) if isinstance(default, _CONTAINERS) else default
        return made


NOTHING = Filling()
"""Copies a value as it is."""


def filling_of(schema: Any, *, judged: bool = False) -> Filling:
    """Return what a schema fills in, into any value, or only into such as it was `judged` to allow:
    then it says what can hold others.

    Defaults are found in `properties`, through local `$ref` and `allOf`. A default is taken as it
    stands: nothing is filled into it.
    """
    if not isinstance(schema, dict) or not (judged or _says(schema, "default")):
        return NOTHING
    # Where references may lead elsewhere than `References` says, or what stands beside one does not
    # count, nothing is sure.
    is_sure = judged and (
        not _says(schema, "$ref")
        or not (_says(schema, "$id") or "draft-0" in str(schema.get("$schema")))
    )
    return _found([schema], References(schema), {}, is_sure=is_sure)


def _found(
    schemas: list[Any],
    references: References,
    known: dict[tuple[int, ...], Filling],
    *,
    is_sure: bool,
) -> Filling:
    applying = list(_applying(schemas, references))
    key = tuple(map(id, applying))
    if key in known:
        return known[key]
    made = known[key] = Filling()
    below: dict[str, list[Any]] = {}
    for sub in applying:
        properties = sub.get("properties")
        for name, one in properties.items() if isinstance(properties, dict) else ():
            below.setdefault(name, []).append(one)
    made.named = frozenset(below if is_sure else ())
    made.is_closed = is_sure and any(
        sub.get("additionalProperties") is False and "patternProperties" not in sub
        for sub in applying
    )
    for name, ones in below.items():
        if not is_sure or not _is_scalar(ones, references):
            made.below[name] = _found(ones, references, known, is_sure=is_sure)
        said = [sub["default"] for sub in _applying(ones[:1], references) if "default" in sub] or [
            sub["default"] for sub in _applying(ones, references) if "default" in sub
        ]
        if said:
            made.defaults[name] = said[-1]
    if items := [sub["items"] for sub in applying if isinstance(sub.get("items"), dict)]:
        made.items = _found(items, references, known, is_sure=is_sure)
        # The schemas of the first items are not known here: those are copied as they are.
        made.after = max(
            len(first) if isinstance(first := sub.get("prefixItems"), list) else 0
            for sub in applying
        )
        made.is_flat = is_sure and not made.after and _is_scalar(items, references)
    return made


def _is_scalar(schemas: list[Any], references: References) -> bool:
    """Whether schemas that apply together allow no object and no list."""
    for sub in _applying(schemas, references):
        kinds = sub.get("type", "any")
        if all(kind in _SCALARS for kind in ([kinds] if isinstance(kinds, str) else kinds)):
            return True
        if ("enum" in sub or "const" in sub) and not any(
            isinstance(one, _CONTAINERS) for one in sub.get("enum", [sub.get("const")])
        ):
            return True
    return False


def _applying(schemas: list[Any], references: References) -> Iterator[dict[str, Any]]:
    """Return schemas and what always applies with them, through `$ref` and `allOf`, each once."""
    waiting, seen = list(schemas), set[int]()
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, dict) and id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting += [references.target(current.get("$ref")), *(current.get("allOf") or ())]


def _says(value: Any, word: str) -> bool:
    """Whether the word stands as a key anywhere."""
    if isinstance(value, dict):
        return word in value or any(_says(one, word) for one in value.values())
    return isinstance(value, list) and any(_says(one, word) for one in value)
