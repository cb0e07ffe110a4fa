"""Where the kits of MCP servers are on this machine: each under the digest of its server and its
tools.

Two projects may call two servers by one name. The name is the project's: its lock says which server
it means, and the digest of what the lock says is where the kit is. Without a lock a name means the
one server that is called so here. What does not work is a directory by that name alone: the second
project replaces the first one's kit.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.files import locations
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.tools import mcp_definitions, mcp_skills
from vespe.tools.mcp_skills import ServerSkills

SERVER_KEY: Final = "mcp_server"
"""The key of kit_config.json under which the server stands: `command`, or `url` and `headers`,
`secrets`, `env`, `write`, `timeout_s`.
"""
DEFINITIONS: Final = "definitions"
"""The key of a locked server under which the digests of its tools' definitions are."""
SERVER_FORM: Final[Mapping[str, type | tuple[type, ...]]] = {
    "command": list,
    "url": str,
    "headers": dict,
    "secrets": list,
    "env": dict,
    "write": list,
    "timeout_s": (int, float),
}
SNAPSHOT: Final = "mcp_tools.json"
SKILLS: Final = "skills"
"""The key of a locked server under which the digests of its skills' files are."""
SKILLS_FILE: Final = "mcp_skills.json"
_FORMER: Final = "kits"
"""Where Vespe 0.2 kept them, each under its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSnapshot:
    """A kit of an MCP server on this machine: its directory, how its server is reached, and when it
    was written, in nanoseconds.
    """

    kit_id: str
    path: str
    server: JsonObject
    written_ns: int

    @property
    def digest(self) -> str:
        """The digest that it is kept under; raises as `definitions_at` does."""
        pins = skills_at(self.path).pins()
        return digest_of(self.kit_id, self.server, digests(definitions_at(self.path)), pins)


def directory() -> str:
    """Return the directory that holds them; it may not exist."""
    return os.path.join(locations.user_data_dir(), defaults.MCP_KITS_DIR)


def root_of(path: str) -> str:
    """Return the directory of the user's that a kit is in, by its digest or by its name."""
    held = f"{directory()}{os.sep}"
    return directory() if path.startswith(held) else os.path.dirname(path)


def digest_of(
    kit_id: str,
    server: JsonObject,
    definitions: Mapping[str, JsonValue],
    skills: JsonValue = None,
) -> str:
    """Return what a kit of these definitions (their digests by name) and skills (their pins) is
    kept under, in hex.
    """
    stated = {key: server[key] for key in SERVER_FORM if key in server}
    named: JsonObject = {"kit_id": kit_id, "server": stated, DEFINITIONS: dict(definitions)}
    if isinstance(skills, dict) and skills:
        named[SKILLS] = skills
    return mcp_definitions.json_digest(named).partition(":")[2]


def path_of(
    kit_id: str,
    server: JsonObject,
    definitions: Mapping[str, JsonValue],
    skills: JsonValue = None,
) -> str:
    """Return the directory of such a kit; it may not exist."""
    return os.path.join(directory(), digest_of(kit_id, server, definitions, skills), kit_id)


def digests(definitions: Mapping[str, JsonObject]) -> dict[str, JsonValue]:
    """Return the digests of definitions by their names, sorted."""
    return {name: mcp_definitions.digest(definitions[name]) for name in sorted(definitions)}


def definitions_at(path: str) -> dict[str, JsonObject]:
    """Return the definitions that a kit was made of, by name. Raises InvalidDocument,
    StorageError.
    """
    return strict_json.read_object_if_there(os.path.join(path, SNAPSHOT))


def skills_at(path: str) -> ServerSkills:
    """Return the skills of a kit's server. Raises InvalidDocument, StorageError."""
    return mcp_skills.from_json(strict_json.read_object_if_there(os.path.join(path, SKILLS_FILE)))


def locked_path(kit_id: str, entry: JsonValue) -> str:
    """Return the directory of the kit that an entry of a lock names; it does not exist where the
    kit is not on this machine.

    A kit of the same server that Vespe 0.2 wrote under its name is the one that is meant.
    """
    stated = entry if isinstance(entry, dict) else {}
    pinned = stated.get(DEFINITIONS)
    path = path_of(kit_id, stated, pinned if isinstance(pinned, dict) else {}, stated.get(SKILLS))
    if not os.path.lexists(path):
        former = read(former_path(kit_id))
        if former is not None and _is_same(former.server, stated):
            return former.path
    return path


def former_path(kit_id: str) -> str:
    """Return where Vespe 0.2 kept a kit of that id, and where other kits of the user's own are."""
    return os.path.join(locations.user_data_dir(), _FORMER, kit_id)


def names() -> list[str]:
    """Return the ids of the kits that are kept by their digests, sorted."""
    return sorted({os.path.basename(path) for path in _paths()})


def choices(kit_id: str) -> tuple[ServerSnapshot, ...]:
    """Return the newest kit of each server that is called so here; the server first that the name
    means without a lock, if it means one.
    """
    former = read(former_path(kit_id))
    found = [former] if former else []
    found += [one for path in _paths() if os.path.basename(path) == kit_id and (one := read(path))]
    servers: list[ServerSnapshot] = []
    for one in sorted(found, key=lambda one: one.written_ns, reverse=True):
        if not any(_is_same(one.server, known.server) for known in servers):
            servers.append(one)
    first = former and next(one for one in servers if _is_same(one.server, former.server))
    return tuple(sorted(servers, key=lambda one: one is not first))


def same_server(kit_id: str, server: JsonObject) -> list[ServerSnapshot]:
    """Return the kits of that name and server, the newest first."""
    every = [former_path(kit_id), *(p for p in _paths() if os.path.basename(p) == kit_id)]
    found = [one for path in every if (one := read(path)) and _is_same(one.server, server)]
    return sorted(found, key=lambda one: one.written_ns, reverse=True)


def unlocked(kit_id: str) -> tuple[str | None, str | None]:
    """Return the directory of the kit that a name means where no lock says it, or why it means
    none; both None where only another kind of kit could be called so.
    """
    paths = [path for path in _paths() if os.path.basename(path) == kit_id]
    former = former_path(kit_id)
    if not paths or (os.path.lexists(former) and read(former) is None):
        return None, None
    if len(paths) == 1 and not os.path.lexists(former):
        return paths[0], None
    found = choices(kit_id)
    if not found:
        return paths[0], None
    if len(found) > 1 and not os.path.lexists(former):
        why = (
            f"{len(found)} MCP servers have this name on this machine; "
            f"`vespe kit activate {kit_id}` asks which one this project means"
        )
        return found[0].path, why
    return found[0].path, None


def _paths() -> Iterator[str]:
    """Every directory that may be a kit, in the order of their digests."""
    root = directory()
    for digest in _listed(root):
        for name in _listed(os.path.join(root, digest)):
            yield os.path.join(root, digest, name)


def _listed(path: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(path) if not name.startswith("."))
    except OSError:
        return []


def read(path: str) -> ServerSnapshot | None:
    """Read what is kept there; None where it is not the kit of an MCP server, or cannot be read."""
    config = os.path.join(path, defaults.KIT_CONFIG_FILE)
    try:
        server = strict_json.read_object(config).get(SERVER_KEY)
        if not isinstance(server, dict):
            return None
        return ServerSnapshot(
            kit_id=os.path.basename(path),
            path=path,
            server=server,
            written_ns=os.stat(config).st_mtime_ns,
        )
    except (InvalidDocument, StorageError, OSError):
        return None


def _is_same(one: JsonObject, other: JsonObject) -> bool:
    """Whether two servers are reached in the same way, with the same secrets."""
    return all(one.get(key) == other.get(key) for key in SERVER_FORM)
