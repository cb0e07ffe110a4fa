"""Lint rules on what a schema is: types that exist, a root that is an object, references that lead
somewhere, bounds.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from vespe.adapters.large_results.references import KEY, takes_as_it_is
from vespe.documents.pointers import pointer_to, resolve_pointer
from vespe.features.lint.base import Found, SchemaProblem, Subject, rule
from vespe.models import Severity
from vespe.schemas.explain import describe, short
from vespe.schemas.subschemas import IN_PLACE, REFERENCES

TYPES: Final = frozenset(("string", "number", "integer", "boolean", "object", "array", "null"))
_MEANT: Final = {
    "object": "dict dictionary map hashmap hash struct json jsonobject record mapping class",
    "number": "float double decimal real num numeric float32 float64 bigdecimal",
    "integer": "int long short byte bigint uint int32 int64 biginteger",
    "string": "str text char character varchar uuid date datetime time timestamp url "
    "uri email file path enum",
    "array": "list tuple arraylist vector sequence set collection iterable",
    "boolean": "bool flag",
    "null": "none nil void undefined nonetype",
}
TYPE_MEANT: Final = {word: name for name, words in _MEANT.items() for word in words.split()}
"""From a name that other languages give a type, in lower case, to JSON Schema's."""
_ANY: Final = frozenset(("any", "unknown", "mixed", "variant"))
_GENERIC: Final = re.compile(r"([A-Za-z]+)\s*[\[<(].*")
_NEEDS_SCHEMA: Final = ("vespe", "mcp", "anthropic")
_RULE_OF: Final = {
    "pattern": "pattern",
    "bound": "bounds",
    "draft": "dialect",
    "reference": "reference",
    "unusable": "reference",
    "root": "root",
}
"""Which rule speaks of a schema's problem, by its code; what is malformed is sorted by its
place.
"""
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_SCHEMA_HERE: Final = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "additionalItems",
)
_SCHEMAS_BELOW: Final = (
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
)
_NUMBERS: Final = frozenset(
    (
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    )
)
_KNOWN: Final = frozenset(
    (
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "default",
        "description",
        "title",
        "examples",
        "format",
        "pattern",
        "additionalProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "$ref",
        "$defs",
        "definitions",
        "$schema",
        "$id",
        "$anchor",
        "$comment",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "propertyNames",
        "prefixItems",
        "contains",
        "minContains",
        "maxContains",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "unevaluatedProperties",
        "unevaluatedItems",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentMediaType",
        "contentEncoding",
        "contentSchema",
        "additionalItems",
        "$dynamicRef",
        "$dynamicAnchor",
        "$recursiveRef",
        "$recursiveAnchor",
        "$vocabulary",
        "id",
        "nullable",
        "example",
        "discriminator",
        "xml",
        "externalDocs",
        "strict",
    )
)
_TYPOS: Final = {
    "optional": "leave the name out of `required` at the object above",
    "desc": "write `description`",
    "descripton": "write `description`",
    "decription": "write `description`",
    "discription": "write `description`",
    "propertys": "write `properties`",
    "propeties": "write `properties`",
    "propreties": "write `properties`",
    "property": "write `properties`",
    "params": "write `properties`",
    "parameters": "write `properties`",
    "requried": "write `required`",
    "require": "write `required`",
    "requires": "write `required`",
    "enums": "write `enum`",
    "options": "write `enum`",
    "choices": "write `enum`",
    "values": "write `enum`",
    "item": "write `items`",
    "min": "write `minimum`",
    "max": "write `maximum`",
    "minlength": "write `minLength`",
    "maxlength": "write `maxLength`",
    "additional_properties": "write `additionalProperties`",
    "additionalproperties": "write `additionalProperties`",
    "any_of": "write `anyOf`",
    "one_of": "write `oneOf`",
    "all_of": "write `allOf`",
    "regex": "write `pattern`",
    "anyof": "write `anyOf`",
    "oneof": "write `oneOf`",
    "allof": "write `allOf`",
    "min_length": "write `minLength`",
    "max_length": "write `maxLength`",
    "min_items": "write `minItems`",
    "max_items": "write `maxItems`",
}


def meant(name: str) -> str | None:
    """Return the JSON Schema type that a type of another language stands for; "" for any value,
    None where nobody knows.
    """
    plain = name.strip()
    generic = _GENERIC.fullmatch(plain)
    word = (generic[1] if generic else plain).lower()
    if word in _ANY:
        return ""
    return word if word in TYPES else TYPE_MEANT.get(word)


def types_of(schema: dict[str, Any]) -> list[Any]:
    """Return the entries of `type`, [] where there is none."""
    value = schema.get("type", [])
    return value if isinstance(value, list) else [value]


def _is_known(name: Any, api: str) -> bool:
    return isinstance(name, str) and (
        name in TYPES or (api == "gemini" and name.isupper() and name.lower() in TYPES)
    )


@rule("schema-missing", "error")
def _missing(subject: Subject) -> Iterator[Found]:
    """A tool has no input schema.

    Without a schema, a model does not know what to send, and invented arguments cannot be refused.
    Vespe, MCP and Anthropic refuse such a definition; for other APIs it is a warning.

    Bad: {"name": "now", "description": "Tell the time."}
    Good: {"name": "now", "description": "Tell the time.", "inputSchema": {"type": "object",
    "properties": {}}}
    """
    if "input_schema" not in subject.pointers:
        custom = isinstance(subject.document, dict) and "custom" in subject.document
        if not custom:
            yield Found(
                message="has no input schema, so a model does not know what to send",
                fix='give an object, at the least {"type": "object", "properties": {}}',
                severity="error" if subject.api in _NEEDS_SCHEMA else "warning",
            )


@rule("schema-root", "error")
def _root_type(subject: Subject) -> Iterator[Found]:
    """The root of the input schema is not of type object.

    The inputs of a tool have names, so every API requires an object at the root and refuses other
    schemas.

    Bad: {"type": "dict", "properties": {"city": {"type": "string"}}}
    Good: {"type": "object", "properties": {"city": {"type": "string"}}}
    """
    schema, api = subject.input_schema, subject.api
    if "input_schema" not in subject.pointers:
        return
    if not isinstance(schema, dict):
        empty = schema is None and api not in _NEEDS_SCHEMA
        yield Found(
            part="input_schema",
            message=f"the input schema must be an object, not {describe(schema)}",
            fix='write {"type": "object", "properties": {…}}',
            severity="warning" if empty else None,
        )
    elif not any(
        isinstance(t, str) and (t.lower() if api == "gemini" else t) == "object"
        for t in [schema.get("type")]
    ):
        said = f"it is {describe(schema['type'])}" if "type" in schema else "it has none"
        yield Found(
            part="input_schema",
            pointer="/type" if "type" in schema else "",
            message='the root of the input schema must have "type": "object", '
            f"because a tool's inputs have names; {said}",
            fix='write "type": "object" at the root',
            severity="warning" if not schema and api not in _NEEDS_SCHEMA else None,
        )


@rule("schema-output", "error")
def _output_root(subject: Subject) -> Iterator[Found]:
    """The output schema is not a valid schema.

    Results are validated with the output schema, which must be a schema.

    Bad: "output": "string"
    Good: "output": {"type": "string"}
    """
    schema = subject.output_schema
    if "output_schema" in subject.pointers and not isinstance(schema, (dict, bool)):
        yield Found(
            part="output_schema",
            message=f"the output schema must be an object, not {describe(schema)}",
        )
    elif subject.api == "mcp" and isinstance(schema, dict) and schema.get("type") != "object":
        yield Found(
            part="output_schema",
            severity="warning",
            message='MCP\'s outputSchema has "type": '
            '"object" at its root in every revision before 2026',
            fix="wrap the result in an object",
        )


def _about(problem: SchemaProblem, subject: Subject) -> str:
    """Return the rule that a problem of the schema belongs to."""
    if problem.code in _RULE_OF:
        return _RULE_OF[problem.code]
    parent, _, last = problem.pointer.rpartition("/")
    if last in REFERENCES:
        return "reference"
    if last == "type" or parent.endswith("/type") or problem.pointer.startswith("/type/"):
        return "type" if _has_unknown_type(problem, subject) else "invalid"
    return "invalid"


def _has_unknown_type(problem: SchemaProblem, subject: Subject) -> bool:
    at = problem.pointer[: problem.pointer.rindex("/type")]
    node = next((n for n in subject.nodes if n.part == problem.part and n.pointer == at), None)
    return node is not None and any(
        not _is_known(name, subject.api) for name in types_of(node.schema)
    )


def _problems(subject: Subject, about: str) -> Iterator[SchemaProblem]:
    return (problem for problem in subject.schema_problems if _about(problem, subject) == about)


def _sentence(problem: SchemaProblem) -> str:
    return problem.message if problem.message.startswith("`") else f"the schema {problem.message}"


@rule("schema-unknown-type", "error")
def _unknown_type(subject: Subject) -> Iterator[Found]:
    """A type does not exist in JSON Schema.

    JSON Schema has seven types. Type names of programming languages (dict, float, tuple, any) make
    the whole schema invalid. APIs refuse the schema or silently ignore the type.

    Bad: {"type": "float"}
    Good: {"type": "number"}
    """
    for node in subject.nodes:
        listed = isinstance(node.schema.get("type"), list)
        for index, name in enumerate(types_of(node.schema)):
            if _is_known(name, subject.api):
                continue
            right = meant(name) if isinstance(name, str) else None
            fix = (
                f"write {short(right)}"
                if right
                else "remove `type`, so that every value is allowed"
                if right == ""
                else None
            )
            yield Found(
                part=node.part,
                pointer=f"{node.pointer}/type" + (f"/{index}" if listed else ""),
                message=f"{describe(name)} is not a type of JSON Schema: "
                f"{', '.join(sorted(TYPES))} are",
                fix=fix or f"write one of {', '.join(sorted(TYPES))}",
            )


@rule("schema-invalid", "error")
def _invalid(subject: Subject) -> Iterator[Found]:
    """A schema does not conform to its meta-schema.

    Each draft of JSON Schema defines the values of its keywords. The draft is the one in `$schema`,
    or 2020-12 by default.

    Bad: {"type": "object", "properties": {"city": {"type": "string", "required": true}}}
    Good: {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    """
    for problem in _problems(subject, "invalid"):
        yield Found(
            part=problem.part,
            pointer=problem.pointer,
            message=_sentence(problem),
            fix=_mend(problem, subject),
        )


def _mend(problem: SchemaProblem, subject: Subject) -> str | None:
    schema = subject.input_schema if problem.part == "input_schema" else subject.output_schema
    try:
        value = resolve_pointer(schema, problem.pointer)
    except (LookupError, ValueError):
        return None
    parent, _, last = problem.pointer.rpartition("/")
    if last == "required" and isinstance(value, (bool, str)):
        return "`required` is a list of names in the object that has `properties`"
    if not isinstance(value, str):
        return None
    if last in _NUMBERS:
        return (
            f"write {value} without quotes" if _NUMBER.fullmatch(value) else "write a number there"
        )
    is_schema = parent.rpartition("/")[2] in _SCHEMAS_BELOW or last in _SCHEMA_HERE
    return 'write a schema there: an object such as {"type": "string"}' if is_schema else None


@rule("schema-reference", "error")
def _reference(subject: Subject) -> Iterator[Found]:
    """A reference is broken, external or endless.

    Neither the model APIs nor Vespe fetch other documents. Every `$ref` must point to a place in
    the same document, and must not expand endlessly.

    Bad: {"$ref": "#/$defs/City"}
    Good: {"$ref": "#/$defs/City", "$defs": {"City": {"type": "string"}}}
    """
    fix = "put what it refers to under `$defs`, and refer to it as `#/$defs/NAME`"
    return _said(subject, "reference", foreign=None, fix=fix)


@rule("schema-dialect", "error")
def _dialect(subject: Subject) -> Iterator[Found]:
    """`$schema` names an unknown draft.

    A schema in an unknown dialect cannot be checked. Vespe knows drafts 4, 6, 7, 2019-09 and
    2020-12. In definitions for other APIs this is a warning, because the APIs ignore `$schema`.

    Bad: {"$schema": "https://example.com/my-dialect", "type": "object"}
    Good: {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
    """
    fix = "leave `$schema` out, or name a published draft"
    return _said(subject, "dialect", foreign="warning", fix=fix)


@rule("schema-bomb", "error")
def _bomb(subject: Subject) -> Iterator[Found]:
    """A schema is too large, too deep or has too many parts.

    A schema that takes seconds to validate one value blocks every caller. Vespe refuses it; in
    definitions for other APIs it is a warning.

    Bad: {"anyOf": [ …1,001 schemas… ]}
    Good: {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    """
    fix = "make it smaller: a model reads all of it before each call"
    return _said(subject, "bounds", foreign="warning", fix=fix)


def _said(subject: Subject, about: str, *, foreign: Severity | None, fix: str) -> Iterator[Found]:
    """Find a kind of problem; in definitions that are not ours it has the severity `foreign`."""
    for problem in _problems(subject, about):
        yield Found(
            part=problem.part,
            pointer=problem.pointer,
            message=_sentence(problem),
            fix=fix,
            severity=None if subject.api == "vespe" else foreign,
        )


@rule("schema-pattern", "error")
def _pattern(subject: Subject) -> Iterator[Found]:
    r"""A pattern cannot run in linear time.

    Look-around and back references can take exponential time, so Vespe and several APIs refuse
    them. In definitions for other APIs this is a warning.

    Bad: {"pattern": "^(?=.*\\d).+$"}
    Good: {"pattern": "\\d"}
    """
    for problem in _problems(subject, "pattern"):
        schema = subject.input_schema if problem.part == "input_schema" else subject.output_schema
        last = problem.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        pattern = resolve_pointer(schema, problem.pointer) if last == "pattern" else last
        malformed = not isinstance(pattern, str) or not _is_pattern(pattern)
        fix = (
            "correct the regular expression"
            if malformed
            else (
                "write it without look-around and back references, and check the rest in the tool"
            )
        )
        severity: Any = None if malformed or subject.api == "vespe" else "warning"
        yield Found(
            part=problem.part,
            pointer=problem.pointer,
            message=_sentence(problem),
            fix=fix,
            severity=severity,
        )


def _is_pattern(text: str) -> bool:
    """Whether a text is a regular expression of the kind that JSON Schema means (ECMA-262), as far
    as Python can tell.
    """
    plain = re.sub(r"\\[pP]\{[^}]*\}|\\u\{?[0-9A-Fa-f]+\}?|\\c[A-Za-z]|\\[/-]", "a", text)
    try:
        re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", plain).replace("\\k<", "(?P="))
    except (re.error, RecursionError, OverflowError):
        return "\\k<" in text
    return True


@rule("schema-result-reference", "warning")
def _result_reference(subject: Subject) -> Iterator[Found]:
    """An argument has a property `$result`, which Vespe uses to pass large results.

    `{"$result": "r7"}` as the value of an argument stands for a result that was too large for the
    model. If the argument's own schema has a property with this name, the value is passed
    unchanged, so a large result cannot be passed by its handle.

    Bad: {"properties": {"body": {"type": "object", "properties": {"$result": {"type": "string"}}}}}
    Good: {"properties": {"body": {"type": "object", "properties": {"result": {"type": "string"}}}}}
    """
    schema = subject.input_schema
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name in properties if isinstance(properties, dict) else ():
        if takes_as_it_is({"properties": properties}, name):
            yield Found(
                part="input_schema",
                pointer=pointer_to(("properties", name, "properties", KEY)),
                message=f"the argument {short(name)} has a property `{KEY}`, so no large result "
                "can be passed to it by its handle",
                fix="give the property another name",
            )


@rule("schema-open", "warning")
def _open(subject: Subject) -> Iterator[Found]:
    """The schema allows inputs that it does not describe.

    Models misspell and invent arguments. If unknown names are not allowed, the model gets an error
    that it can correct. In tools in Vespe's own format, a missing `additionalProperties` already
    means that they are not allowed.

    Bad: {"type": "object", "properties": {"city": {"type": "string"}}}
    Good: {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties":
    false}
    """
    schema = subject.input_schema
    if (
        not isinstance(schema, dict)
        or "unevaluatedProperties" in schema
        or meant(str(schema.get("type"))) != "object"
    ):
        return
    extra = schema.get("additionalProperties")
    if extra is True or extra == {}:
        yield Found(
            part="input_schema",
            pointer="/additionalProperties",
            message="the schema allows any input that a model invents",
            fix='write "additionalProperties": false, or describe the further inputs',
        )
    elif extra is None and subject.api != "vespe":
        yield Found(
            part="input_schema",
            message="`additionalProperties` is missing, so invented or misspelt inputs are "
            "accepted",
            fix='write "additionalProperties": false',
        )


@rule("schema-required-unknown", "warning")
def _required(subject: Subject) -> Iterator[Found]:
    """`required` contains a property that is not described.

    The model must send a value for this name, but does not know which. If no other names are
    allowed, no arguments are valid, and this is an error.

    Bad: {"properties": {"city": {"type": "string"}}, "required": ["town"]}
    Good: {"properties": {"city": {"type": "string"}}, "required": ["city"]}
    """
    for node in subject.nodes:
        names, properties = node.schema.get("required"), node.schema.get("properties", {})
        in_place = (
            bool(IN_PLACE & set(node.steps[-2:]))
            or "patternProperties" in node.schema
            or "$ref" in node.schema
        )
        if (
            not isinstance(names, list)
            or not isinstance(properties, dict)
            or in_place
            or IN_PLACE & node.schema.keys()
        ):
            continue
        root_closed = subject.api == "vespe" and not node.steps and node.part == "input_schema"
        closed = node.schema.get("additionalProperties", not root_closed) is False
        for index, name in enumerate(names):
            if isinstance(name, str) and name not in properties:
                what = (
                    "is required, but only described names are allowed, so no arguments are valid"
                    if closed
                    else "is required"
                )
                yield Found(
                    part=node.part,
                    pointer=f"{node.pointer}/required/{index}",
                    severity="error" if closed else None,
                    message=f"{short(name)} {what}, but `properties` does not describe it",
                    fix=f"describe {short(name)} in `properties`, or remove it from `required`",
                )


@rule("schema-keyword", "warning")
def _keyword(subject: Subject) -> Iterator[Found]:
    """A keyword looks like a misspelt known keyword.

    JSON Schema ignores unknown keywords, so a misspelt one silently has no effect.

    Bad: {"type": "string", "optional": true}
    Good: {"type": "string"}, not named in `required`
    """
    for node in subject.nodes:
        for key in node.schema:
            if key not in _KNOWN and (hint := _TYPOS.get(key) or _TYPOS.get(key.lower())):
                yield Found(
                    part=node.part,
                    pointer=f"{node.pointer}/{key}",
                    message=f"`{key}` is not a JSON Schema keyword, and is ignored",
                    fix=hint,
                )
