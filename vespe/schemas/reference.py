"""JSON Schema's reference validator in Python: the engine where jsonschema_rs has no wheel. The
owner of jsonschema.

It offers what `validator` asks of jsonschema_rs, with errors of the same shape. Its patterns
backtrack, so a repetition within a repetition is refused here:
https://owasp.org/www-community/attacks/Regular_expression_Denial_of_Service_-_ReDoS.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from vespe.lazy import jsonschema, jsonschema_specifications, referencing
from vespe.records import dataclass

_NESTED: Final = re.compile(r"\((?:[^()\\]|\\.)*[*+}](?:[^()\\]|\\.)*\)\s*[*+{]")
_LIMITS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
)
_FACTS: Final = {
    **dict.fromkeys(_LIMITS, "limit"),
    "enum": "options",
    "const": "expected_value",
    "multipleOf": "multiple_of",
    "not": "schema",
}


_PROBES: Final = ("\u0663", "\u00e9", "\u0663" * 4, "\u00e9" * 4, "a\u00e9", "\u2003", "1\u0663")
"""A digit, a letter and a space that only Python's classes hold."""


_JUDGES_TROUBLES: Final = (
    RecursionError,
    re.error,
    AttributeError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
)
"""What jsonschema raises at a schema that it cannot read."""


def fits_format(value: str, name: str) -> bool:
    """Say whether a text is what a `format` names, as far as this validator knows."""
    return bool(jsonschema.FormatChecker().conforms(value, name))


class ValidationError(ValueError):
    """What `meta.validate` raises: one error, of the shape that `explain.SchemaError` describes."""

    def __init__(self, error: "Error") -> None:
        super().__init__(error.message)
        self.kind, self.message, self.instance = error.kind, error.message, error.instance
        self.schema_path, self.instance_path = error.schema_path, error.instance_path


@dataclass(frozen=True, slots=True)
class Kind:
    """The keyword that refuses, and its facts, by the names that jsonschema_rs gives them."""

    name: str
    facts: Mapping[str, Any]

    def as_dict(self) -> Mapping[str, Any]:
        """Return the facts."""
        return self.facts


@dataclass(slots=True)
class Error:
    """One error, of the shape that `explain.SchemaError` describes."""

    message: str
    schema_path: list[str | int]
    instance_path: list[str | int]
    kind: Kind
    instance: Any


class ReferenceValidator:
    """Judges values by one schema, as jsonschema_rs does where that cannot run. Raises ValueError
    for what cannot be judged.
    """

    def __init__(self, schema: Any) -> None:
        self._judge = _class_of(schema)(schema, registry=jsonschema_specifications.REGISTRY)

    def is_valid(self, instance: Any) -> bool:
        """Whether the schema allows a value."""
        try:
            return bool(self._judge.is_valid(instance))
        except (referencing.exceptions.Unresolvable, RecursionError, re.error) as error:
            raise ValueError(f"cannot be checked: {error}") from None

    def iter_errors(self, instance: Any) -> Iterator[Error]:
        """Return what the schema refuses, in the order of its keywords."""
        try:
            errors = list(self._judge.iter_errors(instance))
        except (referencing.exceptions.Unresolvable, RecursionError, re.error) as error:
            raise ValueError(f"cannot be checked: {error}") from None
        return (made for error in errors for made in _errors(error))


class _Meta:
    def is_valid(self, schema: Any) -> bool:
        """Whether a schema is valid by its draft's meta-schema."""
        return bool(_meta_of(_class_of(schema)).is_valid(schema))

    def validate(self, schema: Any) -> None:
        """Raise ValidationError with the first error by the meta-schema."""
        error = next(_meta_of(_class_of(schema)).iter_errors(schema), None)
        if error is not None:
            raise ValidationError(next(_errors(error)))


meta: Final = _Meta()


def validator_for(schema: Any) -> ReferenceValidator:
    """Return the validator of a schema; raises ValueError for a pattern that cannot be used."""
    return ReferenceValidator(schema)


def python_pattern(pattern: str) -> "re.Pattern[str]":
    """Compile a pattern as Vespe means it: `$` is the very end, and classes are ASCII. Raises
    ValueError where that cannot be.
    """
    if _NESTED.search(pattern):
        raise ValueError("a repetition within a repetition")
    try:
        return re.compile(
            re.sub(r"(\\.|\[(?:[^\]\\]|\\.)*\])|\$", lambda m: m[1] or r"\Z", pattern), re.ASCII
        )
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from None


def is_valid_in_python(schema: Any, instance: Any) -> bool:
    """Say what Python's own jsonschema says of a value, as any program asks it; raises ValueError
    where it cannot judge.
    """
    try:
        draft: Any = jsonschema.validators.validator_for(
            schema, default=jsonschema.Draft202012Validator
        )
        return bool(draft(schema, registry=jsonschema_specifications.REGISTRY).is_valid(instance))
    except (
        *_JUDGES_TROUBLES,
        referencing.exceptions.Unresolvable,
        jsonschema.exceptions.UnknownType,
    ) as error:
        raise ValueError(f"cannot be checked: {error}") from None


def differs_in_python(pattern: str) -> str | None:
    """Say how Python's own reading of a pattern, which its jsonschema uses, differs from JSON
    Schema's; None where it does not.

    That `$` also matches before a line end at the end is let be: nearly every pattern has one.
    """
    try:
        plain = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"cannot be read: {error}"
    exact = re.compile(pattern, re.ASCII)
    word = next(
        (text for text in _PROBES if bool(plain.search(text)) != bool(exact.search(text))), None
    )
    return f"also takes characters such as {word!r}" if word is not None else None


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if (
        isinstance(instance, str)
        and isinstance(pattern, str)
        and not python_pattern(pattern).search(instance)
    ):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


@cache
def _of_draft(draft: Any) -> Any:
    return jsonschema.validators.extend(draft, {"pattern": _pattern})  # type: ignore[no-untyped-call]  # it has no types


def _class_of(schema: Any) -> Any:
    draft = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return _of_draft(draft)


@cache
def _meta_of(draft: Any) -> Any:
    return draft(draft.META_SCHEMA, registry=jsonschema_specifications.REGISTRY)


def _errors(error: Any) -> Iterator[Error]:
    name = error.validator or "falseSchema"
    path, steps = list(error.absolute_schema_path), list(error.absolute_path)
    inner = Error(error.message, path, steps, Kind(name, dict(_facts(name, error))), error.instance)
    if "propertyNames" in path[:-1]:
        yield Error(
            error.message,
            path[: path.index("propertyNames") + 1],
            steps,
            Kind("propertyNames", {"error": inner}),
            error.instance,
        )
    elif name == "dependentRequired":
        missing = next(
            (
                one
                for names in error.validator_value.values()
                for one in names
                if error.message.startswith(repr(one))
            ),
            "",
        )
        yield Error(
            error.message, path, steps, Kind("required", {"property": missing}), error.instance
        )
    else:
        yield inner


def _facts(name: str, error: Any) -> Iterator[tuple[str, Any]]:
    value = error.validator_value
    if name in _FACTS:
        yield _FACTS[name], value
    elif name == "type":
        yield "types", value if isinstance(value, list) else [value]
    elif name == "pattern":
        yield "pattern", value
    elif name == "required":
        yield "property", next((one for one in value if error.message.startswith(repr(one))), "")
    elif name in ("anyOf", "oneOf"):
        yield (
            "context",
            [list(_branch(error, index)) for index in range(len(value))]
            if error.context
            else [[], []],
        )
    elif name == "additionalProperties" or name in ("unevaluatedProperties", "unevaluatedItems"):
        yield "unexpected", [key for key in error.instance if repr(key) in error.message]
    elif name in ("additionalItems", "items"):
        yield (
            "limit",
            len(error.schema.get("items", ()))
            if isinstance(error.schema.get("items"), list)
            else 0,
        )


def _branch(error: Any, index: int) -> Iterator[Error]:
    for inner in error.context:
        if inner.relative_schema_path and inner.relative_schema_path[0] == index:
            yield from _errors(inner)
