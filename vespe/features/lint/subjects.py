"""Makes what rules judge: of a tool directory, of a foreign definition, of the configuration of a
kit or a project.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.documents.pointers import pointer_to
from vespe.errors import InvalidDocument, StorageError
from vespe.features.lint.base import Node, Outline, SchemaProblem, Subject
from vespe.features.lint.foreign import Definition
from vespe.models import Implementation, JsonObject, JsonValue, Tool
from vespe.projects.view import View
from vespe.schemas import validator
from vespe.schemas.subschemas import walk
from vespe.tools import directory as tool_directory
from vespe.tools.directory import Problem
from vespe.tools.effects import FlowContext, reasons_of
from vespe.tools.secret_items import names_in

_MOST_NODES: Final = 4 * defaults.MAX_SUBSCHEMAS
_PARTS: Final = (
    "name",
    "description",
    "annotations",
    "examples",
    "implementation_details",
    "lint",
    "secrets",
    "permissions",
    "limits",
)
_INPUT: Final = "/schema/input"
_OUTPUT: Final = "/schema/output"


def of_tool(directory: str, *, kit_id: str | None) -> Subject:
    """Read a tool directory; `document` is None where its config.json cannot be read, and
    `problems` say why.
    """
    document, problems = tool_directory.check(directory, kit_id=kit_id)
    if document is None:
        return Subject(
            name=None,
            description=None,
            input_schema=None,
            output_schema=None,
            api="vespe",
            pointers={"": ""},
            document=None,
            directory=directory,
            kit_id=kit_id,
            problems=problems,
        )
    schema = document.get("schema")
    schema = schema if isinstance(schema, dict) else {}
    pointers = {"": ""} | {part: f"/{part}" for part in _PARTS if part in document}
    pointers |= {
        part: at
        for part, key, at in (
            ("input_schema", "input", _INPUT),
            ("output_schema", "output", _OUTPUT),
        )
        if key in schema
    }
    given, gives = schema.get("input"), schema.get("output")
    return Subject(
        name=_text(document.get("name")),
        description=_text(document.get("description")),
        input_schema=given,
        output_schema=gives,
        api="vespe",
        pointers=pointers,
        document=document,
        nodes=(*_nodes("input_schema", given), *_nodes("output_schema", gives)),
        schema_problems=_problems_beside(problems, given, gives, pointers),
        directory=directory,
        kit_id=kit_id,
        problems=problems,
    )


def of_definition(definition: Definition) -> Subject:
    """Return a foreign definition as a subject."""
    given, gives, pointers = definition.input_schema, definition.output_schema, definition.pointers
    upper = definition.api == "gemini"
    return Subject(
        name=definition.name,
        description=definition.description,
        input_schema=given,
        output_schema=gives,
        api=definition.api,
        pointers=pointers,
        document=definition.document,
        nodes=(*_nodes("input_schema", given), *_nodes("output_schema", gives)),
        schema_problems=()
        if upper
        else (
            *_problems("input_schema", given, pointers),
            *_problems("output_schema", gives, pointers),
        ),
    )


def of_config(
    path: str, *, api: str, problems: list[Problem], document: JsonObject | None
) -> Subject:
    """Return the configuration of a kit or a project (`api`), and what is wrong with it, as a
    subject.
    """
    return Subject(
        name=None,
        description=None,
        input_schema=None,
        output_schema=None,
        api=api,
        pointers={"": ""},
        document=document,
        directory=os.path.dirname(path),
        problems=problems,
    )


def read_config(path: str) -> tuple[JsonObject | None, list[Problem]]:
    """Read a configuration file; None and the reason where it cannot be."""
    try:
        return strict_json.read_object(path), []
    except InvalidDocument as error:
        return None, [Problem(os.path.basename(path), error.pointer, error.reason, error.line)]
    except StorageError as error:
        return None, [Problem("", "", str(error))]


_NOTHING_KNOWN: Final = FlowContext()


def outline(
    subject: Subject,
    *,
    scope: str,
    linted: bool,
    available: bool,
    view: View | None = None,
    around: FlowContext = _NOTHING_KNOWN,
) -> Outline:
    """Return what is kept of a subject for the rules over sets, as models see it where a project
    has a `view`.

    `around` is what the project and the user say for all of its tools.
    """
    own_name, tool, always = subject.name or "", _tool(subject, scope), False
    if view is not None and view.rules_about(subject.name, scope):
        seen = view.of(tool)
        available = available and view.exposure(tool) != "never"
        always = view.exposure(tool) == "always"
        subject = replace(
            subject, name=seen.name, description=seen.description, input_schema=seen.input_schema
        )
    shown = {
        "name": subject.name,
        "description": subject.description,
        "input_schema": subject.input_schema,
    }
    properties = (
        subject.input_schema.get("properties") if isinstance(subject.input_schema, dict) else None
    )
    effects = (
        reasons_of(tool, held=around.held, own_hosts=around.own_hosts)
        if subject.api == "vespe"
        else {}
    )
    return Outline(
        name=subject.name or "",
        description=subject.description or "",
        parameters=_names(properties),
        size=_size(shown),
        api=subject.api,
        scope=scope,
        directory=subject.directory,
        kit_id=subject.kit_id,
        linted=linted,
        available=available,
        own_name=own_name,
        effects={effect: reason.words for effect, reason in effects.items()},
        assumed=frozenset(effect for effect, reason in effects.items() if not reason.stated),
        queries=tuple(query for query in _list(tool.document, "queries") if isinstance(query, str)),
        always=always,
    )


def _tool(subject: Subject, scope: str) -> Tool:
    """Return a subject as a tool, as far as it is one."""
    document = subject.document if isinstance(subject.document, dict) else {}
    details = _object(document, "implementation_details")
    kind, entrypoint = details.get("type"), _text(details.get("entrypoint"))
    return Tool(
        uid="",
        name=subject.name or "",
        description=subject.description or "",
        input_schema=subject.input_schema if isinstance(subject.input_schema, dict) else {},
        implementation=Implementation(
            type=kind,
            path=_text(details.get("path")),
            entrypoint=entrypoint,
            args=_object(details, "args"),
        )
        if isinstance(kind, str)
        else None,
        scope=scope,
        secrets=names_in(document.get("secrets")),
        annotations=_object(document, "annotations"),
        permissions=_object(document, "permissions"),
        document=document,
    )


def _object(document: JsonObject, key: str) -> JsonObject:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _list(document: JsonObject, key: str) -> list[JsonValue]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _names(properties: JsonValue) -> tuple[str, ...]:
    """Return the names of properties, each held once in memory; YAML can say numbers, which are
    left out.
    """
    return (
        tuple(sys.intern(name) for name in properties if isinstance(name, str))
        if isinstance(properties, dict)
        else ()
    )


def _size(value: JsonValue) -> int:
    try:
        return len(strict_json.compact_json(value))
    except (ValueError, TypeError, RecursionError):  # YAML can say dates and infinities
        return len(str(value))


def _nodes(part: str, schema: JsonValue) -> Iterator[Node]:
    for steps, sub, depth, _ in walk(schema, most=_MOST_NODES):
        if isinstance(sub, dict):
            yield Node(part, pointer_to(steps), sub, depth, steps)


def _problems_beside(
    problems: list[Problem], given: JsonValue, gives: JsonValue, pointers: dict[str, str]
) -> tuple[SchemaProblem, ...]:
    """Judge the schemas of which the validator had something to say: its first complaint hides what
    else there is.
    """
    found: list[SchemaProblem] = []
    for part, schema, at in (("input_schema", given, _INPUT), ("output_schema", gives, _OUTPUT)):
        if any(problem.pointer.startswith(at) for problem in problems):
            found += _problems(part, schema, pointers)
    return tuple(found)


def _problems(part: str, schema: JsonValue, pointers: dict[str, str]) -> Iterator[SchemaProblem]:
    if part in pointers:
        yield from (
            SchemaProblem(part, found.pointer, found.message, found.code)
            for found in validator.check_schema(schema, root_object=False)
        )


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
