"""Lint rules: the subsets of JSON Schema that Gemini and Ollama read."""

from collections.abc import Iterator
from typing import Final

from vespe.adapters.limits import limits_on
from vespe.documents.pointers import pointer_to
from vespe.features.lint.base import Found, Subject
from vespe.features.lint.refusals import inputs, limit_rule, limits_for, refused, refused_at, types
from vespe.schemas.explain import short

_AS_JSON_SCHEMA: Final = "send the schema as `parametersJsonSchema`, which takes JSON Schema"
_NOT_KEYWORDS: Final = ("$schema", "$id", "$comment", "strict")


@limit_rule("portability-type-list", "root-one-type", "one-type")
def _types_of_gemini_and_ollama(subject: Subject) -> Iterator[Found]:
    """A list of types is used where an API accepts only one type.

    Gemini's `parameters` and the root schema for Ollama accept one type. Use `anyOf` instead, or
    for null Gemini's `nullable`.

    Bad: {"type": ["string", "null"]}
    Good: {"type": "string", "nullable": true}
    """
    root = subject.input_schema
    for limit in limits_on("root-one-type"):
        if isinstance(root, dict) and isinstance(root.get("type"), list):
            yield refused(
                limit,
                f"accepts {limit.words}, but no list",
                "input_schema",
                pointer="/type",
                fix='write `"type": "object"`',
            )
    for node in inputs(subject):
        for limit in limits_for("one-type", subject):
            if isinstance(node.schema.get("type"), list):
                fix = "use one type and `nullable`, or `anyOf`"
                yield refused_at(
                    limit,
                    subject,
                    node,
                    f"accepts {limit.words}, but no list of types",
                    more="/type",
                    fix=fix,
                )


@limit_rule("portability-values", "enum-texts", "formats")
def _values_of_gemini(subject: Subject) -> Iterator[Found]:
    """The API does not accept an enum or a format.

    Gemini's `parameters` accept only enums of strings, and have refused most formats.

    Bad: {"type": "integer", "enum": [1, 2]}
    Good: {"type": "integer", "minimum": 1, "maximum": 2}
    """
    for node in inputs(subject):
        values, wanted = node.schema.get("enum"), node.schema.get("format")
        for limit in limits_for("enum-texts", subject):
            if isinstance(values, list) and not all(isinstance(value, str) for value in values):
                yield refused_at(
                    limit,
                    subject,
                    node,
                    f"takes {limit.words}",
                    more="/enum",
                    fix="write the values as strings, or as a range",
                )
        for limit in limits_for("formats", subject):
            if (
                isinstance(wanted, str)
                and wanted not in limit.value
                and "string" in map(str.lower, types(node.schema))
            ):
                yield refused_at(
                    limit,
                    subject,
                    node,
                    f"has accepted only {limit.words}; {short(wanted)} may be refused",
                    more="/format",
                )


@limit_rule("portability-boolean-property", "property-object")
def _boolean_properties(subject: Subject) -> Iterator[Found]:
    """A property's schema is true or false.

    Ollama reads the schema of each property as an object, and refuses the request otherwise.

    Bad: {"properties": {"any": true}}
    Good: {"properties": {"any": {}}}
    """
    for node in inputs(subject):
        named = node.schema.get("properties")
        for name, schema in named.items() if isinstance(named, dict) and node.depth == 1 else ():
            for limit in limits_on("property-object") if isinstance(schema, bool) else ():
                where = pointer_to(("properties", name))
                yield refused(
                    limit,
                    f"takes {limit.words}, not {short(schema)}",
                    "input_schema",
                    pointer=where,
                    fix="write `{}`",
                )


@limit_rule("portability-keyword", "keywords")
def _keywords_of_gemini(subject: Subject) -> Iterator[Found]:
    """Gemini's `parameters` do not support a keyword of the schema.

    They support only OpenAPI's subset of JSON Schema, and any other keyword makes Gemini refuse the
    request. `parametersJsonSchema` supports them.

    Bad: {"type": "string", "const": "a"}
    Good: {"type": "string", "enum": ["a"]}
    """
    # One finding for all keywords, at the first of them; where JSON Schema is sent there is none.
    own = subject.api == "gemini"
    elsewhere = {word for other in limits_on("keywords-somewhere") for word in other.value}
    for limit in limits_for("keywords", subject):
        known = limit.value | elsewhere
        unknown = {
            word: at
            for word, at in _first_places(subject).items()
            if word not in known and (own or _is_keyword(word))
        }
        if unknown:
            message = f"takes {limit.words}, which has no {', '.join(sorted(unknown))}"
            severity = limit.severity if own else "info"
            yield refused(
                limit,
                message,
                "input_schema",
                pointer=min(unknown.values()),
                severity=severity,
                fix=_AS_JSON_SCHEMA,
            )
    for limit in limits_for("keywords-somewhere", subject) if own else ():
        places = {word: at for word, at in _first_places(subject).items() if word in limit.value}
        if places:
            message = f"takes {', '.join(sorted(places))} in `parameters` {limit.words}"
            yield refused(
                limit, message, "input_schema", pointer=min(places.values()), fix=_AS_JSON_SCHEMA
            )


def _first_places(subject: Subject) -> dict[str, str]:
    places: dict[str, str] = {}
    for node in inputs(subject):
        for keyword in node.schema:
            places.setdefault(keyword, f"{node.pointer}{pointer_to((keyword,))}")
    return places


@limit_rule("portability-dropped-keyword", "keywords-dropped")
def _keywords_of_ollama(subject: Subject) -> Iterator[Found]:
    """Ollama does not pass a keyword on to the model.

    Ollama reads only a few keywords of each property. For example, an argument that is defined with
    `$ref` reaches the model without a type.

    Bad: {"properties": {"at": {"$ref": "#/$defs/place"}}}
    Good: {"properties": {"at": {"type": "string"}}}
    """
    for node in inputs(subject):
        for limit in (
            limits_on("keywords-dropped")
            if "items" not in node.steps and "$defs" not in node.steps
            else ()
        ):
            for keyword in sorted(limit.value & node.schema.keys()):
                message = f"does not pass `{keyword}` on to the model: {limit.words}"
                where = f"{node.pointer}{pointer_to((keyword,))}"
                yield refused(
                    limit,
                    message,
                    "input_schema",
                    pointer=where,
                    fix="write the alternatives directly, with `anyOf` if they differ",
                )


def _is_keyword(word: str) -> bool:
    return word not in _NOT_KEYWORDS and not word.startswith("x-")
