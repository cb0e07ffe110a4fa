"""What differs between the revisions of MCP: which are spoken, and how a result and a tool are said
in each.
"""

from collections.abc import Callable
from typing import Final

from vespe import defaults
from vespe.features.mcp.server import content_blocks
from vespe.models import JsonObject, JsonValue

NEWEST: Final = "2026-07-28"
HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions that begin with `initialize`, the newest first."""
SUPPORTED: Final = (NEWEST, *HANDSHAKE)

META: Final = "io.modelcontextprotocol/"
REVISION_KEY: Final = f"{META}protocolVersion"
CAPABILITIES_KEY: Final = f"{META}clientCapabilities"
LOG_LEVEL_KEY: Final = f"{META}logLevel"
SUBSCRIPTION_KEY: Final = f"{META}subscriptionId"
TASKS: Final = f"{META}tasks"
"""The extension by which a call is answered with a task."""
SKILLS: Final = f"{META}skills"
"""The extension by which kits bring their skills."""
SKILL_SCHEME: Final = "skill://"
"""How the addresses of their skills begin."""
SERVER: Final[JsonObject] = {"name": "vespe", "version": defaults.VERSION}
_STAMP: Final[JsonObject] = {f"{META}serverInfo": SERVER}
CAPABILITIES: Final[JsonObject] = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True},
    "prompts": {},
    "logging": {},
}

_FIELDS: Final = {
    "2024-11-05": ("name", "description", "inputSchema"),
    "2025-03-26": ("name", "description", "inputSchema", "annotations"),
    "2025-06-18": (
        "name",
        "description",
        "inputSchema",
        "annotations",
        "title",
        "outputSchema",
        "_meta",
    ),
    "2025-11-25": (
        "name",
        "description",
        "inputSchema",
        "annotations",
        "title",
        "outputSchema",
        "_meta",
        "icons",
    ),
}
_TAKEN: Final[dict[str, Callable[[JsonValue], bool]]] = {
    "title": lambda value: isinstance(value, str),
    "_meta": lambda value: isinstance(value, dict),
    "icons": content_blocks.are_icons,
    "execution": lambda value: False,
    "outputSchema": lambda value: False,
}
"""What a tool's own file may say of itself to clients of MCP, and how; its output schema comes from
where it is kept to.
"""
_BLOCKS: Final = {
    "2024-11-05": ("text", "image", "resource"),
    "2025-03-26": ("text", "image", "audio", "resource"),
}


def negotiated(requested: JsonValue) -> str:
    """Return the revision that a handshake settles on: the client's where it is spoken, else the
    newest that has one.
    """
    return requested if isinstance(requested, str) and requested in HANDSHAKE else HANDSHAKE[0]


def complete(result: JsonObject, revision: str, *, cached: bool = False) -> JsonObject:
    """Return a result as its revision says it; `cached` for those that the newest one lets clients
    keep: never here.
    """
    if revision != NEWEST:
        return result
    hints: JsonObject = {"ttlMs": 0, "cacheScope": "private"} if cached else {}
    return {
        "resultType": "complete",
        **result,
        **hints,
        "_meta": {**result.get("_meta", {}), **_STAMP},
    }


def task_result(task: JsonObject) -> JsonObject:
    """Return the result of a call that goes on as a task."""
    return {"resultType": "task", **task, "_meta": _STAMP}


def declares_tasks(capabilities: JsonValue) -> bool:
    """Say whether a client's capabilities know tasks."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return isinstance(extensions, dict) and TASKS in extensions


def input_required(requests: JsonObject, state: str) -> JsonObject:
    """Return the result of the newest revision that asks for more, by key, before a call can go
    on.
    """
    return {
        "resultType": "input_required",
        "inputRequests": requests,
        "requestState": state,
        "_meta": _STAMP,
    }


def declares_elicitation(capabilities: JsonValue) -> bool:
    """Say whether a client's capabilities let it ask its user by a form."""
    declared = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(declared, dict) and (not declared or "form" in declared)


def knows_elicitation(revision: str) -> bool:
    """Say whether a revision has questions to the user of a client."""
    return revision not in _BLOCKS


def tool_entry(entry: JsonObject, output_schema: JsonValue, revision: str) -> JsonObject:
    """Return an entry of `tools/list` with the fields that its revision knows, each such as every
    client takes it.

    A client refuses the whole list for one field of one tool that it cannot read: such a field is
    left out. The newest takes output schemas of every type, those before it of objects alone. No
    tool runs as a task.
    """
    said = {key: value for key, value in entry.items() if key not in _TAKEN or _TAKEN[key](value)}
    said["inputSchema"] = _plain(entry["inputSchema"])
    if tells_output(output_schema, revision):
        said["outputSchema"] = _plain(output_schema)
    return (
        said
        if revision == NEWEST
        else {key: value for key, value in said.items() if key in _FIELDS[revision]}
    )


def _plain(schema: JsonValue) -> JsonObject:
    """Return a schema whose root and whose properties are objects: not every client knows that
    `true` is a schema too.
    """
    if not isinstance(schema, dict):
        return {} if schema else {"not": {}}
    properties = schema.get("properties")
    if not isinstance(properties, dict) or all(
        isinstance(part, dict) for part in properties.values()
    ):
        return schema
    return schema | {
        "properties": {
            name: part if isinstance(part, dict) else _plain(part)
            for name, part in properties.items()
        }
    }


def tells_output(output_schema: JsonValue, revision: str) -> bool:
    """Say whether clients are told an output schema: the newest revision knows those of every type,
    those before it of objects alone, and the oldest none.
    """
    if output_schema is None or not has_structure(revision):
        return False
    return revision == NEWEST or (
        isinstance(output_schema, dict) and output_schema.get("type") == "object"
    )


def structures_any(revision: str) -> bool:
    """Say whether structured content may be any JSON value, not an object alone."""
    return revision == NEWEST


def has_structure(revision: str) -> bool:
    """Say whether results have structured content at all."""
    return revision not in _BLOCKS


def takes_block(kind: str, revision: str) -> bool:
    """Say whether a revision knows content blocks of that type."""
    return revision not in _BLOCKS or kind in _BLOCKS[revision]
