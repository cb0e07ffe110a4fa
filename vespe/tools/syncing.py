"""A created tool brought in step again: the file that it was made from is taken over where that has
changed, and the schema derived from the function, with what its author added by hand kept.
"""

import os
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from vespe.defaults import DESCRIPTION_FILE
from vespe.documents.fields import others
from vespe.errors import InvalidDocument, UsageError
from vespe.files import atomic
from vespe.models import JsonObject, Tool
from vespe.records import dataclass
from vespe.schemas.subschemas import REFERENCES, WITH_SUBSCHEMAS
from vespe.tool_types import type_of
from vespe.tools import in_place, origins
from vespe.tools.authoring import page_in_step
from vespe.tools.drafts import without_fixed
from vespe.tools.python.signatures import derive, sentence

_BY_HAND: Final = (
    "description",
    "title",
    "examples",
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "deprecated",
)
"""What a signature seldom says of an input, so that a person adds it: kept while the input's type
stays.
"""


_STRUCTURE: Final = WITH_SUBSCHEMAS | {
    *("type", "enum", "const", "default", "nullable", "required", "dependentRequired"),
    *("minProperties", "maxProperties", "minContains", "maxContains", "readOnly", "writeOnly"),
    *("contentEncoding", "contentMediaType", "$schema", "$id", "$anchor", *REFERENCES),
}
"""What says the structure of an input, which the function alone says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """A tool as it is to be: its config.json, and the files that become other ones, by their names.

    `source` is the path of the file that was copied or read, as its author knows it. `renewed` says
    that the files are what Vespe writes better today than when it made the tool. `gone` says
    that this is no longer there, and `conflict` that it and the tool's copy have both changed;
    nothing is taken over then. `edited` says that only the copy has changed. `docstring` is what
    the function's docstring says where the description is its author's own and so stays; ""
    elsewhere.
    """

    tool: Tool
    document: JsonObject
    files: Mapping[str, bytes] = field(default_factory=dict)
    source: str = ""
    renewed: bool = False
    gone: bool = False
    conflict: bool = False
    edited: bool = False
    docstring: str = ""

    @property
    def is_other(self) -> bool:
        """Whether anything is to be written."""
        return bool(self.files) or self.is_behind

    @property
    def is_behind(self) -> bool:
        """Whether the tool does not say what its function says, or runs another file."""
        return (bool(self.files) and not self.renewed) or self.document != self.tool.document


def is_synced(tool: Tool) -> bool:
    """Say whether a function or a file of the project says what a tool is."""
    return _is_python(tool) or origins.KEY in tool.document or _standing(tool) is not None


def is_in_place(tool: Tool) -> bool:
    """Say whether a tool runs a function of the project where it stands."""
    return _standing(tool) is not None


def has_known_source(tool: Tool) -> bool:
    """Say whether it is known which file of the project a tool was made from or runs."""
    return origins.KEY in tool.document or is_in_place(tool)


def synced(tool: Tool, *, source: str | None = None) -> Synced:
    """Return what a tool has to be to say what its function says now.

    `source` names the file that it is made from in the place of the one that it knows, from the
    working directory: `FILE` or `FILE.py:function`; `PACKAGE.MODULE:function` for a tool that runs
    a function in place. Raises UsageError for a tool that nothing is derived for and for a file
    that is not there, InvalidDocument for a script that cannot be read.
    """
    found = _synced(tool, source)
    return found if found.gone or found.conflict else _redescribed(_described(found))


def _synced(tool: Tool, source: str | None) -> Synced:
    standing = _standing(tool)
    if standing is not None:
        return _in_place(tool, standing, source)
    if source is not None:
        return _taken(tool, *_named(tool, source))
    compared = origins.compared(tool)
    if compared is None:
        return Synced(tool=tool, document=derived_config(tool))
    if compared.change == "origin" or (
        compared.change == "none" and origins.digest_of(compared.data) != _digest(tool)
    ):
        root = origins.project_of(tool.directory or "") or ""
        place = os.path.join(os.path.realpath(root), compared.path)
        return _taken(tool, place, compared.function, compared.data)
    return Synced(
        tool=tool,
        document=derived_config(tool) if _is_python(tool) else tool.document,
        source=compared.path,
        gone=compared.change == "gone",
        conflict=compared.change == "both",
        edited=compared.change == "copy",
    )


def _described(found: Synced) -> Synced:
    """Take over a docstring that has changed, if the description was the old one word for word."""
    tool = found.tool
    said, before = _docstrings(found)
    if said is None or said in (before, tool.description):
        return replace(found, docstring="")
    if tool.description == (_of_template(tool) if before is None else before):
        return replace(found, document={**found.document, "description": said}, docstring="")
    return replace(found, docstring=said)


def _docstrings(found: Synced) -> tuple[str | None, str | None]:
    """Return the description that the function's docstring has now, None where there is none, and
    the one that the function had when the tool was made or last synced, None where that text is no
    longer there.
    """
    tool = found.tool
    if not _is_python(tool):
        return found.docstring or None, None
    own = str(tool.document["implementation_details"]["path"])
    copy = atomic.read_bytes(os.path.join(tool.directory or "", own))
    now = _description(found.files.get(own, copy), found.document)
    if now == sentence(str(found.document["implementation_details"]["entrypoint"])):
        return None, None
    compared = origins.compared(tool)
    if own in found.files:
        before = _description(copy, tool.document)
    elif compared is None or compared.change not in ("copy", "none"):
        before = None
    else:
        known = compared.data if origins.digest_of(compared.data) == _digest(tool) else None
        before = None if known is None else _description(known, tool.document)
    return now, before


def notes_of(found: Synced) -> tuple[str, ...]:
    """Return sentences on what the function of a tool says and its schema cannot, such as a default
    that is not of its type.
    """
    if not _is_python(found.tool) or found.gone or found.conflict:
        return ()
    details = found.document["implementation_details"]
    path = os.path.join(found.tool.directory or "", str(details["path"]))
    data = found.files.get(str(details["path"])) or atomic.read_bytes(path)
    return derive(data.decode("utf-8", "replace"), str(details["entrypoint"]), path=path).notes


def _of_template(tool: Tool) -> str | None:
    """Return the description of a new tool of the same type, which nobody has written for this one;
    None where there is none.
    """
    details = tool.implementation
    if details is None or not (kind := type_of(details.type)).has_template:
        return None
    begun = kind.begin(details.type, tool.name, given={}, directory=".")
    return str(begun.document.get("description", "")) or None


def _description(data: bytes, document: JsonObject) -> str | None:
    function = str(document["implementation_details"]["entrypoint"])
    try:
        return derive(data.decode("utf-8", "replace"), function).description
    except InvalidDocument:
        return None


def _redescribed(found: Synced) -> Synced:
    """Bring the parts of description.md that Vespe wrote in step with the new config.json."""
    if found.document == found.tool.document:
        return found
    page = page_in_step(found.tool.directory or "", found.tool.document, found.document)
    return found if page is None else replace(found, files={**found.files, DESCRIPTION_FILE: page})


def derived_config(
    tool: Tool, *, source: bytes | None = None, function: str | None = None, place: str = ""
) -> JsonObject:
    """Return the tool's config.json with the schema that its function has now; nothing else of it
    changes. `source` and `function` are those that the tool is to have, `place` is the path of
    `source`, for errors.

    Raises UsageError for a tool that is not a Python script, InvalidDocument for a script that
    cannot be read.
    """
    details = tool.implementation
    if details is None or not _is_python(tool):
        raise UsageError(
            f"{tool.name} is not a Python script, so no signature says what its schema is"
        )
    path = os.path.join(tool.directory or "", str(details.path))
    data = atomic.read_bytes(path) if source is None else source
    entrypoint = function or str(details.entrypoint)
    derived = derive(data.decode("utf-8", "replace"), entrypoint, path=place or path)
    return _with_schema(tool, derived.input_schema, derived.output_schema, details.args)


def _with_schema(
    tool: Tool, inputs: JsonObject, output: JsonObject | None, fixed: JsonObject
) -> JsonObject:
    schema: JsonObject = {
        **tool.document["schema"],
        "input": _merged(tool.input_schema, without_fixed(inputs, fixed)),
    }
    if output is not None:
        schema["output"] = output
    return {**tool.document, "schema": schema}


def _is_python(tool: Tool) -> bool:
    details = tool.implementation
    return bool(
        details is not None
        and type_of(details.type).is_python
        and details.path
        and details.entrypoint
    )


def _standing(tool: Tool) -> in_place.Standing | None:
    return in_place.standing(tool.directory or "", tool.document)


def _digest(tool: Tool) -> Any:
    said = tool.document.get(origins.KEY)
    return said.get("sha256") if isinstance(said, dict) else None


def _named(tool: Tool, source: str) -> tuple[str, str, bytes]:
    """Read `FILE` or `FILE.py:function`: its path, the function and the bytes."""
    details = tool.implementation
    if details is None or not details.path:
        raise UsageError(f"{tool.name} has no file of its own, so nothing can be copied to it")
    file, _, function = source.rpartition(":") if not os.path.isfile(source) else (source, "", "")
    if not os.path.isfile(file):
        raise UsageError(
            f"there is no file {file or source}", hint="write it as FILE or FILE.py:function"
        )
    said = tool.document.get(origins.KEY)
    known = str(said.get("function", "")) if isinstance(said, dict) else ""
    entrypoint = str(details.entrypoint or "") if _is_python(tool) else ""
    return file, function or known or entrypoint, atomic.read_bytes(os.path.realpath(file))


def _taken(tool: Tool, path: str, function: str, data: bytes) -> Synced:
    """Return the tool with another file's bytes in the place of its own."""
    details, own = tool.implementation, str(tool.document["implementation_details"]["path"])
    document = tool.document
    if _is_python(tool) and details is not None:
        document = derived_config(tool, source=data, function=function, place=path)
        if function != details.entrypoint:
            said = {**document["implementation_details"], "entrypoint": function}
            document = {**document, "implementation_details": said}
    root = origins.project_of(tool.directory or "")
    made = None if root is None else origins.made_from(root, path, function, data)
    if made is None:
        document = {key: value for key, value in document.items() if key != origins.KEY}
    else:
        known = document.get(origins.KEY)
        document = {**document, origins.KEY: {**(known if isinstance(known, dict) else {}), **made}}
    same = atomic.read_bytes(os.path.join(tool.directory or "", own)) == data
    return Synced(
        tool=tool,
        document=document,
        files={} if same else {own: data},
        source=path if made is None else made["path"],
    )


def _in_place(tool: Tool, standing: in_place.Standing, source: str | None) -> Synced:
    root = origins.project_of(tool.directory or "") or os.getcwd()
    at = standing.file(root) if source is None else None
    if source is None and at is None:
        return Synced(tool=tool, document=tool.document, source=standing.source, gone=True)
    of = source or standing.source
    draft = in_place.draft_in_place(of, name=tool.name, directory=root)
    said, function = draft.document["description"], of.rpartition(":")[2]
    schema = draft.document["schema"]
    document = _with_schema(tool, schema["input"], schema.get("output"), {})
    written = {} if source is None and not standing.is_old else draft.files
    return Synced(
        tool=tool,
        document=document,
        files={
            name: file.data
            for name, file in written.items()
            if name != "start" and not _is(os.path.join(tool.directory or "", name), file.data)
        },
        source=of,
        renewed=source is None,
        docstring="" if said == sentence(function) else said,
    )


def _is(path: str, data: bytes) -> bool:
    return os.path.isfile(path) and atomic.read_bytes(path) == data


def _merged(old: Any, derived: JsonObject) -> JsonObject:
    before = old.get("properties") if isinstance(old, dict) else None
    known = before if isinstance(before, dict) else {}
    properties = {
        name: _kept(known.get(name), one) for name, one in derived.get("properties", {}).items()
    }
    return {**derived, "properties": properties, **_unknown(old, derived)}


def _unknown(old: Any, derived: JsonObject) -> JsonObject:
    """Return the keys of a schema that are no keywords of JSON Schema, so that nobody derives
    them.
    """
    return others(old, (*_STRUCTURE, *_BY_HAND, *derived))


def _kept(old: Any, derived: JsonObject) -> JsonObject:
    if not isinstance(old, dict) or old.get("type") != derived.get("type"):
        return derived
    by_hand = {key: old[key] for key in _BY_HAND if key in old}
    now = {**by_hand, **_unknown(old, derived), **derived}
    # so that a difference shows no other order
    order = [*(key for key in old if key in now), *(key for key in now if key not in old)]
    return {key: now[key] for key in order}
