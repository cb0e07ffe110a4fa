"""The Docker MCP registry's lists of tools: definitions with shorthand arguments, which a server in
a container implements.
"""

import os
import re
from collections.abc import Mapping
from typing import Final

from vespe.documents.foreign import parse_foreign
from vespe.errors import VespeError
from vespe.features.imports.made import (
    Imported,
    LeftOut,
    Made,
    Selection,
    plain,
    selected,
    short,
    slug,
)
from vespe.features.imports.openapi.documents import At, Documents
from vespe.features.imports.openapi.schemas import Converted, Schemas, names_in
from vespe.files import atomic
from vespe.models import JsonObject

_ANNOTATIONS: Final[Mapping[str, type]] = {
    "title": str,
    "readOnlyHint": bool,
    "destructiveHint": bool,
    "idempotentHint": bool,
    "openWorldHint": bool,
}
_SHORT: Final = frozenset(("name", "type", "desc", "optional", "required"))
_LIST_OF: Final = re.compile(
    r"(?:array|list)(?:\[(\w+)\]|<(\w+)>| of (\w+?)s?)|(\w+)\[\]", re.IGNORECASE
)


def is_list(value: object) -> bool:
    """Whether a document looks like a list of tools with names."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in value)
    )


def import_list(documents: Documents, *, kit_id: str, selection: Selection) -> Imported:
    """Make a tool of each definition that is selected; nothing implements them here, and how they
    come to run is said.
    """
    schemas = Schemas(documents)
    about = _about(os.path.dirname(documents.base))
    every = [at for _, at in documents.root.items()]
    wanted = selected(
        every, selection, tags=lambda at: at.get("tags").value, path=lambda at: at.text("name")
    )
    tools: dict[str, Made] = {}
    left_out: list[LeftOut] = []
    for made in (_tool(at, schemas) for at in wanted):
        if made.name in tools:
            left_out.append(
                LeftOut(what=made.source, reason="another tool of the list has its name")
            )
        tools.setdefault(made.name, made)
    start = f"docker run -i --rm {about.text('image')}" if about.text("image") else "COMMAND"
    stem, folder = (
        os.path.basename(documents.base).partition(".")[0],
        os.path.basename(os.path.dirname(documents.base)),
    )
    return Imported(
        kind="docker-mcp",
        title=plain(about.get("about").text("title") or about.text("name"))
        or (folder if stem == "tools" else stem)
        or kit_id,
        description=short(plain(about.get("about").text("description"))),
        version="0",
        tools=tuple(tools.values()),
        left_out=tuple(left_out),
        notes=(
            f"these are only definitions, which cannot run: `vespe kit add-mcp NAME -- {start}` "
            "adds the server with tools that run",
        ),
        unselected=len(every) - len(wanted),
    )


def _about(directory: str) -> At:
    """Return the server.yaml beside a list, which says what the server is; an empty one where it
    cannot be read.
    """
    path = os.path.join(directory, "server.yaml")
    try:
        return At(
            parse_foreign(atomic.read_bytes(path), path=path) if os.path.isfile(path) else {}, ""
        )
    except VespeError:
        return At({}, "")


def _tool(at: At, schemas: Schemas) -> Made:
    source, whole = at.text("name"), at.get("inputSchema")
    if isinstance(whole.value, dict):
        converted = schemas.convert(whole)
        made = converted.schema if isinstance(converted.schema, dict) else {}
        schema: JsonObject = {**made, "type": "object", "properties": made.get("properties", {})}
    else:
        converted, schema = _shorthand(at, schemas)
    definitions, notes = schemas.definitions(names_in([converted]))
    annotations, odd = _annotations(at)
    document: JsonObject = {
        "name": slug(source),
        "description": short(plain(at.text("description")))
        or f"The tool {plain(source)} of a server, which does not describe it.",
        "schema": {"input": {**schema, **({"$defs": definitions} if definitions else {})}},
        **({"annotations": annotations} if annotations else {}),
    }
    said = dict.fromkeys((*converted.notes, *notes, *odd))
    return Made(document=document, source=source, notes=tuple(said))


def _annotations(at: At) -> tuple[JsonObject, list[str]]:
    """Return what the tool says of itself to clients, and of what is left out why it is."""
    found: JsonObject = {}
    odd = []
    if title := plain(at.text("title")):
        found["title"] = title
    for key, one in at.get("annotations").items():
        kind = _ANNOTATIONS.get(key)
        if kind is None or not isinstance(one.value, kind):
            odd.append(f"its annotation {plain(key)} is left out: MCP does not define it")
        else:
            found[key] = plain(one.value) if kind is str else one.value
    return found, odd


def _shorthand(at: At, schemas: Schemas) -> tuple[Converted, JsonObject]:
    """Return the schema of `arguments`: each is required unless it is `optional`."""
    whole, properties, required = Converted(), {}, []
    for _, one in at.get("arguments").items():
        name = one.text("name")
        if not name:
            whole.notes["one of its arguments has no name"] = None
            continue
        converted = schemas.convert(At(_meant(one), one.base))
        whole.refers |= converted.refers
        whole.notes |= converted.notes
        properties[name] = converted.schema
        if one.value.get("optional") is not True and one.value.get("required") is not False:
            required.append(name)
    return whole, {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _meant(one: At) -> JsonObject:
    own = {key: value for key, value in one.value.items() if key not in _SHORT}
    kind, text = one.value.get("type", "string"), one.text("desc") or one.text("description")
    if isinstance(kind, str) and (of := _LIST_OF.fullmatch(kind)):
        return {
            **own,
            "type": "array",
            "items": {"type": next(filter(None, of.groups()))},
            "description": text,
        }
    items: JsonObject = {"items": {}} if kind == "array" and "items" not in own else {}
    return {**own, **items, "type": kind, "description": text}
