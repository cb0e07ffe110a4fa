"""Values that a schema, or its next version, could be about: candidates for a counterexample, to be
judged; pure.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, TypeAlias

from vespe.schemas.subschemas import References

_MOST: Final = 120
_DEEPEST: Final = 5
_FILLERS: Final = 6
_LONGEST: Final = 5000
_TEXTS: Final = (
    "a",
    "",
    "A",
    "0",
    "-",
    " ",
    "é",
    "a1",
    "Ab_1",
    "ab",
    "abc",
    "ABC",
    "123",
    "true",
    "null",
    "2024-01-31",
    "12:30:00",
    "2024-01-31T12:30:00Z",
    "a@example.com",
    "https://example.com/a",
    "/tmp/a",
    "a.b",
    "a b",
    "a-b",
    "\n",
)
_UNUSUAL: Final = "x_other"
"""A name that no schema is likely to give a property."""
_NUMERIC: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_KINDS: Final = ("string", "number", "object", "array", "boolean", "null")

Fits: TypeAlias = Callable[[Any, References, Any], bool]
"""Whether a subschema, whose references are those, allows a value."""
_Schemas: TypeAlias = list[tuple[Any, References]]


def samples(own: _Schemas, about: _Schemas, *, fits: Fits) -> list[Any]:
    """Return values near to what the schemas `own` allow together, and to what those `about`
    forbid; many fit neither.
    """
    return list(islice(_unique(_Sampler(fits).values(own, about, 0)), _MOST))


class _Sampler:
    def __init__(self, fits: Fits) -> None:
        self._fits = fits

    def values(self, own: _Schemas, about: _Schemas, depth: int) -> Iterator[Any]:
        mine = _flat(own)
        every = _flat([*own, *about])
        for schema, _ in every:
            yield from _named_values(schema)
        kinds = _kinds(mine) or _KINDS
        makers: dict[str, Callable[[], Iterator[Any]]] = {
            "string": lambda: _strings(every),
            "number": lambda: _numbers(every),
            "object": lambda: self._objects(every, mine, depth),
            "array": lambda: self._arrays(every, depth),
            "boolean": lambda: iter((True, False)),
            "null": lambda: iter((None,)),
        }
        deep = depth >= _DEEPEST
        yield from _in_turn(
            [makers[kind]() for kind in kinds if not (deep and kind in ("object", "array"))]
        )

    def _fillers(self, schemas: _Schemas, depth: int) -> list[Any]:
        """A few values for one place, those that all its schemas allow first."""
        found = list(islice(_unique(self.values(schemas, [], depth + 1)), 4 * _FILLERS))
        good = [
            value
            for value in found
            if all(self._fits(schema, references, value) for schema, references in schemas)
        ]
        return (good + [value for value in found if value not in good])[:_FILLERS]

    def _arrays(self, schemas: _Schemas, depth: int) -> Iterator[list[Any]]:
        inner = [
            (schema["items"], references)
            for schema, references in schemas
            if isinstance(schema.get("items"), dict)
        ]
        fillers = self._fillers(inner, depth) or [0]
        for filler in fillers:
            yield [filler]
        yield []
        for length in _lengths(schemas, "minItems", "maxItems", most=100):
            yield from ([filler] * length for filler in fillers[:2])
            yield [*range(length)]
        yield fillers
        yield [fillers[0]] * 2

    def _objects(self, schemas: _Schemas, own: _Schemas, depth: int) -> Iterator[dict[str, Any]]:
        """Objects with what is required, with each property beside it, with all of them, and with
        one that nobody knows.
        """
        named: dict[str, _Schemas] = {}
        for schema, references in schemas:
            properties = schema.get("properties")
            for name, sub in properties.items() if isinstance(properties, dict) else ():
                named.setdefault(name, []).append((sub, references))
        required = [
            name
            for schema, _ in own
            for name in schema.get("required") or ()
            if isinstance(name, str)
        ]
        some = {
            name: self._fillers(named.get(name, []), depth)
            for name in dict.fromkeys([*required, *named])
        }
        base = {name: _nth(some[name], 0) for name in required}
        yield base
        yield {**base, _UNUSUAL: 0}
        yield from ({**base, name: value} for name, values in some.items() for value in values)
        for turn in range(3):
            yield {name: _nth(values, turn) for name, values in some.items()}
            yield {name: _nth(some[name], turn) for name in required}
        for length in _lengths(schemas, "minProperties", "maxProperties", most=100):
            yield {**base, **{f"{_UNUSUAL}{number}": 0 for number in range(length - len(base))}}
        yield {}


def _flat(schemas: _Schemas) -> _Schemas:
    """Return the schemas and all that stand in place within them, through references, each once."""
    waiting, seen = list(schemas), set[int]()
    found: _Schemas = []
    while waiting and len(found) < _MOST:
        schema, references = waiting.pop(0)
        if not isinstance(schema, dict) or id(schema) in seen:
            continue
        seen.add(id(schema))
        found.append((schema, references))
        inner = [references.target(schema.get("$ref"))]
        inner += [
            one for keyword in ("allOf", "anyOf", "oneOf") for one in schema.get(keyword) or ()
        ]
        inner += [schema[keyword] for keyword in ("if", "then", "else", "not") if keyword in schema]
        waiting += [(one, references) for one in inner]
    return found


def _kinds(schemas: _Schemas) -> list[str]:
    said: list[str] = []
    for schema, _ in schemas:
        kind = schema.get("type")
        said += [
            str(one).replace("integer", "number")
            for one in (kind if isinstance(kind, list) else [kind] if kind else [])
        ]
    return [kind for kind in _KINDS if kind in said]


def _named_values(schema: dict[str, Any]) -> Iterator[Any]:
    yield from (schema[keyword] for keyword in ("const", "default") if keyword in schema)
    for keyword in ("enum", "examples"):
        if isinstance(listed := schema.get(keyword), list):
            yield from listed[:_MOST]


def _numbers(schemas: _Schemas) -> Iterator[int | float]:
    for schema, _ in schemas:
        for keyword in _NUMERIC:
            bound = schema.get(keyword)
            if isinstance(bound, (int, float)) and not isinstance(bound, bool):
                yield from (bound, bound + 1, bound - 1, bound + 0.5, bound - 0.5, bound * 3)
    yield from (0, 1, -1, 0.5, -0.5, 7, 10**6, -(10**6))


def _strings(schemas: _Schemas) -> Iterator[str]:
    yield from (
        "a" * length for length in _lengths(schemas, "minLength", "maxLength", most=_LONGEST)
    )
    yield from _TEXTS


def _lengths(schemas: _Schemas, least: str, greatest: str, *, most: int) -> Iterator[int]:
    for schema, _ in schemas:
        for keyword, more in ((least, 0), (greatest, 0), (least, -1), (greatest, 1)):
            bound = schema.get(keyword)
            if isinstance(bound, (int, float)) and 0 <= bound + more <= most:
                yield int(bound + more)


def _nth(values: list[Any], turn: int) -> Any:
    return values[turn % len(values)] if values else turn


def _in_turn(makers: list[Iterator[Any]]) -> Iterator[Any]:
    while makers:
        for maker in list(makers):
            try:
                yield next(maker)
            except StopIteration:
                makers.remove(maker)


def _unique(values: Iterable[Any]) -> Iterator[Any]:
    seen = set[str]()
    for value in values:
        key = repr(value)
        if key not in seen:
            seen.add(key)
            yield value
