"""Lint rules: what each model's API refuses of a definition that is right in itself, by the table
of limits.
"""

import re
from collections.abc import Iterator
from typing import Final

from vespe.adapters.limits import Limit, limits_on
from vespe.documents.pointers import pointer_to
from vespe.features.lint.base import Found, Subject
from vespe.features.lint.refusals import inputs, limit_rule, limits_for, refused, refused_at, types
from vespe.schemas import validator
from vespe.schemas.explain import short

_CURRENT: Final = "https://json-schema.org/draft/2020-12/schema"


@limit_rule("portability-name", "name-characters", "name-first")
def _names(subject: Subject) -> Iterator[Found]:
    """A tool's name has characters that an API refuses.

    The API refuses the whole request because of one such name. Letters, digits and _ work
    everywhere.

    Bad: {"name": "weather.get"}
    Good: {"name": "weather_get"}
    """
    name = subject.name or ""
    for about, fits in (("name-characters", re.fullmatch), ("name-first", re.match)):
        for limit in limits_on(about) if name else ():
            if not _is_named_elsewhere(subject, limit) and not fits(limit.value, name):
                yield refused(
                    limit,
                    f"takes {limit.words} in a tool's name, not {short(name)}",
                    "name",
                    fix=_rename(name),
                )


@limit_rule("portability-name-length", "name-length")
def _name_lengths(subject: Subject) -> Iterator[Found]:
    """A tool's name is too long for an API.

    Clients also add a prefix to the name, so leave some room.

    Bad: {"name": "a name of 65 characters or more"}
    Good: {"name": "get_weather"}
    """
    length = len(subject.name or "")
    for limit in limits_on("name-length"):
        if length > limit.value and not _is_named_elsewhere(subject, limit):
            yield refused(
                limit,
                f"takes {limit.words} in a tool's name; this one has {length}",
                "name",
                fix="shorten the name",
            )


def _is_named_elsewhere(subject: Subject, limit: Limit) -> bool:
    """Whether the rules on names say it already: of Vespe's own tools, of a shape that is no API's,
    and of MCP's in MCP's shape.
    """
    return (
        subject.api == "vespe"
        or limit.api == subject.api == "mcp"
        or (subject.api == "bare" and limit.about != "name-first")
    )


def _rename(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64]
    plain = plain if not plain[:1].isdigit() else f"_{plain}"
    return (
        f"rename it, for instance {plain}" if plain else "give it a name of letters, digits and _"
    )


@limit_rule("portability-root-keyword", "root-keywords")
def _root_keywords(subject: Subject) -> Iterator[Found]:
    """The root of the input schema has a keyword that an API refuses there.

    OpenAI and Anthropic refuse the whole request if the root has alternatives, although JSON Schema
    allows them.

    Bad: {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    Good: {"type": "object", "properties": {}}
    """
    schema = subject.input_schema
    for limit in limits_on("root-keywords") if isinstance(schema, dict) else ():
        for keyword in sorted(limit.value & schema.keys()):
            yield refused(
                limit,
                f"takes {limit.words} at the root of a tool's schema",
                "input_schema",
                pointer=pointer_to((keyword,)),
                fix=f"move `{keyword}` into a property, or describe it in the description and "
                "check it in the tool",
            )


@limit_rule("portability-root-properties", "root-properties")
def _root_properties(subject: Subject) -> Iterator[Found]:
    """The input schema has no `properties`.

    OpenAI's models have refused object schemas without `properties`. An empty object is enough.

    Bad: {"type": "object"}
    Good: {"type": "object", "properties": {}}
    """
    schema = subject.input_schema
    if (
        not isinstance(schema, dict)
        or schema.get("type") != "object"
        or "properties" in schema
        or subject.api == "vespe"
    ):
        return
    for limit in limits_on("root-properties"):
        yield refused(
            limit,
            f"takes {limit.words}, in a tool's schema",
            "input_schema",
            fix='add `"properties": {}`',
        )


@limit_rule("portability-argument-name", "property-name")
def _property_names(subject: Subject) -> Iterator[Found]:
    """An argument's name has characters that an API refuses.

    Anthropic checks the names of a tool's arguments, and refuses the whole request because of one
    invalid name.

    Bad: {"properties": {"filter[id]": {}}}
    Good: {"properties": {"filter.id": {}}}
    """
    for node in inputs(subject):
        named = node.schema.get("properties")
        for name in named if isinstance(named, dict) else ():
            for limit in limits_on("property-name"):
                if not re.fullmatch(limit.value, name):
                    severity = limit.severity if not node.steps else "warning"
                    where = f"{node.pointer}{pointer_to(('properties', name))}"
                    message = f"takes {limit.words}, not {short(name)}"
                    yield refused(
                        limit,
                        message,
                        "input_schema",
                        pointer=where,
                        severity=severity,
                        fix="rename the argument",
                    )


@limit_rule("portability-array-items", "array-items")
def _array_items(subject: Subject) -> Iterator[Found]:
    """An array does not describe its items.

    OpenAI and Gemini refuse an array without `items`, and other models have to guess the items.

    Bad: {"type": "array"}
    Good: {"type": "array", "items": {"type": "string"}}
    """
    for node in inputs(subject):
        if (
            "array" in types(node.schema)
            and "items" not in node.schema
            and "prefixItems" not in node.schema
        ):
            for limit in limits_for("array-items", subject):
                fix = 'describe the array\'s items, such as `"items": {"type": "string"}`'
                yield refused_at(
                    limit, subject, node, f"takes {limit.words}, which is missing here", fix=fix
                )


@limit_rule("portability-older-draft", "draft")
def _older_draft(subject: Subject) -> Iterator[Found]:
    """A schema is valid in its own draft, but not in 2020-12.

    Anthropic reads every schema as 2020-12 and ignores `$schema`.

    Bad: {"items": [{"type": "string"}]}
    Good: {"prefixItems": [{"type": "string"}]}
    """
    schema = subject.input_schema
    draft = schema.get("$schema") if isinstance(schema, dict) else None
    if (
        not isinstance(draft, str)
        or draft.rstrip("#") == _CURRENT
        or any(p.part == "input_schema" for p in subject.schema_problems)
    ):
        return
    for problem in validator.check_schema({**schema, "$schema": _CURRENT}, root_object=False)[:3]:
        for limit in limits_on("draft"):
            message = f"takes {limit.words}; by that, {problem.message}"
            yield refused(
                limit,
                message,
                "input_schema",
                pointer=problem.pointer,
                fix="write it as 2020-12 requires",
            )


@limit_rule("portability-header", "header-name")
def _headers(subject: Subject) -> Iterator[Found]:
    """MCP does not allow the header of an argument.

    Since revision 2026-07-28, clients over HTTP also send such arguments as headers, and must
    ignore a tool with an invalid header.

    Bad: {"type": "string", "x-mcp-header": "my region"}
    Good: {"type": "string", "x-mcp-header": "Region"}
    """
    # Judge each `x-mcp-header`: clients over HTTP leave out a tool with a wrong one.
    seen: dict[str, str] = {}
    for node in inputs(subject):
        if "x-mcp-header" in node.schema:
            name = node.schema["x-mcp-header"]
            before = seen.setdefault(str(name).lower(), node.pointer)
            for limit in limits_on("header-name"):
                if not isinstance(name, str) or not re.fullmatch(limit.value, name):
                    why = f"takes {limit.words} in `x-mcp-header`, not {short(name)}"
                elif before != node.pointer:
                    why = f"takes each header once, and {short(name)} is also used at {before}"
                elif not set(types(node.schema)) <= {"string", "integer", "boolean", "null"}:
                    why = "takes headers only for strings, integers and booleans"
                else:
                    continue
                yield refused(
                    limit,
                    why,
                    "input_schema",
                    pointer=f"{node.pointer}/x-mcp-header",
                    fix="remove the header, or correct it",
                )
