"""What keeps one schema from allowing all that another allows: each place, and a value that shows
it where one is found.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from vespe.documents.near import join_words
from vespe.documents.pointers import steps_of
from vespe.models import JsonValue
from vespe.records import dataclass
from vespe.schemas.comparison.cases import (
    Case,
    Side,
    case_of_item,
    case_of_property,
    known_names,
    required_by,
    schema_of_item,
    schemas_of_property,
)
from vespe.schemas.comparison.inclusion import Inclusion, TooManySteps, groups_of
from vespe.schemas.comparison.samples import samples
from vespe.schemas.explain import short
from vespe.schemas.subschemas import References

_ROOT: Final = len(("$defs", "root"))
_BASES: Final = 12
_WHOLE: Final = ("unevaluatedProperties", "unevaluatedItems")
NOTHING: Final = object()
"""Stands where no value was found that shows a difference."""

Lift: TypeAlias = Callable[[JsonValue], Any]
"""From a value of a part to a whole value that shows the same, or NOTHING."""
Steps: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One place of the narrower schema that may refuse what the wider one allows.

    `steps` lead into the narrower schema, or with `gone` into the wider one, whose part the
    narrower one lacks. `witness` is a value that the wider one was seen to allow and the narrower
    one to refuse; NOTHING where none was found. `unknown` is the property that the narrower schema
    does not have, if that is the whole gap.
    """

    steps: Steps
    message: str
    witness: Any
    gone: bool = False
    unknown: str = ""


def gaps(wider: JsonValue, narrower: JsonValue) -> list[Gap]:
    """Return every place where not all that `wider` allows is proved to be allowed by `narrower`;
    `[]` is a proof of all.

    Both are schemas that `schemas.check_schema` finds nothing wrong with. A gap with a witness is a
    fact, one without is a doubt.
    """
    left, right = Side(wider), Side(narrower)
    problem = left.problem or right.problem
    if problem is not None:
        return (
            []
            if repr(wider) == repr(narrower)
            else [Gap(steps=(), message=f"cannot be compared: {problem}", witness=NOTHING)]
        )
    try:
        return _distinct(_Search(left, right).gaps())
    except TooManySteps:
        return [
            Gap(
                steps=(),
                message="cannot be compared: it branches into too many cases",
                witness=NOTHING,
            )
        ]


def _distinct(found: Iterator[Gap]) -> list[Gap]:
    kept: dict[tuple[Steps, str], Gap] = {}
    for gap in found:
        kept.setdefault((gap.steps, gap.message), gap)
    return list(kept.values())


class _Search:
    def __init__(self, wider: Side, narrower: Side) -> None:
        self._wider, self._narrower = wider, narrower
        self._proof = Inclusion(narrower)
        self._above: set[tuple[int, ...]] = set()

    def gaps(self) -> Iterator[Gap]:
        yield from self._in(
            Case(side=self._wider, parts=(self._wider.root,)), self._narrower.root, (), self._whole
        )

    def _whole(self, value: JsonValue) -> Any:
        judged = (
            self._wider.allows((self._wider.root,), value),
            self._narrower.allows((self._narrower.root,), value),
        )
        return value if judged == (True, False) else NOTHING

    def _in(self, case: Case, schema: Any, steps: Steps, lift: Lift) -> Iterator[Gap]:
        case = case.spread()
        key = (*map(id, case.parts), id(schema))
        if key in self._above or self._proof.holds(case, schema):
            return
        self._above.add(key)
        if schema is False:
            yield Gap(
                steps=steps,
                message="is not allowed",
                witness=self._witness(case, False, lift),
                gone=False,
            )
        elif (values := case.finite()) is not None:
            yield from self._listed(values, schema, steps, lift)
        else:
            for group in groups_of(schema):
                if not self._proof.group_holds(case, schema, group):
                    yield from _DESCENTS.get(group[0], _Search._at)(
                        self, case, schema, steps, lift, group
                    )
        self._above.discard(key)

    def _listed(self, values: list[Any], schema: Any, steps: Steps, lift: Lift) -> Iterator[Gap]:
        for group in groups_of(schema):
            alone = schema if group[0] in _WHOLE else self._narrower.only(schema, group)
            lost = [value for value in values if self._narrower.allows((alone,), value) is not True]
            if lost:
                keyword = next(keyword for keyword in group if keyword in schema)
                said = join_words(map(short, lost), most=5)
                yield Gap(
                    steps=(*steps, keyword),
                    message=f"{said} is not allowed by `{keyword}`",
                    witness=_first(map(lift, lost)),
                )

    def _at(
        self, case: Case, schema: Any, steps: Steps, lift: Lift, group: tuple[str, ...]
    ) -> Iterator[Gap]:
        alone = schema if group[0] in _WHOLE else self._narrower.only(schema, group)
        keyword = next(keyword for keyword in group if keyword in schema)
        yield Gap(
            steps=(*steps, keyword),
            message=_told(case, schema, keyword),
            witness=self._witness(case, alone, lift),
        )

    def _witness(self, case: Case, schema: Any, lift: Lift) -> Any:
        for value in self._samples(case, schema):
            if (
                case.allows(value)
                and self._narrower.allows((schema,), value) is False
                and (whole := lift(value)) is not NOTHING
            ):
                return whole
        return NOTHING

    def _samples(self, case: Case, schema: Any) -> list[Any]:
        own = [(part, case.side.references) for part in case.parts]
        return samples(own, [(schema, self._narrower.references)], fits=self._fits)

    def _fits(self, schema: Any, references: References, value: JsonValue) -> bool:
        side = self._wider if references is self._wider.references else self._narrower
        return side.allows((schema,), value) is True

    def _reference(
        self, case: Case, schema: Any, steps: Steps, lift: Lift, group: tuple[str, ...]
    ) -> Iterator[Gap]:
        target = self._narrower.references.target(schema["$ref"])
        yield from self._in(case, target, steps_of(schema["$ref"][1:])[_ROOT:], lift)

    def _all(
        self, case: Case, schema: Any, steps: Steps, lift: Lift, group: tuple[str, ...]
    ) -> Iterator[Gap]:
        for index, part in enumerate(schema["allOf"]):
            yield from self._in(case, part, (*steps, "allOf", index), lift)

    def _properties(
        self, case: Case, schema: Any, steps: Steps, lift: Lift, group: tuple[str, ...]
    ) -> Iterator[Gap]:
        objects = [
            value
            for value in self._samples(case, schema)
            if isinstance(value, dict) and case.allows(value)
        ][:_BASES]

        def lifted(name: str) -> Lift:
            def lift_from(value: JsonValue) -> Any:
                made = ({**base, name: value} for base in objects)
                return _first(lift(whole) for whole in made if case.allows(whole))

            return lift_from

        explained = False
        for name in sorted(known_names(case) | set(schema.get("properties", {}))):
            below = case_of_property(case, name)
            for inner, sub in schemas_of_property(schema, name):
                if self._proof.below(below, sub):
                    continue
                explained = True
                if inner[0] == "additionalProperties":
                    witness = self._witness(below.spread(), sub, lifted(name))
                    yield Gap(
                        steps=(*_place_of(case, name, steps),),
                        message=f"{name} is not known",
                        witness=witness,
                        gone=True,
                        unknown=name,
                    )
                else:
                    yield from self._in(below, sub, (*steps, *inner), lifted(name))
        if not explained:
            yield from self._at(case, schema, steps, lift, tuple(reversed(group)))

    def _items(
        self, case: Case, schema: Any, steps: Steps, lift: Lift, group: tuple[str, ...]
    ) -> Iterator[Gap]:
        arrays = [
            value
            for value in self._samples(case, schema)
            if isinstance(value, list) and case.allows(value)
        ][:_BASES]
        longest = max(len(part.get("prefixItems", ())) for part in (*case.objects, schema))
        for at in range(longest + 1):
            below, sub = case_of_item(case, at), schema_of_item(schema, at)
            place = ("prefixItems", at) if at < len(schema.get("prefixItems", ())) else ("items",)

            def lifted(value: JsonValue, at: int = at) -> Any:
                made = [[*base[:at], value, *base[at + 1 :]] for base in arrays if len(base) >= at]
                return _first(
                    lift(whole) for whole in [*made, [value] * (at + 1)] if case.allows(whole)
                )

            if not self._proof.below(below, sub):
                yield from self._in(below, sub, (*steps, *place), lifted)


def _place_of(case: Case, name: str, steps: Steps) -> Steps:
    """The steps to a property in the wider schema: those of the place in the narrower one, where
    both have it.
    """
    return (*steps, "properties", name)


def _first(found: Iterable[Any]) -> Any:
    return next((value for value in found if value is not NOTHING), NOTHING)


def _told(case: Case, schema: dict[str, Any], keyword: str) -> str:
    """Say in a few words what a keyword asks that the case does not have."""
    if keyword == "type":
        return f"only {_named(schema['type'])} is allowed"
    if keyword == "required":
        names = sorted(set(schema["required"]) - required_by(case))
        return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} required"
    if keyword == "additionalProperties" and schema[keyword] is False:
        return "properties that it does not list are not allowed"
    before = next((part[keyword] for part in case.objects if keyword in part), NOTHING)
    return f"`{keyword}` is {short(schema[keyword])}" + (
        "" if before is NOTHING else f", on the other side {short(before)}"
    )


def _named(kind: Any) -> str:
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


_DESCENTS: Final[dict[str, Any]] = {
    "$ref": _Search._reference,
    "allOf": _Search._all,
    "properties": _Search._properties,
    "prefixItems": _Search._items,
}
