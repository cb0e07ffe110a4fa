"""The MCP servers that a project's lock names: how each is reached, and the definitions that its
kit was made of.
"""

import contextlib
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import field

from vespe.documents import fields
from vespe.errors import InvalidDocument, KitNotFound, Refused, StorageError, UsageError
from vespe.kits import lock as kit_lock
from vespe.kits import mcp_kits, mcp_snapshots, roots
from vespe.kits.lock import MCP_SERVERS
from vespe.kits.mcp_kits import KitDraft
from vespe.kits.mcp_snapshots import DEFINITIONS, SERVER_FORM, SKILLS
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.tools.mcp_skills import is_pins


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedServer:
    """One server of a lock: `server` as kit_config.json has it, the digest of each tool's
    definition by the tool's name there, and what is pinned of its `skills`; {} for none.
    """

    kit_id: str
    server: JsonObject
    definitions: Mapping[str, str]
    skills: JsonObject = field(default_factory=dict)


def read(lock: str) -> dict[str, LockedServer]:
    """Read the servers of a lock, by their kits' ids. Raises InvalidDocument, StorageError."""
    listed = fields.mapping(kit_lock.read_document(lock), MCP_SERVERS, path=lock)
    return {kit_id: _server(kit_id, value, lock) for kit_id, value in listed.items()}


def keep(root: str, paths: Iterable[str]) -> None:
    """Write into a project's lock what the kits at these directories are made of, those that are
    MCP servers'. Raises as `read` does.
    """
    entries: JsonObject = {}
    for path in paths:
        if (kit := mcp_snapshots.read(path)) is not None:
            pinned = mcp_snapshots.digests(mcp_snapshots.definitions_at(path))
            skills = mcp_snapshots.skills_at(path).pins()
            entries[kit.kit_id] = (
                kit.server | {DEFINITIONS: pinned} | ({SKILLS: skills} if skills else {})
            )
    if entries:
        kit_lock.update_document(
            kit_lock.project_lock(root),
            lambda before: {**before, MCP_SERVERS: _in_order(before, entries)},
        )


def forget(root: str, kit_ids: Iterable[str]) -> None:
    """Take servers out of a project's lock."""
    gone = set(kit_ids)

    def without(before: JsonObject) -> JsonObject:
        left = {
            kit_id: entry
            for kit_id, entry in before.get(MCP_SERVERS, {}).items()
            if kit_id not in gone
        }
        return (
            {**before, MCP_SERVERS: left}
            if left
            else {key: value for key, value in before.items() if key != MCP_SERVERS}
        )

    lock = kit_lock.project_lock(root)
    if gone & read(lock).keys():
        kit_lock.update_document(lock, without)


def missing(locked: Iterable[LockedServer]) -> list[tuple[LockedServer, Mapping[str, JsonObject]]]:
    """Return the servers whose kit is not here as the lock says, each with the definitions that
    were approved here before.

    A kit that Vespe 0.2 keeps under its name is found by its digest, and kept by that from then on.
    Raises UsageError where a kit that goes before the lock's has that id.
    """
    found: list[tuple[LockedServer, Mapping[str, JsonObject]]] = []
    for one in locked:
        _refuse_hidden(one.kit_id)
        here = mcp_snapshots.path_of(one.kit_id, one.server, one.definitions, one.skills)
        if os.path.lexists(here):
            continue
        same = mcp_snapshots.same_server(one.kit_id, one.server)
        former = mcp_snapshots.former_path(one.kit_id)
        before = mcp_snapshots.definitions_at(same[0].path) if same else {}
        if any(kit.path == former for kit in same) and one.definitions == mcp_snapshots.digests(
            mcp_snapshots.definitions_at(former)
        ):
            mcp_kits.adopt(one.kit_id)
        else:
            found.append((one, before))
    return found


def _refuse_hidden(kit_id: str) -> None:
    for kit in roots.find_kits(count_tools=False):
        if kit.kit_id == kit_id and kit.root_kind in ("env", roots.LINK):
            raise UsageError(
                f"there is another kit called {kit_id!r} here than the lock's MCP server: "
                f"{kit.path}",
                hint=f"`vespe kit unlink {kit_id}`, then `vespe kit sync`"
                if kit.root_kind == roots.LINK
                else f"remove {kit.root} from VESPE_KITS_PATH, then `vespe kit sync`",
            )


def users(kit_id: str, *, but: str | None = None) -> dict[str, str] | None:
    """Return which kits of a name the locks on this machine mean, each with a project that does;
    `but` is the root of one that does not count. None where a lock cannot be read: nobody knows.
    """
    found: dict[str, str] = {}
    own = os.path.realpath(kit_lock.project_lock(but)) if but is not None else ""
    for path in kit_lock.known_locks():
        try:
            listed = kit_lock.read_document(path).get(MCP_SERVERS)
        except (InvalidDocument, StorageError):
            return None
        if isinstance(listed, dict) and kit_id in listed and os.path.realpath(path) != own:
            means = mcp_snapshots.locked_path(kit_id, listed[kit_id])
            found.setdefault(means, kit_lock.project_of(path))
    return found


def removable(kit_id: str, root: str | None) -> list[str] | None:
    """Return the directories that go when the kit that a name means in the project at `root` is
    removed: those that no other project needs. None where the name means no kit of an MCP server.

    Raises UsageError where it means several, Refused where only other projects use it.
    """
    locked = of_project(root).get(kit_id) if root is not None else None
    server = locked.server if locked else None
    if server is None:
        _refuse_several(kit_id)
        if (kit := mcp_kits.find(kit_id)) is None:
            return None
        server = kit.document[mcp_snapshots.SERVER_KEY]
    needed = users(kit_id, but=root)
    same = [one.path for one in mcp_snapshots.same_server(kit_id, server)]
    if locked is None and not same:
        return None
    if locked is None and needed and (used := [needed[path] for path in same if path in needed]):
        raise Refused(
            f"the kit {kit_id} is used by the project {used[0]}",
            hint=f"`vespe kit remove {kit_id} --project {shlex.quote(used[0])}`",
        )
    return [path for path in same if needed is not None and path not in needed]


def _refuse_several(kit_id: str) -> None:
    """Raise UsageError where a name means several servers, each with a project that uses it."""
    using = sorted({*(users(kit_id) or {}).values()})
    count = len(mcp_snapshots.choices(kit_id))
    if count > 1 and using:
        raise UsageError(
            f"{count} MCP servers are called {kit_id!r} on this machine",
            hint=" or ".join(
                f"`vespe kit remove {kit_id} --project {shlex.quote(project)}`"
                for project in using[:3]
            ),
        )


def tidy(kit_id: str, server: JsonObject, *, keep: str) -> None:
    """Delete the earlier kits of that name and server that no lock needs; `keep` is the directory
    of one that stays. What cannot be deleted stays too.
    """
    needed = users(kit_id)
    for one in mcp_snapshots.same_server(kit_id, server):
        if needed is not None and one.path != keep and one.path not in needed:
            with contextlib.suppress(KitNotFound, Refused, StorageError):
                from vespe.kits import removal  # `vespe kit install` needs the rest alone

                removal.remove_at(one.path)


def check(made: KitDraft, wanted: LockedServer, lock: str) -> None:
    """Raise InvalidDocument where a server defines other tools than those that are locked; `made`
    is of what it says now.
    """
    now = mcp_snapshots.digests(made.definitions)
    differing = sorted(
        name
        for name in {*now, *wanted.definitions}
        if now.get(name) != wanted.definitions.get(name)
    )
    differing += _differing_skills(made.skills.pins(), wanted.skills)
    if differing:
        reason = f"locks other definitions of {', '.join(differing)} than the server has now"
        hint = (
            f"the maintainer of the lock runs `vespe kit add-mcp {wanted.kit_id} --update` and "
            "commits it"
        )
        raise InvalidDocument(
            reason, path=lock, pointer=f"/{MCP_SERVERS}/{wanted.kit_id}", hint=hint
        )


def _differing_skills(now: JsonObject, wanted: JsonObject) -> list[str]:
    """Return the skills that are not as they are locked, by their addresses."""
    differing = {
        uri
        for part in ("files", "frontmatter")
        for uri in {*now.get(part, {}), *wanted.get(part, {})}
        if now.get(part, {}).get(uri) != wanted.get(part, {}).get(uri)
    }
    return sorted(f"the skill {uri}" for uri in differing)


def _in_order(before: JsonObject, entries: JsonObject) -> JsonObject:
    together = {**before.get(MCP_SERVERS, {}), **entries}
    return {kit_id: together[kit_id] for kit_id in sorted(together)}


def _server(kit_id: str, value: JsonValue, lock: str) -> LockedServer:
    """Read an entry by the rules for what a person types: a lock comes with a repository."""
    at = f"/{MCP_SERVERS}/{kit_id}"
    if not roots.KIT_ID.fullmatch(kit_id) or not isinstance(value, dict):
        raise fields.wrong_type(
            "an object under the id of a kit", value, path=lock, pointer=f"/{MCP_SERVERS}"
        )
    server = {key: value[key] for key in SERVER_FORM if key in value}
    wrong = next(
        (
            key
            for key, kind in SERVER_FORM.items()
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
    definitions = value.get(DEFINITIONS, {})
    if not isinstance(definitions, dict) or not all(
        isinstance(digest, str) for digest in definitions.values()
    ):
        raise InvalidDocument(
            "must be digests by the names of tools", path=lock, pointer=f"{at}/{DEFINITIONS}"
        )
    skills = value.get(SKILLS, {})
    if not is_pins(skills):
        raise InvalidDocument(
            "must be a tool, and digests of the files and the frontmatter of each skill",
            path=lock,
            pointer=f"{at}/{SKILLS}",
        )
    return LockedServer(kit_id=kit_id, server=server, definitions=definitions, skills=skills)


def urls_of(kit_id: str, root: str | None) -> set[str | None]:
    """Return where the servers listen that are called so on this machine or in the project at
    `root`, None for one that is a command; nothing where no server is called so.
    """
    servers = [one.server for one in mcp_snapshots.choices(kit_id)]
    servers += [
        kit.document[mcp_snapshots.SERVER_KEY]
        for kit in roots.find_kits(count_tools=False, project=root)
        if kit.kit_id == kit_id and isinstance(kit.document.get(mcp_snapshots.SERVER_KEY), dict)
    ]
    if root is not None and (locked := of_project(root).get(kit_id)):
        servers.append(locked.server)
    return {server.get("url") for server in servers}


def of_project(root: str) -> dict[str, LockedServer]:
    """Return the servers of a project's lock; {} where it has none, or no lock that can be read."""
    lock = kit_lock.project_lock(root)
    return read(lock) if os.path.lexists(lock) else {}
