"""What a schema fills into a value: the defaults of properties that it lacks, found once for each schema."""

import copy
from collections.abc import Iterator
from typing import Any, Final

from vespe.schemas.subschemas import References

_CONTAINERS: Final = (dict, list)


class Filling:
    """A schema's defaults at one place of a value, and the places below that have any of their own."""

    __slots__ = ("below", "defaults", "items")

    def __init__(self) -> None:
        self.defaults: dict[str, Any] = {}
        self.below: dict[str, Filling] = {}
        self.items: Filling | None = None

    def fill(self, value: Any, levels: int) -> Any:
        """Return a copy of a value with the defaults; raises ValueError where it is nested deeper than `levels`."""
        if levels <= 0:
            raise ValueError("nested too deep")
        if isinstance(value, list):
            items = self.items or NOTHING
            return [items.fill(one, levels - 1) if isinstance(one, _CONTAINERS) else one for one in value]
        made = dict(value)
        for name, one in value.items():
            if isinstance(one, _CONTAINERS):
                made[name] = self.below.get(name, NOTHING).fill(one, levels - 1)
        for name, default in self.defaults.items():
            if name not in made:
                made[name] = copy.deepcopy(default) if isinstance(default, _CONTAINERS) else default
        return made


NOTHING = Filling()
"""Copies a value as it is."""


def filling_of(schema: Any) -> Filling:
    """Return what a schema fills in.

    Defaults are found in `properties`, through local `$ref` and `allOf`. A default is taken as it stands: nothing is filled into it.
    """
    return _found([schema], References(schema), {}) if _says_default(schema) else NOTHING


def _found(schemas: list[Any], references: References, known: dict[tuple[int, ...], Filling]) -> Filling:
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
    for name, ones in below.items():
        made.below[name] = _found(ones, references, known)
        said = [sub["default"] for sub in _applying(ones[:1], references) if "default" in sub] or [
            sub["default"] for sub in _applying(ones, references) if "default" in sub
        ]
        if said:
            made.defaults[name] = said[-1]
    if items := [sub["items"] for sub in applying if isinstance(sub.get("items"), dict)]:
        made.items = _found(items, references, known)
    return made


def _applying(schemas: list[Any], references: References) -> Iterator[dict[str, Any]]:
    """Return schemas and what always applies with them, through `$ref` and `allOf`, each once."""
    waiting, seen = list(schemas), set[int]()
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, dict) and id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting += [references.target(current.get("$ref")), *(current.get("allOf") or ())]


def _says_default(value: Any) -> bool:
    """Whether the word stands as a key anywhere: then there may be something to fill in."""
    if isinstance(value, dict):
        return "default" in value or any(map(_says_default, value.values()))
    return isinstance(value, list) and any(map(_says_default, value))
