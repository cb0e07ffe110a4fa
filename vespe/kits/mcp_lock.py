"""The MCP servers that a project's lock names: how each is reached, and the definitions that its
kit was made of.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Final

from vespe.documents import fields
from vespe.errors import InvalidDocument, UsageError
from vespe.kits import lock as kit_lock
from vespe.kits import mcp_kits, roots
from vespe.kits.mcp_kits import KitDraft
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.tools import mcp_definitions

_KEY: Final = "mcp_servers"
_DEFINITIONS: Final = "definitions"
_SERVER: Final[dict[str, type | tuple[type, ...]]] = {
    "command": list,
    "url": str,
    "headers": dict,
    "secrets": list,
    "timeout_s": (int, float),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedServer:
    """One server of a lock: `server` as kit_config.json has it, and the digest of each tool's
    definition by the tool's name there.
    """

    kit_id: str
    server: JsonObject
    definitions: Mapping[str, str]


def read(lock: str) -> dict[str, LockedServer]:
    """Read the servers of a lock, by their kits' ids. Raises InvalidDocument, StorageError."""
    listed = fields.mapping(kit_lock.read_document(lock), _KEY, path=lock)
    return {kit_id: _server(kit_id, value, lock) for kit_id, value in listed.items()}


def keep(root: str, kit_ids: Iterable[str]) -> None:
    """Write into a project's lock what those of the kits are made of that are MCP servers' here.
    Raises as `read` does.
    """
    entries: JsonObject = {}
    for kit_id in kit_ids:
        try:
            server, definitions = mcp_kits.known_server(kit_id)
        except UsageError:
            continue
        entries[kit_id] = server | {_DEFINITIONS: _digests(definitions)}
    if entries:
        kit_lock.update_document(
            kit_lock.project_lock(root), lambda before: {**before, _KEY: _in_order(before, entries)}
        )


def forget(root: str, kit_ids: Iterable[str]) -> None:
    """Take servers out of a project's lock."""
    gone = set(kit_ids)

    def without(before: JsonObject) -> JsonObject:
        left = {
            kit_id: entry for kit_id, entry in before.get(_KEY, {}).items() if kit_id not in gone
        }
        return (
            {**before, _KEY: left}
            if left
            else {key: value for key, value in before.items() if key != _KEY}
        )

    lock = kit_lock.project_lock(root)
    if gone & read(lock).keys():
        kit_lock.update_document(lock, without)


def missing(locked: Iterable[LockedServer]) -> list[tuple[LockedServer, Mapping[str, JsonObject]]]:
    """Return the servers whose kit is not here as the lock says, each with the definitions that
    were approved here before.

    Raises UsageError where a kit of that id is something else here.
    """
    found: list[tuple[LockedServer, Mapping[str, JsonObject]]] = []
    for one in locked:
        before: Mapping[str, JsonObject] = {}
        if any(kit.kit_id == one.kit_id for kit in roots.find_kits(count_tools=False)):
            hint = f"if you need it no more: `vespe kit remove {one.kit_id}`, then `vespe kit sync`"
            try:
                server, before = mcp_kits.known_server(one.kit_id)
            except UsageError:
                raise UsageError(
                    f"there is another kit called {one.kit_id!r} here than the lock's MCP server",
                    hint=hint,
                ) from None
            if server != one.server:
                raise UsageError(
                    f"the kit {one.kit_id!r} here is of another MCP server than the lock's",
                    hint=hint,
                )
        if _digests(before) != one.definitions:
            found.append((one, before))
    return found


def check(made: KitDraft, wanted: LockedServer, lock: str) -> None:
    """Raise InvalidDocument where a server defines other tools than those that are locked; `made`
    is of what it says now.
    """
    now = _digests(made.definitions)
    differing = sorted(
        name
        for name in {*now, *wanted.definitions}
        if now.get(name) != wanted.definitions.get(name)
    )
    if differing:
        reason = f"locks other definitions than the server has now of {', '.join(differing)}"
        hint = (
            f"whoever keeps the lock runs `vespe kit add-mcp {wanted.kit_id} "
            "--update` and commits it"
        )
        raise InvalidDocument(reason, path=lock, pointer=f"/{_KEY}/{wanted.kit_id}", hint=hint)


def _digests(definitions: Mapping[str, JsonObject]) -> dict[str, str]:
    return {name: mcp_definitions.digest(definitions[name]) for name in sorted(definitions)}


def _in_order(before: JsonObject, entries: JsonObject) -> JsonObject:
    together = {**before.get(_KEY, {}), **entries}
    return {kit_id: together[kit_id] for kit_id in sorted(together)}


def _server(kit_id: str, value: JsonValue, lock: str) -> LockedServer:
    """Read an entry by the rules for what a person types: a lock comes with a repository."""
    at = f"/{_KEY}/{kit_id}"
    if not roots.KIT_ID.fullmatch(kit_id) or not isinstance(value, dict):
        raise fields.wrong_type(
            "an object under the id of a kit", value, path=lock, pointer=f"/{_KEY}"
        )
    server = {key: value[key] for key in _SERVER if key in value}
    wrong = next(
        (
            key
            for key, kind in _SERVER.items()
            if key in server and not isinstance(server[key], kind)
        ),
        None,
    )
    if wrong:
        raise InvalidDocument("is not what a server says there", path=lock, pointer=f"{at}/{wrong}")
    if ("command" in server) == ("url" in server):
        raise InvalidDocument("needs either a command or a url", path=lock, pointer=at)
    try:
        mcp_kits.check_server(server)
    except InvalidDocument as error:
        raise InvalidDocument(error.reason, path=lock, pointer=at) from None
    definitions = value.get(_DEFINITIONS, {})
    if not isinstance(definitions, dict) or not all(
        isinstance(digest, str) for digest in definitions.values()
    ):
        raise InvalidDocument(
            "must be digests by the names of tools", path=lock, pointer=f"{at}/{_DEFINITIONS}"
        )
    return LockedServer(kit_id=kit_id, server=server, definitions=definitions)


def of_project(root: str) -> dict[str, LockedServer]:
    """Return the servers of a project's lock; {} where it has none, or no lock that can be read."""
    lock = kit_lock.project_lock(root)
    return read(lock) if os.path.lexists(lock) else {}
