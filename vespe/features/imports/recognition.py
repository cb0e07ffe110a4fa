"""What kind of source somebody imports, found by looking at it; and the import of each kind."""

import os
from typing import Any, Final

from vespe.documents.near import suggest
from vespe.errors import InvalidDocument, UsageError
from vespe.features.imports import docker_mcp, llm_functions, skills, utcp
from vespe.features.imports.made import Fetch, Imported, Selection
from vespe.features.imports.openapi import importing
from vespe.features.imports.openapi.documents import Documents, is_address
from vespe.lazy import shlex

_DOCUMENTS: Final[dict[str, Any]] = {
    "openapi": (
        importing.is_openapi,
        importing.import_openapi,
        "an OpenAPI description: it has neither `openapi` nor `swagger`",
    ),
    "utcp": (utcp.is_manual, utcp.import_manual, "a UTCP manual: it has no `tools` with `inputs`"),
    "docker-mcp": (
        docker_mcp.is_list,
        docker_mcp.import_list,
        "a list of tools in the format of the Docker MCP registry",
    ),
}
"""For each kind that is one document: whether it is one, its import, and what it is not."""
KINDS: Final = (*_DOCUMENTS, "llm-functions", "skill", "mcp-json")
"""The kinds of `--kind`: one document each, directories, and what is imported another way."""
_SERVERS: Final = frozenset(("mcpServers", "context_servers", "mcp_servers", "packages", "remotes"))


def import_from(
    source: str,
    *,
    kit_id: str,
    kind: str | None,
    selection: Selection,
    fetch: Fetch | None = None,
    follow: bool = False,
) -> Imported:
    """Read `source`, a path or an address, as its kind of import does; the kind is found by looking
    where none is said.

    `follow` lets references lead to addresses. Raises UsageError, InvalidDocument, StorageError,
    and what `fetch` raises.
    """
    if kind == "mcp-json" or (kind is None and source.endswith(".toml")):
        raise servers_of(source)
    if not is_address(source) and (
        kind in ("llm-functions", "skill")
        or os.path.isdir(source)
        or source.endswith((".sh", ".py", ".js"))
    ):
        return _directory(source, kit_id=kit_id, kind=kind, selection=selection)
    documents = Documents(source, fetch=fetch, follow=follow)
    value = documents.root.value
    found = kind or next((name for name, (fits, _, _) in _DOCUMENTS.items() if fits(value)), None)
    if found is None:
        if isinstance(value, dict) and (
            _SERVERS & value.keys()
            or any(isinstance(value.get(key), dict) for key in ("servers", "server"))
        ):
            raise servers_of(source)
        raise InvalidDocument(
            f"is not in a format that Vespe recognizes: {', '.join(KINDS)}",
            path=source,
            hint="if it is one of these, name it with --kind to see what is wrong",
        )
    fits, make, said = _DOCUMENTS[found]
    if not fits(value):
        raise InvalidDocument(f"is not {said}", path=source)
    imported: Imported = make(documents, kit_id=kit_id, selection=selection)
    return imported


def _directory(source: str, *, kit_id: str, kind: str | None, selection: Selection) -> Imported:
    if kind == "skill" or (kind is None and os.path.isfile(os.path.join(source, skills.FILE))):
        return skills.import_skill(source, kit_id=kit_id, selection=selection)
    inner = os.path.join(source, "tools.json")
    if kind == "docker-mcp" or (kind is None and os.path.isfile(inner)):
        return docker_mcp.import_list(Documents(inner), kit_id=kit_id, selection=selection)
    if kind in (None, "llm-functions"):
        return llm_functions.import_directory(source, kit_id=kit_id, selection=selection)
    raise UsageError(
        f"{source} is a directory, but a source of the kind {kind} must be a file",
        hint="give the path of the file in it",
    )


def checked_id(kit_id: str | None, source: str, *, kind: str | None) -> str:
    """Return the id of the kit that an import is to make.

    Raises UsageError for a kind that there is not, for a source of servers, and without an id.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(
            f"there is no kind of import called {kind!r}",
            hint=suggest(kind, KINDS) or f"choose one of {', '.join(KINDS)}",
        )
    if kit_id is None and kind == "mcp-json":
        raise servers_of(source)
    if kit_id is None:
        raise UsageError(
            "the new kit needs an id",
            hint=f"`vespe kit import {shlex.quote(source)} --id NAME`",
        )
    return kit_id


def servers_of(source: str) -> UsageError:
    """Return the error for a file of MCP servers: their tools come another way."""
    adding = f"`vespe kit add-mcp --from {shlex.quote(source)}`"
    return UsageError(
        f"{source} cannot be imported: the tools of MCP servers are known only while they run",
        hint=f"{adding} starts the servers after your approval",
    )
