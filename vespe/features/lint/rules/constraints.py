"""Lint rules on what a schema allows: contradictions, keywords without effect, and defaults and
examples that break it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeGuard

from vespe.errors import InvalidDocument
from vespe.features.lint.base import Found, Node, Subject, rule
from vespe.models import JsonValue
from vespe.schemas import validator
from vespe.schemas.explain import describe, short

_PAIRS: Final = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
)
_EFFECT: Final = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), ("string",)),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        ("number", "integer"),
    ),
    **dict.fromkeys(
        ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"), ("array",)
    ),
    **dict.fromkeys(
        (
            "properties",
            "required",
            "additionalProperties",
            "minProperties",
            "maxProperties",
            "patternProperties",
        ),
        ("object",),
    ),
}
_TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")
_CARRIED: Final = ("$defs", "definitions", "$schema")
_NEEDS: Final = (
    ("then", "if"),
    ("else", "if"),
    ("minContains", "contains"),
    ("maxContains", "contains"),
)


def _breaks(
    subject: Subject, node: Node, value: JsonValue, *, without: Sequence[str]
) -> str | None:
    """Say why a value breaks the subschema that it stands in; None where it keeps it, or nobody can
    tell.
    """
    root = subject.input_schema if node.part == "input_schema" else subject.output_schema
    sub = {key: item for key, item in node.schema.items() if key not in without}
    if not sub.keys() - {"description", "title"} or subject.api == "gemini":
        return None
    kind = sub.get("type")
    if isinstance(kind, str) and sub.keys() <= {"type", "description", "title"}:
        return (
            None
            if kind not in _TYPES or _is_of(kind, value)
            else f"must be of type {kind}, not {describe(value)}"
        )
    if isinstance(root, dict) and node.steps:
        sub |= {key: root[key] for key in _CARRIED if key in root and key not in sub}
    try:
        found = validator.Validator(sub).violations(value, subject="it")
    except (InvalidDocument, RecursionError):
        return None
    return found[0].message if found else None


def _is_of(kind: str, value: JsonValue) -> bool:
    if kind in ("number", "integer"):
        return (
            not isinstance(value, bool)
            and isinstance(value, (int, float))
            and (kind == "number" or value == int(value))
        )
    wanted = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}[
        kind
    ]
    return isinstance(value, wanted)


@rule("schema-default", "error")
def _default(subject: Subject) -> Iterator[Found]:
    """A default is not valid for its own schema.

    Vespe fills in defaults before it validates the arguments, so every call without this argument
    is refused. For other programs, the default is a wrong example for the model. A default of null
    is a warning in definitions for other APIs.

    Bad: {"type": "integer", "default": "10"}
    Good: {"type": "integer", "default": 10}
    """
    for node in subject.nodes:
        if "default" not in node.schema:
            continue
        value = node.schema["default"]
        if why := _breaks(subject, node, value, without=("default", "examples", "example")):
            mild = value is None and subject.api != "vespe"
            yield Found(
                part=node.part,
                pointer=f"{node.pointer}/default",
                severity="warning" if mild else None,
                message=f"the default {short(value)} breaks its own schema: {why}",
                fix="give a default that the schema allows"
                + (", allow null in `type`," if value is None else "")
                + " or leave it out",
            )


@rule("schema-enum", "error")
def _enum(subject: Subject) -> Iterator[Found]:
    """The rest of the schema refuses a value of `enum`.

    If a model chooses this value, its call is refused. OpenAI refuses the whole schema. A null
    among other values is a warning in definitions for other APIs.

    Bad: {"type": "string", "enum": [1, 2]}
    Good: {"type": "string", "enum": ["1", "2"]}
    """
    for node in subject.nodes:
        values = node.schema.get("enum")
        if not isinstance(values, list):
            continue
        for index, value in enumerate(values[:1000]):
            if why := _breaks(
                subject, node, value, without=("default", "examples", "example", "enum")
            ):
                yield Found(
                    part=node.part,
                    pointer=f"{node.pointer}/enum/{index}",
                    severity="warning"
                    if value is None and subject.api != "vespe" and len(values) > 1
                    else None,
                    message=f"{short(value)} in `enum` is never valid: {why}",
                    fix="write it as a value of that type, or correct `type`",
                )


@rule("schema-const", "error")
def _const(subject: Subject) -> Iterator[Found]:
    """The rest of the schema refuses the value of `const`.

    No value is valid for both.

    Bad: {"type": "string", "const": 1}
    Good: {"const": 1}
    """
    for node in subject.nodes:
        if "const" in node.schema and (
            why := _breaks(
                subject,
                node,
                node.schema["const"],
                without=("default", "examples", "example", "const"),
            )
        ):
            yield Found(
                part=node.part,
                pointer=f"{node.pointer}/const",
                fix="write `const` as a value that the rest allows",
                message=f"`const` requires {short(node.schema['const'])}, which is not valid: "
                f"{why}",
            )


@rule("schema-contradiction", "error")
def _contradiction(subject: Subject) -> Iterator[Found]:
    """Constraints exclude each other.

    No value is valid, so every call with this argument is refused.

    Bad: {"type": "integer", "minimum": 10, "maximum": 1}
    Good: {"type": "integer", "minimum": 1, "maximum": 10}
    """
    for node in subject.nodes:
        schema = node.schema
        for low, high in _PAIRS:
            least, most = schema.get(low), schema.get(high)
            if (
                _number(least)
                and _number(most)
                and (least > most or (least == most and "exclusive" in low + high))
            ):
                yield Found(
                    part=node.part,
                    pointer=f"{node.pointer}/{high}",
                    fix=f"make `{low}` less than `{high}`",
                    message=f"`{low}` is {least} and `{high}` is {most}: no value satisfies both",
                )
        if schema.get("enum") == []:
            yield Found(
                part=node.part,
                pointer=f"{node.pointer}/enum",
                message="`enum` is empty: no value is allowed",
                fix="list the values, or leave `enum` out",
            )
        yield from _disjoint(node)
        required, properties = schema.get("required"), schema.get("properties")
        if isinstance(required, list) and isinstance(properties, dict):
            for index, name in enumerate(required):
                if isinstance(name, str) and properties.get(name) is False:
                    yield Found(
                        part=node.part,
                        pointer=f"{node.pointer}/required/{index}",
                        fix="allow it, or do not require it",
                        message=f"{short(name)} is required but not allowed",
                    )


def _disjoint(node: Node) -> Iterator[Found]:
    """Find parts of `allOf` whose types no value can have at once."""
    parts = [node.schema, *(sub for sub in _listed(node.schema, "allOf"))]
    allowed: set[str] | None = None
    for part in parts:
        kinds = part.get("type") if isinstance(part, dict) else None
        listed = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else ()
        names = {kind for kind in listed if isinstance(kind, str)}
        if not names <= set(_TYPES) or not names:
            continue
        names |= {"integer"} if "number" in names else set()
        allowed = names if allowed is None else allowed & names
    if allowed is not None and not allowed:
        yield Found(
            part=node.part,
            pointer=f"{node.pointer}/allOf",
            message="the types in `allOf` exclude each other: no value has all of them",
            fix="write `anyOf` if one of them is enough",
        )


def _listed(schema: dict[str, Any], key: str) -> list[Any]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


@rule("schema-duplicate", "warning")
def _duplicates(subject: Subject) -> Iterator[Found]:
    """`enum` or `required` contains a value twice.

    Drafts before 2019-09 forbid this, some APIs refuse it, and it confuses readers.

    Bad: {"enum": ["a", "b", "a"]}
    Good: {"enum": ["a", "b"]}
    """
    for node in subject.nodes:
        for key in ("enum", "required"):
            seen: set[str] = set()
            values = node.schema.get(key)
            for index, value in enumerate(values if isinstance(values, list) else ()):
                text = f"{type(value).__name__}{value!r}"
                if text in seen:
                    yield Found(
                        part=node.part,
                        pointer=f"{node.pointer}/{key}/{index}",
                        message=f"`{key}` contains {short(value)} twice",
                        fix="remove one",
                    )
                seen.add(text)


def _number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@rule("schema-no-effect", "warning")
def _without_effect(subject: Subject) -> Iterator[Found]:
    """A keyword has no effect for the type.

    For example, `minLength` is ignored for numbers, so the intended constraint does not apply.

    Bad: {"type": "integer", "minLength": 1}
    Good: {"type": "integer", "minimum": 1}
    """
    for node in subject.nodes:
        kinds = node.schema.get("type")
        names = (
            {kinds}
            if isinstance(kinds, str)
            else set(map(str, kinds))
            if isinstance(kinds, list)
            else set()
        )
        if not names or not names <= set(_TYPES):
            continue
        for key, wanted in _EFFECT.items():
            if key in node.schema and not names & set(wanted):
                yield Found(
                    part=node.part,
                    pointer=f"{node.pointer}/{key}",
                    fix=f"remove `{key}`, or correct `type`",
                    message=f"`{key}` has no effect on {' or '.join(sorted(names))}; it "
                    f"applies to {' and '.join(wanted)}",
                )


@rule("schema-unreachable", "warning")
def _unreachable(subject: Subject) -> Iterator[Found]:
    """A part of the schema never applies.

    Most often the condition of this part is missing.

    Bad: {"then": {"required": ["b"]}}
    Good: {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
    """
    for node in subject.nodes:
        for key, needs in _NEEDS:
            if key in node.schema and needs not in node.schema:
                yield Found(
                    part=node.part,
                    pointer=f"{node.pointer}/{key}",
                    message=f"`{key}` never applies, because there is no `{needs}`",
                    fix=f"add `{needs}`, or remove `{key}`",
                )
        for key in ("anyOf", "oneOf"):
            subs = _listed(node.schema, key)
            for index, sub in enumerate(subs[:100]):
                if sub in subs[:index]:
                    what = (
                        "no value can match exactly one of the two"
                        if key == "oneOf"
                        else "the second has no effect"
                    )
                    yield Found(
                        part=node.part,
                        pointer=f"{node.pointer}/{key}/{index}",
                        fix="remove one of the two",
                        message=f"`{key}` contains this schema twice: {what}",
                    )
                elif key == "anyOf" and sub in ({}, True) and len(subs) > 1:
                    yield Found(
                        part=node.part,
                        pointer=f"{node.pointer}/{key}/{index}",
                        fix="remove it, or all the others",
                        message="this part of `anyOf` allows everything, so the others have "
                        "no effect",
                    )


@rule("schema-example", "warning")
def _schema_examples(subject: Subject) -> Iterator[Found]:
    """An example is not valid for its schema.

    Models follow examples more than rules.

    Bad: {"type": "integer", "examples": ["1"]}
    Good: {"type": "integer", "examples": [1]}
    """
    for node in subject.nodes:
        values = [
            (f"/examples/{i}", v) for i, v in enumerate(_listed(node.schema, "examples")[:100])
        ]
        values += [("/example", node.schema["example"])] if "example" in node.schema else []
        for at, value in values:
            if why := _breaks(subject, node, value, without=("default", "examples", "example")):
                yield Found(
                    part=node.part,
                    pointer=f"{node.pointer}{at}",
                    message=f"the example {short(value)} breaks its own schema: {why}",
                    fix="give an example that the schema allows",
                )


@rule("schema-tool-example", "error")
def _tool_examples(subject: Subject) -> Iterator[Found]:
    """An example of the tool is not valid for its schemas.

    `vespe tool test` runs the examples, and this one always fails.

    Bad: "examples": [{"input": {"count": "3"}}]
    Good: "examples": [{"input": {"count": 3}}]
    """
    examples = (
        subject.document.get("examples")
        if subject.api == "vespe" and isinstance(subject.document, dict)
        else None
    )
    for index, example in enumerate(examples if isinstance(examples, list) else ()):
        if not isinstance(example, dict) or "error" in example:
            continue
        for key, part, schema in (
            ("input", "input_schema", subject.input_schema),
            ("output", "output_schema", subject.output_schema),
        ):
            if key in example and part in subject.pointers and isinstance(schema, dict):
                yield from _example(f"/{index}/{key}", example[key], schema, closed=key == "input")


def _example(at: str, value: JsonValue, schema: dict[str, Any], *, closed: bool) -> Iterator[Found]:
    try:
        found = validator.Validator(
            validator.closed_schema(schema) if closed else schema
        ).violations(value, subject=f"`{at[3:]}`")
    except (InvalidDocument, RecursionError):
        return
    for problem in found:
        yield Found(
            part="examples",
            pointer=at + problem.pointer if _is_there(value, problem.pointer) else at,
            message=f"the example breaks the tool's schema: {problem.message}",
            fix="correct the example, or state the expected `error`",
        )


def _is_there(value: JsonValue, pointer: str) -> bool:
    return not pointer or (
        isinstance(value, dict) and pointer.count("/") == 1 and pointer[1:] in value
    )
