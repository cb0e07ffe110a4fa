"""Kits on this machine: the roots that hold them, in the order in which the first hit wins."""

import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import Final

from vespe import defaults
from vespe.documents import fields, strict_json
from vespe.errors import InvalidDocument, KitNotFound, StorageError
from vespe.files import locations, ownership
from vespe.lazy import difflib, pattern
from vespe.models import JsonObject, Kit
from vespe.records import dataclass
from vespe.tools import allowances

KIT_ID: Final = pattern(r"[a-z0-9][a-z0-9_]{0,63}")
"""What a kit's id looks like; use it with fullmatch, since `$` would take a final newline."""
KITS_DIR: Final = "kits"
LINK: Final = "link"
LOCKS: Final = ("lock", "user_lock")
"""The kinds of the roots that are no directories: the project's lock and the user's own."""
_TEXTS: Final = ("name", "description", "version", "license", "homepage")
_TOOL_PREFIX: Final = "tool-"


def kit_roots(environ: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """Return the directories that may hold kits, as (absolute path, kind), in the order in which
    the first hit wins.

    The kinds: `env` (each absolute directory of VESPE_KITS_PATH: a relative one would be another in
    every project), `link` (authors' own directories), `user`, `site`, `shipped`. They may not
    exist; a directory that is named twice counts once.
    """
    named = (os.environ if environ is None else environ).get(defaults.ENV_KITS_PATH, "")
    roots = [
        (os.path.abspath(path), "env") for path in named.split(os.pathsep) if os.path.isabs(path)
    ]
    roots.append((links_dir(), LINK))
    roots.append((os.path.join(locations.user_data_dir(), KITS_DIR), "user"))
    roots += [(os.path.join(path, KITS_DIR), "site") for path in locations.site_data_dirs()]
    if shipped := locations.shipped_kits_dir():
        roots.append((shipped, "shipped"))
    first: dict[str, tuple[str, str]] = {}
    for path, kind in roots:
        first.setdefault(os.path.realpath(path), (path, kind))
    return list(first.values())


def relative_roots() -> list[str]:
    """Return the parts of VESPE_KITS_PATH that `kit_roots` passes over, since they are relative."""
    return [
        path
        for path in os.environ.get(defaults.ENV_KITS_PATH, "").split(os.pathsep)
        if path and not os.path.isabs(path)
    ]


def links_dir() -> str:
    """Return the directory of the links to kits that their authors edit where they are; it may not
    exist.
    """
    return os.path.join(locations.user_data_dir(), "links")


def mcp_kits_dir() -> str:
    """Return the directory of the kits of MCP servers; it may not exist."""
    return os.path.join(locations.user_data_dir(), defaults.MCP_KITS_DIR)


def lock_paths(project: str | None, *, absent: bool = False) -> list[tuple[str, str]]:
    """Return the locks whose kits count in the project at that root (None: in none), as (path,
    kind): those that exist, or with `absent` those that do not.
    """
    paths = (
        []
        if project is None
        else [(os.path.join(project, defaults.PROJECT_DIR, defaults.LOCK_FILE), LOCKS[0])]
    )
    paths.append((os.path.join(locations.user_data_dir(), defaults.LOCK_FILE), LOCKS[1]))
    return [(path, kind) for path, kind in paths if os.path.lexists(path) != absent]


def find_kits(
    environ: Mapping[str, str] | None = None,
    *,
    count_tools: bool = True,
    project: str | None = None,
) -> tuple[Kit, ...]:
    """Return every kit of every root, in the order of the roots and of their ids within a root.

    After those that the user names come the kits that are installed: by the lock of the project at
    that root, by the user's own.

    A kit is a directory with a kit_config.json; it may be a symbolic link, since whoever fills
    these roots is trusted. What cannot be used has its reason as `problem`: a broken
    kit_config.json, or an earlier root that hides it. A root that cannot be read holds nothing.
    `count_tools=False` leaves `tools` 0, which is all that resolution needs. Raises InvalidDocument
    for a lock that cannot be read: nobody knows then which kits count.
    """
    found: list[Kit] = []
    first: dict[str, Kit] = {}
    for place in _places(environ, project):
        kit = _read_kit(place)
        if kit is None:
            continue
        earlier = first.setdefault(kit.kit_id, kit)
        if earlier is not kit and (earlier.path == kit.path or _is_same_server(earlier, kit)):
            continue
        kit = kit if earlier is kit else replace(kit, problem=f"hidden by {earlier.path}")
        found.append(replace(kit, tools=_count_tools(kit.path)) if count_tools else kit)
    return tuple(found)


def _is_same_server(kit: Kit, hidden: Kit) -> bool:
    """Whether both are kits of one MCP server: 0.2 stored it by its name alone, and a sync stores
    it by its digest too. Only one of them is a kit of this project, and neither is in its way.
    """
    from vespe.kits.mcp_snapshots import SERVER_KEY

    server = hidden.document.get(SERVER_KEY)
    return isinstance(server, dict) and server == kit.document.get(SERVER_KEY)


def find_kit(
    kit_id: str, *, environ: Mapping[str, str] | None = None, project: str | None = None
) -> Kit:
    """Return the kit of that id that is not hidden, broken or not; raises KitNotFound with the
    nearest ids.
    """
    if KIT_ID.fullmatch(kit_id):
        for place in _places(environ, project, only=kit_id):
            kit = _read_kit(place)
            if kit is not None:
                return replace(kit, tools=_count_tools(kit.path))
    found = find_kits(environ, count_tools=False, project=project)
    if odd := [kit for kit in found if kit.kit_id == kit_id]:
        return odd[0]  # its id is against the rules, which its problem says
    known = sorted({kit.kit_id for kit in found})
    begun = [name for name in known if kit_id and name.startswith(kit_id)]
    raise KitNotFound(kit_id, close=begun[:3] or difflib.get_close_matches(kit_id, known, n=3))


def config_problem(document: JsonObject, kit_id: str) -> InvalidDocument | None:
    """Say why a kit_config.json that stands in the directory `kit_id` is refused, or None."""
    try:
        _checked(document, kit_id, defaults.KIT_CONFIG_FILE)
    except InvalidDocument as error:
        return error
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A directory that may be a kit, with its root and the root's kind; `problem` says why its name
    does not mean it.
    """

    path: str
    root: str
    kind: str
    problem: str | None = None


def _places(
    environ: Mapping[str, str] | None, project: str | None, only: str | None = None
) -> Iterator[_Place]:
    """Every directory that may be a kit (of the id `only`), the first that hits first."""
    roots = kit_roots(environ)
    named = [row for row in roots if row[1] in ("env", LINK)]
    servers, locked = mcp_kits_dir(), set[str]()
    for root, kind in (*named, *lock_paths(project), *roots[len(named) :]):
        if kind in LOCKS:
            for place in _locked(root, kind):
                kit_id = os.path.basename(place.path)
                locked.add(kit_id)
                if only in (None, kit_id):
                    yield place
        else:
            if kind == "user" and os.path.isdir(servers):
                yield from _of_servers(locked, only)
            names = _directories(root, links=kind == LINK) if only is None else [only]
            yield from (
                _Place(path=os.path.join(root, kit_id), root=root, kind=kind) for kit_id in names
            )


def _locked(lock_path: str, kind: str) -> Iterator[_Place]:
    """Every kit of a lock, where it is if it is on this machine."""
    from vespe.kits import lock, store

    kits, document = lock.read_whole(lock_path)
    for kit_id in sorted(kits):
        path = store.kit_path(kits[kit_id].digest, kit_id)
        yield _Place(path=path, root=lock_path, kind=kind)
    if listed := document.get(lock.MCP_SERVERS):
        from vespe.kits import mcp_snapshots

        entries = listed if isinstance(listed, dict) else {}
        for kit_id in sorted(entries):
            if KIT_ID.fullmatch(kit_id) and kit_id not in kits:
                path = mcp_snapshots.locked_path(kit_id, entries[kit_id])
                # Nothing verifies its bytes at each call, so its directory is looked at as others
                # of the user's own are.
                here = os.path.lexists(path)
                yield _Place(
                    path=path,
                    root=mcp_snapshots.root_of(path) if here else lock_path,
                    kind="user" if here else kind,
                )


def _of_servers(locked: Set[str], only: str | None) -> Iterator[_Place]:
    """The kits of MCP servers that no lock names, each as its name means it here."""
    from vespe.kits import mcp_snapshots

    for kit_id in mcp_snapshots.names() if only is None else [only]:
        if kit_id not in locked:
            path, why = mcp_snapshots.unlocked(kit_id)
            if path is not None:
                place = mcp_snapshots.root_of(path)
                yield _Place(path=path, root=place, kind="user", problem=why)


def _read_kit(place: _Place) -> Kit | None:
    """Read one kit; None where the directory holds no kit_config.json, and so is no kit."""
    path, root, kind = place.path, place.root, place.kind
    kit = Kit(
        kit_id=os.path.basename(path),
        path=os.path.realpath(path) if kind == LINK else path,
        root=root,
        root_kind=kind,
    )
    config = os.path.join(kit.path, defaults.KIT_CONFIG_FILE)
    if (
        kind not in (*LOCKS, "shipped")
        and (why := _of_others(root, kit.path))
        and os.path.lexists(config)
    ):
        return replace(kit, problem=why)
    if kind == LINK and os.path.islink(path) and not os.path.lexists(config):
        return replace(
            kit,
            problem=f"its link no longer leads to a kit; `vespe kit unlink {kit.kit_id}` removes "
            "it",
        )
    try:
        document = strict_json.read_object(config)
        name, description, version = _checked(document, kit.kit_id, config)
        return replace(
            kit,
            name=name,
            description=description,
            version=version,
            document=document,
            problem=place.problem,
        )
    except StorageError as error:
        if kind in LOCKS and not os.path.lexists(config):
            return replace(
                kit,
                problem="is in the lock but not installed on this machine; `vespe kit sync` "
                "installs it",
            )
        return None if not os.path.lexists(config) else replace(kit, problem=str(error))
    except InvalidDocument as error:
        return replace(kit, problem=str(error))


def _of_others(*directories: str) -> str | None:
    """Say why others could have put a kit there; None where only the user and root can. What was
    installed is told by its digest.
    """
    for directory in directories:
        if why := ownership.foreign_writer(directory):
            return (
                f"is not used: {directory} {why}, who could put any tool there; "
                "`chmod go-w` it, or own it"
            )
    return None


def _checked(
    document: JsonObject, kit_id: str, path: str
) -> tuple[str | None, str | None, str | None]:
    texts = {key: fields.string(document, key, path=path) for key in _TEXTS}
    if not KIT_ID.fullmatch(kit_id) or kit_id in defaults.DEFAULT_ORDER:
        raise InvalidDocument(
            f"is in a directory called {kit_id!r}, which is not a kit id", path=path
        )
    if document.get("kit_id") != kit_id:
        raise fields.wrong_type(
            f'"{kit_id}", the name of its directory',
            document.get("kit_id"),
            path=path,
            pointer="/kit_id",
        )
    for pointer, reason in allowances.wrong_limits(document):
        raise InvalidDocument(reason, path=path, pointer=pointer)
    return texts["name"], texts["description"], texts["version"]


def _directories(root: str, *, links: bool) -> list[str]:
    try:
        with os.scandir(root) as entries:
            found = [entry for entry in entries if not entry.name.startswith(".")]
            return sorted(
                entry.name
                for entry in found
                if os.path.isdir(entry.path) or (links and entry.is_symlink())
            )
    except OSError:
        return []


def _count_tools(kit: str) -> int:
    return sum(
        1
        for name in tool_directories(kit)
        if os.path.lexists(f"{kit}/{name}/{defaults.CONFIG_FILE}")
    )


def tool_directories(kit: str) -> Iterator[str]:
    try:
        with os.scandir(kit) as entries:
            yield from (
                e.name
                for e in entries
                if e.name.startswith(_TOOL_PREFIX) and e.is_dir(follow_symlinks=False)
            )
    except OSError:
        return
