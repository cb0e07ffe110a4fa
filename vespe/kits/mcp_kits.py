"""An MCP server's tools as a kit of the user's own: a snapshot of its definitions, each pinned by
its digest.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from vespe import defaults
from vespe.documents import fields, strict_json
from vespe.errors import InvalidDocument, KitNotFound, StorageError, UsageError
from vespe.files import atomic, staging
from vespe.kits import lock as kit_lock
from vespe.kits import mcp_snapshots, roots
from vespe.kits import staging as kit_staging
from vespe.kits.mcp_snapshots import SERVER_KEY
from vespe.models import JsonObject, Kit
from vespe.processes.signals import uninterruptible
from vespe.records import dataclass
from vespe.tools import directory as tool_directory
from vespe.tools import mcp_definitions, mcp_skills, templates, unknown_keys
from vespe.tools.mcp_skills import ServerSkills

TYPE: Final = "mcp_tool"
"""The type of every tool of such a kit."""
_SLUG: Final = re.compile(r"[^a-z0-9]+")
_SECRET_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_HEADERS: Final = frozenset(
    ("authorization", "cookie", "x-api-key", "api-key", "proxy-authorization")
)
_CACHES: Final = {
    "npx": "~/.npm/",
    "npm": "~/.npm/",
    "uvx": "~/.cache/uv/",
    "uv": "~/.cache/uv/",
}
"""Where programs that fetch a server keep it: they do not start it where they cannot write
there.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KitDraft:
    """A kit to be written: `tools` are config.json documents by uid, `left_out` says why others are
    none. One of them reads the server's `skills`, where it has some.
    """

    kit_id: str
    server: JsonObject
    about: JsonObject
    definitions: Mapping[str, JsonObject]
    tools: Mapping[str, JsonObject]
    left_out: tuple[str, ...]
    skills: ServerSkills = mcp_skills.NONE


def kit_path(made: KitDraft) -> str:
    """Return the directory of a kit, which may not be written yet."""
    found = mcp_snapshots.digests(made.definitions)
    return mcp_snapshots.path_of(made.kit_id, made.server, found, made.skills.pins())


def check_id(kit_id: str) -> None:
    """Raise UsageError for what is not the id of a kit."""
    if not roots.KIT_ID.fullmatch(kit_id) or kit_id in defaults.DEFAULT_ORDER:
        raise UsageError(
            f"{kit_id!r} is not a valid kit id: use lower-case letters, digits and _, at most 64"
        )


def check_header(name: str, value: str) -> None:
    """Raise UsageError for a header that carries a secret and holds its value, not its name."""
    if name.lower() in _SECRET_HEADERS and not templates.secret_names(value):
        raise UsageError(
            f"the value of {name} is a secret, and it would be stored where everyone can read it",
            hint=f"--header '{name}: ${{env:NAME}}'",
        )


def parse_header(text: str) -> tuple[str, str]:
    """Return the name and the value of a header that is written as `NAME: VALUE`; raises UsageError
    as `check_header` does.
    """
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError(f"a header is 'NAME: VALUE', not {text!r}")
    check_header(name.strip(), value)
    return name.strip(), value.strip()


def describe_server(
    reach: JsonObject,
    *,
    secrets: Iterable[str],
    timeout_s: float | None,
    write: Iterable[str] = (),
) -> JsonObject:
    """Return a server as kit_config.json has it: `reach` is its `command`, or its `url` and
    `headers`, and the secrets that headers name are declared with the others. `write` are paths
    that it may write beside the project.

    Raises UsageError for what is not the name of a secret.
    """
    server = dict(reach)
    wanted = list(dict.fromkeys((*secrets, *templates.secret_names(server.get("headers", {})))))
    for name in wanted:
        if not _SECRET_NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not a name of an environment variable")
    if wanted:
        server["secrets"] = wanted
    if written := list(write):
        server["write"] = written
    if timeout_s:
        server["timeout_s"] = timeout_s
    return server


def with_write(server: JsonObject, paths: Iterable[str]) -> JsonObject:
    """Return a server that may write these paths too."""
    known = list(server.get("write", []))
    added = [path for path in dict.fromkeys(paths) if path not in known]
    return server | {"write": [*known, *added]} if added else server


def find(kit_id: str, project: str | None = None) -> Kit | None:
    """Return the kit of an MCP server that a name means in the project at that root, or outside of
    projects; None where it means none.

    Raises UsageError for what is no id, and where several servers are called so.
    """
    check_id(kit_id)
    try:
        kit = roots.find_kit(kit_id, project=project)
    except KitNotFound:
        return None
    is_of_server = isinstance(kit.document.get(SERVER_KEY), dict)
    if kit.problem and (is_of_server or kit.root_kind in roots.LOCKS):
        raise UsageError(f"the kit {kit_id!r} cannot be used: {kit.problem}")
    return kit if is_of_server else None


def known_server(
    kit_id: str, project: str | None = None
) -> tuple[JsonObject, dict[str, JsonObject]]:
    """Return the server of the kit that a name means, as `find` does, and the definitions that were
    approved, by name; raises UsageError where it is no MCP server's kit.
    """
    kit = find(kit_id, project)
    if kit is None:
        raise UsageError(
            f"there is no kit from an MCP server called {kit_id!r}",
            hint=f"vespe kit add-mcp {kit_id} -- COMMAND",
        )
    return kit.document[SERVER_KEY], mcp_snapshots.definitions_at(kit.path)


def draft(
    kit_id: str,
    server: JsonObject,
    definitions: Iterable[JsonObject],
    *,
    about: JsonObject,
    skills: ServerSkills = mcp_skills.NONE,
) -> KitDraft:
    """Make the kit of a server's definitions and skills; a tool that Vespe could not run is left
    out, with the reason.
    """
    tools: dict[str, JsonObject] = {}
    kept: dict[str, JsonObject] = {}
    left_out: list[str] = []
    names: set[str] = set()
    for definition in definitions:
        name = str(definition.get("name"))
        config = _config(kit_id, server, definition)
        found = _problem(config)
        if found and "output" in config["schema"]:
            # What a tool gives back can do without a schema; what it takes cannot.
            del config["schema"]["output"]
            said, found = found, _problem(config)
            if not found:
                left_out.append(f"the output schema of {name} is left out: {said}")
        if config["name"] in names:
            found = f"another of its tools is called {config['name']!r} here already"
        if found:
            left_out.append(f"{name} is left out: {found}")
            continue
        names.add(config["name"])
        tools[config["uid"]], kept[name] = config, mcp_definitions.pin(definition)
    if skills.skills:
        config = _skill_config(kit_id, server, skills)
        if found := _problem(config):
            left_out.append(f"the skills are left out: {found}")
            skills = mcp_skills.NONE
        else:
            tools[config["uid"]] = config
    return KitDraft(
        kit_id=kit_id,
        server=server,
        about=about,
        definitions=kept,
        tools=tools,
        left_out=tuple(left_out),
        skills=skills,
    )


def with_skills_of(made: KitDraft, pins: JsonObject) -> KitDraft:
    """Return a kit whose skills are read as a lock says: by no tool where it names none, as every
    lock did that was written before there were skills; else by the tool that it names.
    """
    if not made.skills.skills or (pins and pins["tool"] == made.skills.tool):
        return made
    found = replace(made.skills, tool=pins["tool"]) if pins else mcp_skills.NONE
    again = draft(
        made.kit_id, made.server, made.definitions.values(), about=made.about, skills=found
    )
    return replace(again, left_out=made.left_out)


def known_skills(kit_id: str, server: JsonObject) -> ServerSkills:
    """Return the skills of a server that were approved here last."""
    known = mcp_snapshots.same_server(kit_id, server)
    return mcp_snapshots.skills_at(known[0].path) if known else mcp_skills.NONE


def name_skill_tool(kit_id: str, server: JsonObject, definitions: Iterable[JsonObject]) -> str:
    """Return what the tool that reads a server's skills is called: as before, unless the server now
    has a tool of that name, else `read_skill`. The kit's name is added where the server has a tool
    of that name, or another kit's reader on this machine is called so, and then a number.
    """
    former = known_skills(kit_id, server)
    own = {mcp_definitions.local_name(str(one.get("name"))) for one in definitions}
    if former.skills and former.tool not in own:
        return former.tool
    taken = own | {
        mcp_snapshots.skills_at(one.path).tool
        for other in mcp_snapshots.names()
        if other != kit_id
        for one in mcp_snapshots.choices(other)
        if mcp_snapshots.skills_at(one.path).skills
    }
    own_name = f"{mcp_skills.READER}_{kit_id}"
    names = (mcp_skills.READER, own_name, *(f"{own_name}_{n}" for n in range(2, len(taken) + 3)))
    return next(name for name in map(mcp_definitions.local_name, names) if name not in taken)


def write(made: KitDraft) -> str:
    """Put a kit in its place, whole or not at all, and return its directory; raises
    StorageError.
    """
    path, root = kit_path(made), mcp_snapshots.directory()
    place = os.path.dirname(path)
    atomic.private_directory(root)
    with atomic.locked(root), staging.staging(root, target=path) as aside:
        staged, former = os.path.join(aside, "new"), os.path.join(aside, "former")
        known = mcp_snapshots.same_server(made.kit_id, made.server)
        for name, text in _with_unknown(known[0].path if known else path, _files(made)):
            file = os.path.join(staged, made.kit_id, name)
            atomic.private_directory(os.path.dirname(file), mode=0o755)
            atomic.write_atomic(file, text, durable=False)
        with atomic.translated("write", path), uninterruptible():
            kit_staging.flush(staged)
            if os.path.lexists(place):
                os.rename(place, former)
            try:
                atomic.rename_durably(staged, place)
            except OSError:
                if os.path.lexists(former):
                    os.rename(former, place)
                raise
    return path


def adopt(kit_id: str) -> None:
    """Keep a kit that Vespe 0.2 wrote under its name by its digest too; where it stood it stays.
    Raises as `find` and `write` do.
    """
    path = mcp_snapshots.former_path(kit_id)
    config = strict_json.read_object(os.path.join(path, defaults.KIT_CONFIG_FILE))
    definitions = mcp_snapshots.definitions_at(path)
    about = {"title": config.get("name"), "version": config.get("version")}
    write(draft(kit_id, config[SERVER_KEY], definitions.values(), about=about))


def taken_by(kit_id: str, *, project: str | None) -> str | None:
    """Say what has that name already, as a sentence; None where a server may have it.

    In the project at a root, which is to be given a server of that name, that is what its lock
    names; without one (None), any kit of the user's own.
    """
    check_id(kit_id)
    former = mcp_snapshots.former_path(kit_id)
    if os.path.lexists(former) and mcp_snapshots.read(former) is None:
        return f"there is a kit called {kit_id!r} already"
    if project is None:
        return f"there is a kit called {kit_id!r} already" if _is_known(kit_id) else None
    document = kit_lock.read_document(kit_lock.project_lock(project))
    locked = any(kit_id in document.get(key, {}) for key in ("kits", kit_lock.MCP_SERVERS))
    return f"this project has a kit called {kit_id!r} already" if locked else None


def check_new(kit_id: str, server: JsonObject, *, project: str | None = None) -> None:
    """Check that a kit can be made of a server: raises UsageError where the name is taken, as
    `taken_by` says, and as `check_server` does.
    """
    if taken := taken_by(kit_id, project=project):
        own = (
            ""
            if project
            else "; with `--activate`, this project can have another server of this name"
        )
        former = mcp_snapshots.former_path(kit_id)
        is_servers = not os.path.lexists(former) or mcp_snapshots.read(former) is not None
        hint = (
            f"`vespe kit add-mcp {kit_id} --update` reads its tools again{own}"
            if is_servers
            else "choose another name for the kit"
        )
        raise UsageError(taken, hint=hint)
    check_server(server)


def _is_known(kit_id: str) -> bool:
    former = mcp_snapshots.former_path(kit_id)
    return os.path.lexists(former) or bool(mcp_snapshots.choices(kit_id))


def permissions_of(server: JsonObject) -> JsonObject:
    """Return what a server's tools state beside the defaults: that its launcher may write where it
    keeps what it fetches, and what else the user lets the server write.
    """
    command = server.get("command")
    words = (
        [os.path.basename(word) for word in command if isinstance(word, str) and "=" not in word]
        if isinstance(command, list)
        else []
    )
    program = next((word for word in words if word != "env"), "")
    stated = server.get("write")
    paths = [_CACHES[program]] if program in _CACHES else []
    paths += [path for path in stated if path not in paths] if isinstance(stated, list) else []
    return {"write": [".", *paths]} if paths else {}


def _files(made: KitDraft) -> Iterator[tuple[str, str]]:
    title = made.about.get("title") or made.about.get("name") or made.kit_id
    config = {
        "kit_id": made.kit_id,
        "name": str(title),
        "description": f"The tools of the MCP server {title}.",
        "version": str(made.about.get("version") or "0"),
        SERVER_KEY: made.server,
    }
    yield defaults.KIT_CONFIG_FILE, strict_json.dump_json(config)
    yield mcp_snapshots.SNAPSHOT, strict_json.dump_json(dict(made.definitions))
    if made.skills.skills:
        yield mcp_snapshots.SKILLS_FILE, strict_json.dump_json(made.skills.to_json())
    for uid, tool in made.tools.items():
        yield f"{uid}/{defaults.CONFIG_FILE}", strict_json.dump_json(tool)
        text = (
            f"# {tool['name']}\n\n{tool['description']}\n\nOf the MCP server of the kit "
            f"{made.kit_id}.\n"
        )
        yield f"{uid}/{defaults.DESCRIPTION_FILE}", strict_json.repair_surrogates(text)


def _with_unknown(path: str, files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Return the files with the keys that the former kit at `path` had, and Vespe does not know."""
    for name, text in files:
        place, former = os.path.join(path, name), {}
        with contextlib.suppress(InvalidDocument, StorageError):
            former = strict_json.read_object_if_there(place)
        if former and os.path.basename(name) == defaults.CONFIG_FILE:
            text = strict_json.dump_json(
                unknown_keys.kept(strict_json.parse_object(text.encode()), former)
            )
        elif former and name == defaults.KIT_CONFIG_FILE:
            config = strict_json.parse_object(text.encode())
            text = strict_json.dump_json({**config, **fields.others(former, config)})
        yield name, text


def _problem(config: JsonObject) -> str | None:
    """Say what is wrong with a tool as it would stand on disk."""
    data = strict_json.dump_json(config).encode("utf-8")
    return tool_directory.verdict(data, uid=config["uid"], kit_id=config["kit_id"]).problem


def _config(kit_id: str, server: JsonObject, definition: JsonObject) -> JsonObject:
    remote = str(definition.get("name"))
    name = mcp_definitions.local_name(remote)
    schema: JsonObject = {"input": definition.get("inputSchema")}
    if isinstance(definition.get("outputSchema"), dict):
        schema["output"] = definition["outputSchema"]
    args = {key: server[key] for key in ("command", "env", "url", "headers") if key in server}
    config: JsonObject = {
        "uid": _uid(kit_id, remote),
        "name": name,
        "description": str(definition.get("description") or "").strip()
        or f"The tool {remote} of an MCP server that says no more of it.",
        "schema": schema,
        "implementation_details": {
            "type": TYPE,
            "entrypoint": remote,
            "args": args | {"digest": mcp_definitions.digest(definition)},
        },
        "kit_id": kit_id,
    }
    annotations = dict(definition.get("annotations") or {})
    if isinstance(title := definition.get("title"), str):
        annotations.setdefault("title", title)
    optional = {
        "annotations": annotations,
        "secrets": server.get("secrets"),
        "permissions": permissions_of(server),
    }
    if server.get("timeout_s"):
        optional["limits"] = {"timeout_s": server["timeout_s"]}
    return config | {key: value for key, value in optional.items() if value}


def _skill_config(kit_id: str, server: JsonObject, skills: ServerSkills) -> JsonObject:
    """Return the tool that reads the skills of a server."""
    config = _config(kit_id, server, mcp_skills.reader(kit_id, skills))
    pins = mcp_skills.pinned(skills)
    details = config["implementation_details"]
    details["entrypoint"] = "resources/read"
    details["args"] |= {"digest": mcp_definitions.json_digest(pins), "skills": pins}
    # A result that is cut is no longer an object, and its text would end in the middle.
    limits = {**config.get("limits", {}), "max_output_bytes": mcp_skills.MAX_SIZE}
    return config | {
        "uid": _uid(kit_id, "skills of the server"),
        "effects": ["reads_untrusted"],
        "limits": limits,
    }


def _uid(kit_id: str, remote: str) -> str:
    slug = _SLUG.sub("-", f"{kit_id}-{remote}".lower()).strip("-")[:40].strip("-")
    digest = hashlib.sha256(f"{kit_id}/{remote}".encode("utf-8", "replace")).hexdigest()
    return f"tool-{slug}-{digest[:10]}"


def check_server(server: JsonObject) -> None:
    """Raise InvalidDocument for what no tool may say of its server: a broken URL, a header that is
    none.
    """
    definition = {"name": "tool", "description": "A tool.", "inputSchema": {"type": "object"}}
    config = _config("kit", server, definition)
    if found := tool_directory.verdict(
        strict_json.dump_json(config).encode("utf-8"), uid=config["uid"], kit_id="kit"
    ).problem:
        raise InvalidDocument(found)
