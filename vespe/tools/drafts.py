"""A tool that is not on disk yet: its config.json and its files, from a template, from a function,
or from the user's own files.
"""

import os
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from vespe.defaults import CONFIG_FILE, DESCRIPTION_FILE
from vespe.documents import strict_json
from vespe.errors import UsageError
from vespe.files.trees import TreeFile
from vespe.lazy import difflib
from vespe.models import JsonObject
from vespe.records import dataclass
from vespe.tool_types import TYPES, ToolType, type_of
from vespe.tools import fields, new_tool
from vespe.tools.implementations import named_secrets
from vespe.tools.names import NAME_PATTERN
from vespe.tools.new_tool import NO_INPUTS, schemas_of
from vespe.tools.secret_items import names_in

_PARTS: Final[Mapping[str, type]] = {
    "description": str,
    "schema": dict,
    "path": str,
    "entrypoint": str,
    "args": dict,
}
"""What stands in place of a template's own, with the types of each."""
FIELDS: Final = (
    *_PARTS,
    *(
        key
        for key in fields.FIELDS
        if key not in ("uid", "name", "kit_id", "$schema", "created_from", *_PARTS)
    ),
    "environment",
)
"""What a draft may be given: the parts of an implementation, and every other key of config.json
that is its author's to set.
"""
IN_PROCESS: Final = "in_process"
"""Stands for the type of a tool without `implementation_details`, which a registered function
implements.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A whole tool but its uid: config.json as data, and the other files by their path in its
    directory.

    `notes` are sentences for its author on what could not be derived, and `added` on what was
    written without their saying so. `origin` is the path of the
    file that was copied, and the function of it, "" where there is none.
    """

    name: str
    document: JsonObject
    files: Mapping[str, TreeFile] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    origin: tuple[str, str] | None = None

    @property
    def copied(self) -> bytes:
        """The bytes of the file that was copied, where there is an origin."""
        return self.files[self.document["implementation_details"]["path"]].data


def draft_tool(
    name: str, type: str, *, fields: Mapping[str, Any] | None = None, directory: str = "."
) -> Draft:
    """Draft a tool that runs at once; `fields` (keys as in FIELDS) are the user's own words in
    place of the template's.

    `path` may name an existing file, relative to `directory`: it is copied into the tool, and a
    Python file's function gives name and schema. `schema` is `{"input": …, "output": …}` or the
    schema of the inputs alone. Secrets that `args` names are declared. A tool of the type
    IN_PROCESS has no implementation. Raises UsageError for what cannot be, InvalidDocument for a
    Python file that cannot be read.
    """
    given = {key: value for key, value in (fields or {}).items() if value is not None}
    _check_fields(given)
    check_name(name)
    parts = {key: given.pop(key) for key in _PARTS if key in given}
    if type in TYPES and (kind := type_of(type)).has_template:
        details = _details(given, type, kind)
        begun = kind.begin(type, name, given=parts, directory=directory)
        said = {**begun.document["implementation_details"], **details}
        begun_document = {**begun.document, "implementation_details": said}
        made = _draft(name, begun_document, begun.files, begun.notes)
        return _completed(replace(made, origin=_origin(kind, made, parts, directory)), given)
    if type == IN_PROCESS:
        return _completed(_in_process(name, parts), given)
    near = difflib.get_close_matches(
        type, (*(types := new_tool.created_types()), IN_PROCESS), n=1, cutoff=0.4
    )
    hint = (
        f"did you mean {near[0]}?" if near else f"the types are {', '.join(types)} and {IN_PROCESS}"
    )
    raise UsageError(f"there is no type of tool called {type!r}", hint=hint)


def _details(given: dict[str, Any], type: str, kind: ToolType) -> JsonObject:
    """Take out of `given` what belongs into `implementation_details` beside the four parts."""
    details = given.pop("implementation_details", {})
    if not isinstance(details, dict):
        raise UsageError(f"`implementation_details` must be an object, not {details!r:.80}")
    if "environment" in given:
        details = {**details, "environment": given.pop("environment")}
    known = kind.form().keys
    for key in details:
        if key in ("type", *_PARTS):
            raise UsageError(f"`implementation_details.{key}` is set by --{key}")
        if key not in known:
            raise UsageError(f"a {type} has no {key!r} to set")
    return details


def _origin(
    kind: ToolType, made: "Draft", given: Mapping[str, Any], directory: str
) -> tuple[str, str] | None:
    """Return what a draft was copied from: a `path` that the user gave, of a file that is there."""
    details = made.document["implementation_details"]
    path = os.path.join(directory, str(given.get("path", "")))
    if "path" not in given or details.get("path") not in made.files or not os.path.isfile(path):
        return None
    return path, str(details.get("entrypoint", "")) if kind.is_python else ""


def draft_from_parts(
    name: str,
    schema: JsonObject | None,
    details: JsonObject | None,
    *,
    fields: Mapping[str, Any] | None = None,
) -> Draft:
    """Draft a tool from its `schema` and `implementation_details` as config.json has them; without
    the latter it runs in-process.

    A file that `path` names is copied; where there is none the tool begins with its type's
    template. Raises as `draft_tool` does.
    """
    known = {"type", "path", "entrypoint", "args"}
    parts = {key: value for key, value in (details or {}).items() if key in known - {"type"}}
    draft = draft_tool(
        name,
        str(details.get("type")) if details else IN_PROCESS,
        fields={**(fields or {}), "schema": schema, **parts},
    )
    more = {key: value for key, value in (details or {}).items() if key not in known}
    if not more:
        return draft
    return replace(
        draft,
        document={
            **draft.document,
            "implementation_details": {**draft.document["implementation_details"], **more},
        },
    )


def draft_from_function(
    source: str,
    *,
    name: str | None = None,
    fields: Mapping[str, Any] | None = None,
    directory: str = ".",
) -> Draft:
    """Draft a Python tool from `FILE.py:function`, relative to `directory`: the file is copied, the
    function read and never run.

    `name` is the function's own unless given. Raises UsageError where there is no such file,
    InvalidDocument where the function cannot be a tool.
    """
    file, _, function = source.rpartition(":")
    path = file.replace(".", "/")
    places = (f"{path}.py", f"src/{path}.py", f"{path}/__init__.py", f"src/{path}/__init__.py")
    found = [one for one in places if os.path.isfile(os.path.join(directory, one))]
    if found and not file.endswith(".py"):
        raise UsageError(
            f"`--from` takes FILE.py:function; the name of a module, {file}, needs `--in-place`",
            hint=f"`--from {found[0]}:{function}` copies the file; with --in-place the tool runs "
            "the file itself, in the project's environment",
        )
    if not file or not function.isidentifier():
        raise UsageError(
            f"{source!r} does not name a function",
            hint="a tool is made from a function at the top of a file, not from a method"
            if file and all(part.isidentifier() for part in function.split("."))
            else "write it as FILE.py:function",
        )
    if not os.path.isfile(os.path.join(directory, file)):
        raise UsageError(
            f"there is no file {file}",
            hint="write FILE.py:function, with the path relative to the working directory",
        )
    given = {**(fields or {}), "path": file, "entrypoint": function}
    return draft_tool(
        name if name is not None else function, "python_script", fields=given, directory=directory
    )


def check_name(name: str) -> None:
    """Raise UsageError, with the rule, for what can be no tool's name."""
    if not NAME_PATTERN.fullmatch(name):
        rule = "a letter or _, then letters, digits, _ and -, 64 characters at most, all ASCII"
        kept = (c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name)
        near = "".join(kept).strip("_-")
        such = f", such as {near}" if NAME_PATTERN.fullmatch(near) else ""
        raise UsageError(f"{name!r} is not a valid tool name", hint=f"a name must be {rule}{such}")


def _check_fields(given: Mapping[str, Any]) -> None:
    for key, value in given.items():
        if key not in FIELDS:
            near = difflib.get_close_matches(key, FIELDS, n=1)
            raise UsageError(
                f"a tool has no {key!r} to set",
                hint=f"did you mean {near[0]}?" if near else f"it has {', '.join(FIELDS)}",
            )
        kind = _PARTS.get(key, object)
        if not isinstance(value, kind) or (isinstance(value, str) and "\0" in value):
            raise UsageError(
                f"`{key}` must be {'an object' if kind is dict else 'a string without NUL'}, "
                f"not {value!r:.80}"
            )


def _completed(draft: Draft, given: Mapping[str, Any]) -> Draft:
    """Return the draft with the keys that no template has, and with the secrets that its arguments
    name.
    """
    declared = given.get("secrets", [])
    named = named_secrets(draft.document.get("implementation_details", {}))
    missing = [
        name for name in named if isinstance(declared, list) and name not in names_in(declared)
    ]
    more = {**given, **({"secrets": [*declared, *missing]} if missing else {})}
    added = (f"declared the secret {name}, which `args` names" for name in missing)
    return replace(draft, document={**draft.document, **more}, added=(*draft.added, *added))


def describe(name: str, document: JsonObject) -> str:
    """Write description.md for a config.json: the title, the description, and a table of the
    inputs.
    """
    return _title(name) + _said(document) + _table(document)


def redescribed(text: str, before: JsonObject, after: JsonObject) -> str:
    """Return a description.md with the parts that `describe` wrote for `before` as it writes them
    for `after`: the title, the description below it, and the table. What its author wrote or
    changed stays.
    """
    old, new = (document.get("name", "") for document in (before, after))
    if text == describe(old, before):
        return describe(new, after)
    if text.startswith(title := _title(old)):
        below, said = text.removeprefix(title), _said(before)
        if below.startswith(said):
            below = _said(after) + below.removeprefix(said)
        text = _title(new) + below
    table = _table(before)
    return text.replace(table, _table(after), 1) if table else text


def _title(name: str) -> str:
    return strict_json.repair_surrogates(f"# {name}\n")


def _said(document: JsonObject) -> str:
    return strict_json.repair_surrogates(f"\n{document.get('description', '')}\n")


def _table(document: JsonObject) -> str:
    """Return the section with the inputs, "" where there are none."""
    schemas = document.get("schema")
    schema = schemas.get("input") if isinstance(schemas, dict) else None
    if not isinstance(schema, dict):
        return ""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return ""
    required = schema["required"] if isinstance(schema.get("required"), list) else []
    rows = [
        _row(key, value if isinstance(value, dict) else {}, key in required)
        for key, value in properties.items()
    ]
    table = ["| Input | Type | Required | Default | Description |", "|---|---|---|---|---|", *rows]
    return "\n## Inputs\n\n" + "\n".join(table) + "\n"


def _row(key: str, schema: JsonObject, required: bool) -> str:
    default = f"`{strict_json.compact_json(schema['default'])}`" if "default" in schema else ""
    cells = (
        f"`{key}`",
        _kind(schema),
        "yes" if required else "no",
        default,
        str(schema.get("description", "")),
    )
    row = " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return strict_json.repair_surrogates(f"| {row} |")


def _kind(schema: JsonObject) -> str:
    if "enum" in schema and isinstance(schema["enum"], list):
        return "one of " + ", ".join(
            f"`{strict_json.compact_json(value)}`" for value in schema["enum"]
        )
    kinds = schema.get("type", "any")
    return " or ".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds)


def without_fixed(schema: JsonObject, fixed: JsonObject) -> JsonObject:
    """Return the input schema without the inputs that fixed arguments fill: the model neither sees
    nor sets those.
    """
    properties = {key: value for key, value in schema["properties"].items() if key not in fixed}
    required = [key for key in schema.get("required", ()) if key not in fixed]
    changed = {**schema, "properties": properties, "required": required}
    return (
        changed if required else {key: value for key, value in changed.items() if key != "required"}
    )


def _in_process(name: str, given: Mapping[str, Any]) -> Draft:
    if unused := next((key for key in ("path", "entrypoint", "args") if key in given), None):
        raise UsageError(
            f"a tool without an implementation has no `{unused}`",
            hint="choose a type, or register a function that runs it",
        )
    document = {
        "name": name,
        "description": given.get("description", ""),
        "schema": schemas_of(given.get("schema"), NO_INPUTS, None),
    }
    return _draft(name, document, {})


def _draft(
    name: str, document: JsonObject, files: Mapping[str, TreeFile], notes: tuple[str, ...] = ()
) -> Draft:
    if taken := {CONFIG_FILE, DESCRIPTION_FILE} & files.keys():
        raise UsageError(f"a tool's own file cannot be called {min(taken)}")
    return Draft(name=name, document=document, files=files, notes=notes)
