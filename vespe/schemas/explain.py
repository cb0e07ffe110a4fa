"""From a validator's errors to sentences that a model can act on: the argument, what was expected,
what came.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

from vespe.documents.pointers import pointer_to
from vespe.lazy import difflib
from vespe.records import dataclass, json_of
from vespe.schemas.subschemas import IN_PLACE, References, children

MOST: Final = 20
"""How many violations are told; a last one counts the rest."""
_LONGEST: Final = 400
_SHORT: Final = 60
_CHOICES: Final = 12
_ALTERNATIVES: Final = 4
_UNKNOWN: Final = ("additionalProperties", "unevaluatedProperties")


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing wrong with a value, or with a schema itself: a stable code, a JSON Pointer to it,
    and a sentence.

    The code of a value's violation is the keyword that refuses it. Those of a schema are `root`,
    `bound`, `not_json`, `pattern`, `draft`, `reference`, `unusable`, and `malformed` for what its
    meta-schema refuses.
    """

    code: str
    pointer: str
    message: str

    def to_json(self) -> dict[str, str]:
        """Return where and what, as errors carry it in their details."""
        return json_of(self, "pointer", "message")


def messages_of(violations: Iterable[Violation]) -> str:
    """Return the sentences of violations as one."""
    return "; ".join(violation.message for violation in violations)


class SchemaError(Protocol):
    """One error as jsonschema_rs gives it; errors within `anyOf` carry whole paths too."""

    message: str
    schema_path: list[str | int]
    instance_path: list[str | int]
    kind: Any
    instance: Any


class Explainer:
    """Words for the errors of one schema; `subject` is what the whole instance is called."""

    def __init__(self, schema: Any, value: Any, *, subject: str = "the arguments object") -> None:
        self._schema = schema
        self._value = value
        self._subject = subject

    def violations(
        self, errors: Iterable[SchemaError], *, under: Sequence[str | int] = ()
    ) -> list[Violation]:
        """Return each mistake once, in the order of the errors, none left out.

        `under` is where the part of the value stands that the errors are about.
        """
        told: dict[tuple[str, str], str] = {}
        for error in errors:
            for steps, message in self._tell(error, tuple(under)):
                told.setdefault((pointer_to(steps), shorten(message, _LONGEST)), error.kind.name)
        return [Violation(code, pointer, message) for (pointer, message), code in told.items()]

    def _tell(
        self, error: SchemaError, under: tuple[str | int, ...]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        steps = (*under, *error.instance_path)
        kind, facts = error.kind.name, error.kind.as_dict()
        if kind == "required":
            missing = str(facts["property"])
            yield (*steps, missing), f"{self.name((*steps, missing))} is missing{_because(error)}"
        elif kind in _UNKNOWN or (
            kind == "falseSchema" and error.schema_path[-1:] == ["additionalProperties"]
        ):
            yield from self._unknown(error, steps)
        elif kind in ("anyOf", "oneOf") and (
            only := _the_one_meant(facts.get("context", ()), error)
        ):
            for inner in only:
                yield from self._tell(inner, under)
        else:
            yield steps, f"{self.name(steps)} {self._predicate(error, under)}"

    def _unknown(
        self, error: SchemaError, steps: tuple[str | int, ...]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Name what is unknown; a place that allows no name at all comes as one error that does not
        say which it saw.
        """
        allowed, kind = self._allowed(error), error.kind.name
        here = self._value
        for step in steps:
            here = _step(here, step)
        unexpected = (
            list(here or ()) if kind == "falseSchema" else error.kind.as_dict()["unexpected"]
        )
        for index, unknown in enumerate(unexpected):
            if kind != "unevaluatedProperties" or unknown not in allowed:
                instead = _instead(unknown, allowed) if index < MOST else ""
                yield (*steps, unknown), f"{self.name((*steps, unknown))} is not allowed{instead}"

    def _predicate(self, error: SchemaError, under: tuple[str | int, ...] = ()) -> str:
        kind, facts = error.kind.name, error.kind.as_dict()
        if kind in ("anyOf", "oneOf"):
            return self._alternatives(facts.get("context", ()), error, under)
        if kind == "propertyNames":
            return (
                f"has the key {short(facts['error'].instance)}, "
                f"which {self._predicate(facts['error'])}"
            )
        if kind in _PREDICATES:
            return _PREDICATES[kind](facts, error.instance)
        return f"breaks `{kind}`: {shorten(error.message, 2 * _SHORT)}"

    def _alternatives(
        self,
        context: Sequence[Sequence[SchemaError]],
        error: SchemaError,
        under: tuple[str | int, ...],
    ) -> str:
        if sum(not branch for branch in context) > 1:
            return (
                f"matches more than one of {len(context)} alternatives, "
                "of which exactly one must match"
            )
        if types := _types_only(context, error):
            return f"must be {_or(types)}, not {describe(error.instance)}"
        told = []
        for branch in context[:_ALTERNATIVES]:
            _, message = next(self._tell(branch[0], under), ((), ""))
            told.append(message)
        more = f"; and {len(context) - len(told)} more" if len(context) > len(told) else ""
        numbered = "; ".join(
            f"({i}) {shorten(message, 2 * _SHORT)}" for i, message in enumerate(told, 1)
        )
        return f"matches none of {len(context)} alternatives: {numbered}{more}"

    def _allowed(self, error: SchemaError) -> list[str]:
        parent = self._schema
        for step in error.schema_path[:-1]:
            parent = _step(parent, step)
        return named_properties(self._schema, parent)

    def name(self, steps: Sequence[str | int]) -> str:
        """Return the name of a place as a person would write it: `` `options.items[2].name` ``."""
        if not steps:
            return self._subject
        text = "".join(
            f"[{step}]" if isinstance(step, int) else f".{shorten(step, _SHORT)}" for step in steps
        )
        return f"`{text.removeprefix('.')}`"


def named_properties(root: Any, schema: Any) -> list[str]:
    """Return the names that `schema`, and what applies in place within it (local references too),
    has properties for.
    """
    names: dict[str, None] = {}
    references = References(root)
    waiting, seen = [schema], set[int]()
    while waiting and len(seen) < 200:
        current = waiting.pop(0)
        if not isinstance(current, dict) or id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(properties := current.get("properties"), dict):
            names.update(dict.fromkeys(properties))
        waiting += [sub for steps, sub in children(current) if steps[0] in IN_PLACE]
        waiting.append(references.target(current.get("$ref")))
    return list(names)


def _step(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(str(step))
    return (
        value[step]
        if isinstance(value, list) and isinstance(step, int) and step < len(value)
        else None
    )


def _because(error: SchemaError) -> str:
    """Say why an argument is needed, where it is not plainly required."""
    if (
        "dependentRequired" not in error.schema_path[-2:]
        and "dependencies" not in error.schema_path[-2:]
    ):
        return "; it is required"
    return f"; it is required beside what is given ({_keys(error.instance)})"


def _instead(unknown: str, allowed: Sequence[str]) -> str:
    if close := difflib.get_close_matches(unknown[:_SHORT], allowed, n=1):
        return f"; did you mean `{shorten(close[0], _SHORT)}`?"
    return f"; allowed: {_listed(allowed, str)}" if allowed else "; nothing is allowed here"


def _the_one_meant(
    context: Sequence[Sequence[SchemaError]], error: SchemaError
) -> Sequence[SchemaError]:
    """Return the errors of the one alternative that the value was plainly meant for: the only one
    that fits in kind.
    """
    if any(not branch for branch in context):
        return ()
    at = list(error.instance_path)
    fitting = [branch for branch in context if not any(_rules_out(inner, at) for inner in branch)]
    return fitting[0] if len(fitting) == 1 else ()


def _rules_out(error: SchemaError, at: list[str | int]) -> bool:
    """Whether an error says that the value is of another kind altogether: a wrong type, or another
    tag in a constant.
    """
    inside = error.instance_path[: len(at)] == at and len(error.instance_path) - len(at)
    kind = error.kind.name
    return (inside == 0 and kind in ("type", "const", "enum", "falseSchema")) or (
        inside == 1 and kind == "const"
    )


def _types_only(context: Sequence[Sequence[SchemaError]], error: SchemaError) -> list[str]:
    """Return the types asked for, where every alternative asked for nothing but another type."""
    plain = all(
        len(b) == 1 and b[0].kind.name == "type" and b[0].instance_path == error.instance_path
        for b in context
    )
    return (
        list(dict.fromkeys(str(t) for b in context for t in b[0].kind.as_dict()["types"]))
        if plain
        else []
    )


def _enum(facts: dict[str, Any], value: Any) -> str:
    options = facts["options"]
    words = [option for option in options if isinstance(option, str)]
    close = difflib.get_close_matches(value[:_SHORT], words, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {short(close[0])}?" if close else ""
    return f"must be one of {_listed(options, short)}, not {describe(value)}{hint}"


def _unexpected_items(facts: dict[str, Any], value: Any) -> str:
    return f"has items that are not allowed: {_listed(facts['unexpected'], str)}"


_PREDICATES: Final[dict[str, Callable[[dict[str, Any], Any], str]]] = {
    "type": lambda f, v: f"must be {_or([str(t) for t in f['types']])}, not {describe(v)}",
    "enum": _enum,
    "const": lambda f, v: f"must be {short(f['expected_value'])}, not {describe(v)}",
    "minimum": lambda f, v: f"must be at least {short(f['limit'])}, not {short(v)}",
    "maximum": lambda f, v: f"must be at most {short(f['limit'])}, not {short(v)}",
    "exclusiveMinimum": lambda f, v: f"must be greater than {short(f['limit'])}, not {short(v)}",
    "exclusiveMaximum": lambda f, v: f"must be less than {short(f['limit'])}, not {short(v)}",
    "multipleOf": lambda f, v: f"must be a multiple of {short(f['multiple_of'])}, not {short(v)}",
    "minLength": lambda f, v: f"must have at least {_count(f['limit'], 'character')}, not {len(v)}",
    "maxLength": lambda f, v: f"must have at most {_count(f['limit'], 'character')}, not {len(v)}",
    "pattern": lambda f, v: (
        f"must match the pattern {shorten(f['pattern'], 2 * _SHORT)}, not be {short(v)}"
    ),
    "minItems": lambda f, v: f"must have at least {_count(f['limit'], 'item')}, not {len(v)}",
    "maxItems": lambda f, v: f"must have at most {_count(f['limit'], 'item')}, not {len(v)}",
    "additionalItems": lambda f, v: f"must have at most {_count(f['limit'], 'item')}, not {len(v)}",
    "uniqueItems": lambda f, v: "must not have the same item twice",
    "unevaluatedItems": _unexpected_items,
    "contains": lambda f, v: "does not have the items that its `contains` asks for",
    "minProperties": lambda f, v: f"must have at least {_count(f['limit'], 'key')}, not {len(v)}",
    "maxProperties": lambda f, v: f"must have at most {_count(f['limit'], 'key')}, not {len(v)}",
    "not": lambda f, v: f"must not match {short(f['schema'])}",
    "falseSchema": lambda f, v: "is not allowed here",
}


def describe(value: Any) -> str:
    """Say what a value is, shortly: `the string "x"`, `an array of 3 items`."""
    if isinstance(value, dict):
        return f"an object with {_keys(value)}" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"an array of {_count(len(value), 'item')}" if value else "an empty array"
    if isinstance(value, str):
        return f"the string {short(value)}"
    return (
        short(value) if value is None or isinstance(value, bool) else f"the number {short(value)}"
    )


def short(value: Any) -> str:
    """Write a value as JSON in at most some 60 characters."""
    if isinstance(value, int) and value.bit_length() > 1000:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str):
        value = value[: 2 * _SHORT]
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:
        text = "a value too large to show"
    return shorten(text, _SHORT)


def shorten(text: str, most: int) -> str:
    """Cut a text to `most` characters, with … where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _keys(value: dict[str, Any]) -> str:
    return f"the key{'s' if len(value) > 1 else ''} {_listed(list(value), str)}"


def _listed(values: Sequence[Any], write: Callable[[Any], str]) -> str:
    shown: list[str] = []
    for value in values[:_CHOICES]:
        shown.append(shorten(write(value), _SHORT))
        if sum(map(len, shown)) > _LONGEST // 2:
            break
    more = f" and {len(values) - len(shown)} more" if len(values) > len(shown) else ""
    return ", ".join(shown) + more


_ARTICLES: Final = {
    "null": "null",
    "array": "an array",
    "object": "an object",
    "integer": "an integer",
    "boolean": "a boolean (true or false)",
}


def _or(types: Sequence[str]) -> str:
    words = [_ARTICLES.get(t, f"a {t}") for t in sorted(types, key=lambda t: (t == "null", t))]
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
