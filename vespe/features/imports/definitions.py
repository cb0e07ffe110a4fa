"""Tools from definitions that a model's API or an MCP server takes: which of a file become tools,
as drafts, and all of them made, or none.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from vespe import defaults, errors
from vespe.adapters import definition_shapes
from vespe.documents import safe_yaml, strict_json
from vespe.documents.near import join_words, near
from vespe.features.imports import docker_mcp, recognition, utcp
from vespe.features.imports.made import Selection
from vespe.lazy import shlex
from vespe.models import JsonObject, JsonValue, Tool
from vespe.processes.signals import uninterruptible
from vespe.projects import project, project_tools
from vespe.projects.workspace import project_has
from vespe.schemas import validator
from vespe.tools import authoring, directory
from vespe.tools.drafts import Draft, check_name

MAX_BYTES: Final = 16 * defaults.MAX_FILE_BYTES
_OUTSIDE_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
_MEND: Final = (
    "`vespe lint FILE` tells more, and --fix corrects what is safe; "
    "or name the tools to import after FILE"
)
_ELSE: Final = (
    "`vespe kit import SOURCE --id KIT` takes an API's description (OpenAPI, "
    "JSON or YAML), a manual or a directory of tools"
)
_ANY_UID: Final = "tool-" + "0" * 32
"""Stands for the uid, which a tool gets only when it is made."""


def read_drafts(
    data: bytes, names: Sequence[str], *, path: str, warn: Callable[[str], None]
) -> list[Draft]:
    """Return drafts of the tools that a file defines, JSON, a JSON value a line, or YAML: of those
    with the names, or of all. `warn` is told of a name that has to be another one here, and of what
    of a UTCP manual or a list of the Docker MCP registry is left out.

    Raises InvalidDocument, with every definition that cannot be a tool, ToolNotFound for a name
    that is not defined, UsageError for what can be no name.
    """
    drafts, problems = [], []
    document = _parsed(data, path)
    if (kind := _catalogue(document)) is not None:
        return _of_catalogue(kind, names, path=path, warn=warn)
    for pointer, definition in _definitions(document, path, names):
        try:
            drafts.append(_draft(definition_shapes.read_definition(definition), warn))
        except errors.UsageError as error:
            raise errors.UsageError(
                f"{path}: {pointer or 'the document'}: {error}", hint=error.hint
            ) from None
        except errors.InvalidDocument as error:
            problems.append(f"{pointer or 'the document'}: {error}")
    if problems or not drafts:
        raise errors.InvalidDocument(
            "; ".join(problems) or "holds no definition of a tool",
            path=path,
            hint=_MEND.replace("FILE", shlex.quote(path)) if problems else _ELSE,
        )
    return drafts


def check_new(root: str, drafts: Sequence[Draft], *, path: str) -> None:
    """Raise UsageError where the project at `root` has a tool of such a name already, or two of the
    drafts would have the same.
    """
    for name in (draft.name for draft in drafts):
        if project_has(root, name):
            raise errors.UsageError(
                f"there is already a tool called {name!r} here",
                hint="name the tools to import after FILE",
            )
        if sum(draft.name == name for draft in drafts) > 1:
            raise errors.UsageError(
                f"{path} defines {name!r} twice",
                hint="name the tools to import after FILE, or correct the file",
            )


def make_all(root: str, drafts: Iterable[Draft]) -> list[Tool]:
    """Make every tool, or none: what ends it midway, a full disk or the user, takes away those that
    were made.
    """
    made: list[Tool] = []
    with contextlib.ExitStack() as undo:
        for draft in drafts:
            with uninterruptible():
                made.append(project_tools.create_tool(root, draft))
                undo.callback(authoring.remove_tool, project.tools_dir(root), made[-1].uid)
        undo.pop_all()
    return made


def _parsed(data: bytes, path: str) -> JsonValue:
    """Read a file by its ending; one that says nothing else is JSON, or a JSON value a line."""
    try:
        if path.endswith((".yaml", ".yml")):
            return safe_yaml.parse_yaml(data, path=path, limit=MAX_BYTES)
        if path.endswith((".jsonl", ".ndjson")):
            return _lines(data, path)
        try:
            return strict_json.parse_json(data, path=path, limit=MAX_BYTES)
        except errors.InvalidDocument:
            if not data.lstrip().startswith(b"{"):
                raise
            with contextlib.suppress(errors.InvalidDocument):
                return _lines(data, path)
            raise
    except errors.InvalidDocument as error:
        raise errors.InvalidDocument(
            error.reason, path=path, line=error.line, column=error.column, hint=_ELSE
        ) from None


def _lines(data: bytes, path: str) -> JsonValue:
    found = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(strict_json.parse_json(line, path=path, limit=MAX_BYTES))
        except errors.InvalidDocument as error:
            raise errors.InvalidDocument(
                error.reason, path=path, line=number, column=error.column
            ) from None
    return found


def _catalogue(document: JsonValue) -> str | None:
    """Return the kind of import that reads definitions in no shape of a model's API."""
    if utcp.is_manual(document):
        return "utcp"
    shorthand = isinstance(document, list) and any(
        isinstance(tool, dict) and isinstance(tool.get("arguments"), list) for tool in document
    )
    return "docker-mcp" if shorthand and docker_mcp.is_list(document) else None


def _of_catalogue(
    kind: str, names: Sequence[str], *, path: str, warn: Callable[[str], None]
) -> list[Draft]:
    """Read tools as `vespe kit import` does; raises as `read_drafts` does."""
    try:
        imported = recognition.import_from(path, kit_id="project", kind=kind, selection=Selection())
    except errors.StorageError:
        raise errors.InvalidDocument("must be a file", path=path, hint=_ELSE) from None
    known = {made.name: made for made in imported.tools}
    if missing := [name for name in names if name not in known]:
        raise errors.ToolNotFound(missing[0], searched=(path,), close=near(missing[0], known))
    wanted = [made for name, made in known.items() if not names or name in names]
    for left in imported.left_out:
        warn(f"{left.what} is left out: {left.reason}")
    for note in (*imported.notes, *(f"{m.name}: {note}" for m in wanted for note in m.notes)):
        warn(note)
    problems = [
        f"{made.source}: {problem}"
        for made in wanted
        if (problem := _problem(made.document)) is not None
    ]
    if problems or not wanted:
        raise errors.InvalidDocument(
            "; ".join(problems) or "holds no tool that Vespe could make", path=path
        )
    return [Draft(name=made.name, document=made.document, files=made.files) for made in wanted]


def _problem(document: JsonObject) -> str | None:
    """Say what is wrong with a config.json but for its uid."""
    config = strict_json.dump_json({"uid": _ANY_UID, **document}).encode()
    return directory.verdict(config, uid=_ANY_UID, kit_id=None).problem


def _definitions(
    document: JsonValue, path: str, names: Sequence[str]
) -> list[tuple[str, JsonValue]]:
    if isinstance(document, dict) and not document.keys().isdisjoint(("openapi", "swagger")):
        raise errors.InvalidDocument(
            "is an API description and contains no tool definitions", path=path, hint=_ELSE
        )
    found = list(definition_shapes.definitions_in(document))
    known = [str(_name(definition)) for _, definition in found]
    if missing := [name for name in names if name not in known]:
        close = near(missing[0], known)
        raise errors.ToolNotFound(
            missing[0],
            searched=(path,),
            close=close,
            hint="" if close else f"it defines {join_words(known, see=f'see {path}')}",
        )
    return [
        (pointer, definition)
        for pointer, definition in found
        if not names or _name(definition) in names
    ]


def _name(definition: JsonValue) -> JsonValue:
    held = definition.get("function", definition) if isinstance(definition, dict) else {}
    return held.get("name") if isinstance(held, dict) else None


def _draft(tool: Tool, warn: Callable[[str], None]) -> Draft:
    """Return the draft of a foreign tool; raises UsageError for its name, InvalidDocument for what
    no config.json may hold.
    """
    _check_schemas(tool)
    name = _OUTSIDE_NAMES.sub("_", tool.name)
    check_name(name)
    document: JsonObject = {**tool.document, "name": name}
    if problem := _problem(document):
        raise errors.InvalidDocument(problem, path=f"the tool {tool.name!r}")
    if name != tool.name:
        warn(f"{tool.name!r} is not a valid tool name here; it becomes {name}")
    return Draft(name=name, document=document)


def _check_schemas(tool: Tool) -> None:
    judged: list[tuple[str, JsonValue]] = [
        ("inputs", tool.input_schema),
        ("output", tool.output_schema),
    ]
    for what, schema in judged:
        problems = (
            [] if schema is None else validator.check_schema(schema, root_object=what == "inputs")
        )
        if problems:
            told = "; ".join(
                f"{problem.message} at {problem.pointer or 'its root'}" for problem in problems
            )
            raise errors.InvalidDocument(
                f"the schema of its {what}: {told}", path=f"the tool {tool.name!r}"
            )
