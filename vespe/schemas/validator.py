"""Compile a JSON Schema, judge values by it and say in words what is wrong; never any I/O. The
owner of jsonschema_rs.

What the keywords mean is JSON Schema 2020-12 (or the bundled draft that `$schema` names), the same
everywhere in Vespe: `format` is an annotation and asserts nothing, patterns are searched by a
linear-time engine in which `$` is the very end and `\\d` is ASCII, numbers are exact, and `1.0` is
an integer.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final, NoReturn, TypeAlias

from vespe import defaults
from vespe.documents.nesting import deeper_than
from vespe.documents.pointers import pointer_to
from vespe.errors import InvalidDocument
from vespe.lazy import jsonschema_rs
from vespe.models import JsonObject, JsonValue
from vespe.schemas.bounds import (
    is_bundled,
    pattern_places,
    reference_problems,
    size_problems,
    written,
)
from vespe.schemas.explain import MOST, Explainer, Violation, describe, named_properties
from vespe.schemas.filling import filling_of
from vespe.schemas.growth import peak
from vespe.schemas.subschemas import REFERENCES, References, walk, without_children

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_LIGHT_PATTERN: Final = 1 << 16
_HEAVY_PATTERN: Final = 1 << 22
_MAX_HEAVY_PATTERNS: Final = 8
_MAX_EVALUATIONS: Final = 2000
_EXPLAINED_WEIGHT: Final = 20_000
"""How much is explained at once: places of the value times the judgements at each; every error
holds a copy of its place.
"""
_CACHED: Final = 1024
_ABOUT_NAMES: Final = ("required", "minProperties", "maxProperties", "dependentRequired")
_NAMING: Final = ("properties", "patternProperties")
_FOLLOWING: Final = ("$ref", "$dynamicRef", "$recursiveRef", "uniqueItems")
_SCALARS: Final = ("string", "integer", "number", "boolean", "null")
_DEEPEST: Final = 500
NOT_JSON: Final = (ValueError, TypeError, OverflowError)


def check_schema(
    schema: JsonValue, *, root_object: bool = True, plain: bool = False
) -> list[Violation]:
    """Return all that is wrong with a schema; `[]` when Vespe can judge values by it.

    It must be valid against its draft's meta-schema (2020-12, or the bundled draft that `$schema`
    names), keep to the bounds (`defaults.MAX_SCHEMA_*`), have patterns for a linear-time engine,
    refer to nothing outside itself, and with `root_object` be of type object. `plain` says that
    `schema_bounds.is_plain` holds for it: only the meta-schema is asked.
    """
    if root := _root_problem(schema, root_object):
        return [Violation("root", "", root)]
    if plain:
        return [] if _meta().is_valid(schema) else _meta_problems(schema)
    text = written(schema)
    if isinstance(text, Violation):
        return [text]
    if problems := size_problems(schema, text):
        return problems
    if isinstance(schema, dict) and not is_bundled(str(schema.get("$schema", _DRAFT))):
        return reference_problems(schema)
    problems = [] if _meta().is_valid(schema) else _meta_problems(schema)
    if '"$' in text:
        problems += reference_problems(schema)
    if "attern" in text:
        problems += _pattern_problems(schema)
    return problems or _use_problems(schema, text)


def compile_schema(schema: JsonValue, *, closed: bool) -> "Validator":
    """Return the validator of a checked schema; one serves every call in this process with the same
    schema object.

    `closed` refuses arguments that the schema does not name, where its root leaves it open (see
    `closed_schema`). The schema must not be changed afterwards. Raises InvalidDocument for a schema
    that cannot be used; `check_schema` says more.
    """
    compiled = CLOSED if closed else _OPEN
    known = compiled.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    if len(compiled) >= _CACHED:
        compiled.clear()
    made = Validator(closed_schema(schema) if closed else schema)
    compiled[id(schema)] = (schema, made, made.judge, made.fill)
    return made


CLOSED: dict[int, "Compiled"] = {}
"""By the id of a schema object: that object, and its validator, closed as calls are judged by, with
its `judge` and `fill`.
"""
_OPEN: dict[int, "Compiled"] = {}


Compiled: TypeAlias = tuple[
    Any, "Validator", Callable[[Any], bool], Callable[[JsonObject], JsonObject] | None
]


class Validator:
    """Judges values by one schema; safe to share between threads. Made by `compile_schema`."""

    __slots__ = ("_native", "fill", "judge", "schema")

    def __init__(self, schema: JsonValue) -> None:
        self.schema = schema
        try:
            self._native = _validator_for(schema)
        except ValueError as error:
            raise InvalidDocument(f"the schema cannot be used: {_first_line(error)}") from None
        filling = filling_of(schema, judged=True)
        is_flat = not filling.defaults and _is_flat(schema)
        # Where the schema alone says how far a judgement goes, it ends on any value, and copying
        # finds what is too deep.
        self.judge: Callable[[Any], bool] = (
            self.is_valid if _follows_values(schema) else self._native.is_valid
        )
        """Says whether a value is allowed, one that is nested deeper than 64 levels perhaps too;
        raises one of NOT_JSON for no JSON.
        """
        self.fill: Callable[[JsonObject], JsonObject] | None = None if is_flat else filling.fill
        """Copies what is allowed, with the defaults; None where nothing is nested and there are
        none; raises ValueError.
        """

    def is_valid(self, instance: JsonValue) -> bool:
        """Whether the schema allows a value; what is not a JSON value, or is nested deeper than 64
        levels, is not allowed.
        """
        try:
            return not deeper_than(instance, defaults.MAX_JSON_DEPTH) and self._native.is_valid(
                instance
            )
        except NOT_JSON:
            return False

    def completed(self, instance: JsonObject) -> JsonObject | None:
        """Return a copy of a value that the schema allows, with its defaults; None for any other:
        `violations` says why. Never raises.
        """
        try:
            if self.judge(instance):
                return {**instance} if self.fill is None else self.fill(instance)
        except NOT_JSON:
            pass
        return None

    def violations(
        self, instance: JsonValue, *, subject: str = "the arguments object"
    ) -> list[Violation]:
        """Return all that the schema refuses in a value; `[]` where it allows it. Never raises.

        A pointer names the argument, one that is missing too. At most 20 are told, and a last one
        counts the rest. `subject` is what the whole value is called.
        """
        if deeper_than(instance, defaults.MAX_JSON_DEPTH):
            return [
                _violation(
                    "depth", f"{subject} is nested deeper than {defaults.MAX_JSON_DEPTH} levels"
                )
            ]
        try:
            if self._native.is_valid(instance):
                return []
            told = self._told(instance, subject)
        except NOT_JSON as error:
            return [_violation("not_json", f"{subject} cannot be checked: {error}")]
        rest = len(told) - MOST
        return [*told[:MOST], _violation("more", f"and {rest} more")] if rest > 0 else told

    def _told(self, instance: JsonValue, subject: str) -> list[Violation]:
        explainer = Explainer(self.schema, instance, subject=subject)
        weight = _EXPLAINED_WEIGHT // peak(self.schema, limit=_MAX_EVALUATIONS)
        if not _is_fast() or not _heavier_than(instance, weight):
            return explainer.violations(self._native.iter_errors(instance)) or [
                _violation("schema", f"{subject} does not match its schema")
            ]
        place = _Place(self.schema, instance)
        while _heavier_than(place.value, weight) and place.descend():
            pass
        errors = (
            place.errors()
            if not _heavier_than(place.value, weight)
            else place.outline_errors(weight)
        )
        name, pointer = explainer.name(place.steps), pointer_to(place.steps)
        told = explainer.violations(errors, under=place.steps)
        return told or [
            Violation(
                "schema",
                pointer,
                f"{name} does not match its schema; it is {describe(place.value)}",
            )
        ]


class _Place:
    """A way down a value too large to explain whole, towards its first part that the schema
    refuses.
    """

    def __init__(self, schema: JsonValue, value: JsonValue) -> None:
        self._schema, self._at = schema, "#"
        self._judges = jsonschema_rs.validator_map_for(schema, **_options())
        self.steps: tuple[str | int, ...] = ()
        self.value = value

    def descend(self) -> bool:
        """Step to the first direct part that is refused; False where there is none."""
        for step, below, value in _parts(self._here(), self.value):
            judge = self._judges.get(self._at + pointer_to(below))
            if judge is not None and not judge.is_valid(value):
                self._at += pointer_to(below)
                self.steps, self.value = (*self.steps, step), value
                return True
        return False

    def errors(self) -> list[Any]:
        """Return all that is wrong at this place and below."""
        return list(self._judges[self._at].iter_errors(self.value))

    def outline_errors(self, most: int) -> list[Any]:
        """Return what is wrong with the names at this place, where they are at most so many,
        whatever stands under them.
        """
        here = self._here()
        if not isinstance(here, dict) or not isinstance(self.value, dict) or len(self.value) > most:
            return []
        outline = {keyword: here[keyword] for keyword in _ABOUT_NAMES if keyword in here}
        outline |= {
            keyword: {name: {} for name in here[keyword]}
            for keyword in _NAMING
            if isinstance(here.get(keyword), dict)
        }
        if here.get("additionalProperties") is False:
            outline["additionalProperties"] = False
        return list(
            jsonschema_rs.validator_for(outline, **_options()).iter_errors(
                dict.fromkeys(self.value)
            )
        )

    def _here(self) -> Any:
        """Return the subschema at this place, through references."""
        references = References(self._schema)
        here = references.target(self._at)
        for _ in range(defaults.MAX_SCHEMA_DEPTH):
            if not isinstance(here, dict) or not str(here.get("$ref", "")).startswith("#"):
                break
            self._at = here["$ref"]
            here = references.target(self._at)
        return here


def _parts(schema: Any, value: Any) -> Iterator[tuple[str | int, tuple[str, ...], Any]]:
    if (
        isinstance(schema, dict)
        and isinstance(value, dict)
        and isinstance(schema.get("properties"), dict)
    ):
        yield from (
            (name, ("properties", name), value[name])
            for name in schema["properties"]
            if name in value
        )
    elif isinstance(schema, dict) and isinstance(value, list) and "prefixItems" not in schema:
        yield from ((index, ("items",), item) for index, item in enumerate(value))


def closed_schema(schema: JsonValue) -> JsonValue:
    """Return the schema that refuses unknown arguments at its root: what models are shown, and what
    calls are judged by.

    It is `schema` itself where `additionalProperties` or `unevaluatedProperties` stands at the
    root. Where parts that apply in place (`$ref`, `allOf`, ...) name properties of their own,
    `unevaluatedProperties` closes it, since `additionalProperties` would not see them; drafts
    before 2019-09 have their names gathered at the root instead.
    """
    if (
        not isinstance(schema, dict)
        or "additionalProperties" in schema
        or "unevaluatedProperties" in schema
    ):
        return schema
    names = named_properties(schema, schema)
    if set(names) <= set(schema.get("properties", ())) and not any(
        k in schema for k in REFERENCES[1:]
    ):
        return {**schema, "additionalProperties": False}
    if "draft-0" not in schema.get("$schema", _DRAFT):
        return {**schema, "unevaluatedProperties": False}
    gathered = {name: {} for name in names} | schema.get("properties", {})
    shown = {**schema, "properties": gathered, "additionalProperties": False}
    if "$ref" in shown:  # beside which those drafts ignore everything
        shown["allOf"] = [{"$ref": shown.pop("$ref")}, *shown.get("allOf", ())]
    return shown


def fill_defaults(schema: JsonValue, instance: JsonObject) -> JsonObject:
    """Return a new object: `instance` with the defaults of properties that it lacks, in nested
    objects and arrays too.

    Neither argument is changed; see `filling_of`.
    """
    filled: JsonObject = filling_of(schema).fill(instance, _DEEPEST)
    return filled


def _follows_values(schema: JsonValue) -> bool:
    """Whether a judgement goes as deep as the value does: by references, or where items are
    compared with each other.
    """
    if isinstance(schema, dict):
        return any(key in _FOLLOWING for key in schema) or any(
            map(_follows_values, schema.values())
        )
    return isinstance(schema, list) and any(map(_follows_values, schema))


def _is_flat(schema: JsonValue) -> bool:
    """Whether the schema allows objects of named scalars alone."""
    if (
        not isinstance(schema, dict)
        or schema.get("type") != "object"
        or schema.get("additionalProperties") is not False
    ):
        return False
    properties = schema.get("properties", {})
    return "patternProperties" not in schema and all(
        isinstance(sub, dict) and sub.get("type") in _SCALARS for sub in properties.values()
    )


def _heavier_than(value: Any, limit: int) -> bool:
    weight, waiting = 0, [value]
    while waiting and weight <= limit:
        one = waiting.pop()
        weight += 1 + (len(one) // 256 if isinstance(one, str) else 0)
        if isinstance(one, dict):
            weight += sum(len(key) // 256 for key in one)
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple)):
            waiting.extend(one)
    return weight > limit


def _root_problem(schema: JsonValue, root_object: bool) -> str | None:
    if not isinstance(schema, dict):
        return (
            None
            if isinstance(schema, bool) and not root_object
            else f"must be a JSON Schema, an object, not {describe(schema)}"
        )
    if root_object and schema.get("type") != "object":
        return 'must have "type": "object" at its root, because the inputs of a tool have names'
    return None


def _meta_problems(schema: Any) -> list[Violation]:
    """Judge each subschema alone by the meta-schema, so that errors come one a subschema, with a
    pointer to it.
    """
    draft = schema.get("$schema", _DRAFT) if isinstance(schema, dict) else _DRAFT
    told: list[Violation] = []
    for steps, sub, _, _ in walk(schema, most=defaults.MAX_SUBSCHEMAS):
        alone = without_children(sub)
        try:
            _meta().validate({**alone, "$schema": draft} if isinstance(alone, dict) else alone)
        except _refusal() as error:
            told += Explainer({}, schema, subject="the schema").violations([error], under=steps)
    return [replace(one, code="malformed") for one in told] or [
        _violation("malformed", "is not a valid JSON Schema")
    ]


def _pattern_problems(schema: Any) -> list[Violation]:
    told, heavy = [], 0
    for steps, pattern in pattern_places(schema):
        problem = None
        if len(pattern) > defaults.MAX_PATTERN_LENGTH:
            problem = (
                f"is a pattern of {len(pattern)} characters; "
                f"it may have {defaults.MAX_PATTERN_LENGTH}"
            )
        elif not _compiles(pattern, _LIGHT_PATTERN):
            heavy += 1
            if not _compiles(pattern, _HEAVY_PATTERN):
                problem = (
                    "is not a pattern for a linear-time engine: it is malformed, "
                    "looks around, refers back or repeats too much"
                )
            elif heavy > _MAX_HEAVY_PATTERNS:
                problem = (
                    f"is the schema's {heavy}th large pattern; it may have {_MAX_HEAVY_PATTERNS}"
                )
        if problem:
            told.append(Violation("pattern", pointer_to(steps), problem))
        if len(told) > _MAX_HEAVY_PATTERNS or heavy > _MAX_HEAVY_PATTERNS:
            break
    return told


def _compiles(pattern: str, size: int) -> bool:
    try:
        if not _is_fast():
            from vespe.schemas import reference

            reference.python_pattern(pattern)
            return True
        jsonschema_rs.Draft202012Validator(
            {"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions(size_limit=size)
        )
    except ValueError:
        return False
    return True


def _use_problems(schema: Any, text: str) -> list[Violation]:
    """Say why a schema that is valid in itself cannot be used: what its references lead to."""
    if "Ref" not in text and '"$ref"' not in text and '"$id"' not in text:
        return []
    if peak(schema, limit=_MAX_EVALUATIONS) > _MAX_EVALUATIONS:
        message = (
            f"can be reached more than {_MAX_EVALUATIONS} times at one place of a value: "
            "its references multiply or never end"
        )
        return [_violation("unusable", message)]
    try:
        _validator_for(schema)
    except ValueError as error:
        return [_violation("unusable", f"cannot be used: {_first_line(error)}")]
    return []


@cache
def _is_fast() -> bool:
    """Whether jsonschema_rs is there; where it has no wheel, the reference validator judges, slower
    and to the same effect.
    """
    try:
        return jsonschema_rs.meta is not None
    except ImportError:
        return False


@cache
def _engine() -> Any:
    """Return the module that judges: jsonschema_rs, or what stands for it; importing the latter is
    left until it is needed.
    """
    if _is_fast():
        return jsonschema_rs
    from vespe.schemas import reference

    return reference


def fits_format(value: str, name: str) -> bool:
    """Say whether a text is what a `format` names: for what a person typed into a form, since
    schemas of tools assert no formats.
    """
    if not _is_fast():
        return _engine().fits_format(value, name) is True
    return jsonschema_rs.is_valid({"format": name}, value, validate_formats=True)


def _meta() -> Any:
    return _engine().meta


def _refusal() -> type[Any]:
    refusal: type[Any] = _engine().ValidationError
    return refusal


def _validator_for(schema: JsonValue) -> Any:
    return _engine().validator_for(schema, **(_options() if _is_fast() else {}))


def _first_line(error: ValueError) -> str:
    return str(error).partition("\n")[0]


def _options() -> dict[str, Any]:
    return {
        "retriever": _refuse_to_fetch,
        "validate_formats": False,
        "pattern_options": jsonschema_rs.RegexOptions(size_limit=_HEAVY_PATTERN),
    }


def _refuse_to_fetch(address: str) -> NoReturn:
    raise ValueError(f"{address} is outside this document, and Vespe fetches nothing")


def _violation(code: str, message: str) -> Violation:
    return Violation(code, "", message)
