"""Adding MCP servers as kits, in steps: find the servers, ask each for its tools, keep what was
approved.

The steps are apart because a person decides between them. What does not work is to ask and write in
one step: an answer of the server could then put tools into a kit that nobody has seen.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from vespe import errors
from vespe.calls import sandboxing, secrets
from vespe.documents.near import join_words, suggest
from vespe.files import atomic
from vespe.kits import client_files, mcp_kits, mcp_lock
from vespe.kits import lock as kit_lock
from vespe.kits.client_files import ServerEntry
from vespe.kits.mcp_kits import KitDraft
from vespe.kits.mcp_lock import LockedServer
from vespe.lazy import shlex
from vespe.models import Implementation, JsonObject, Tool
from vespe.processes import process
from vespe.projects import project, user_config
from vespe.projects.workspace import find_root
from vespe.tool_types import Context
from vespe.tools import mcp_skills, templates
from vespe.trust import gate
from vespe.types.mcp_tool import exchange, logins
from vespe.types.mcp_tool.exchange import Server, Surroundings

_PATIENCE_S: Final = 120.0
"""The first start of a server may download it, which takes longer than any call."""


def ask_server(kit_id: str, server: JsonObject, *, timeout_s: float | None = None) -> KitDraft:
    """Ask a server for its tools; return them as a kit, not written yet. Raises as `list_tools`
    does.
    """
    answer = list_tools(kit_id, server, timeout_s=timeout_s)
    found, left_out = mcp_skills.of_entries((), tool=mcp_skills.READER)
    if entries := answer.get("skills"):
        tool = mcp_kits.name_skill_tool(kit_id, server, answer["tools"])
        found, left_out = mcp_skills.of_entries(entries, tool=tool)
    about = answer.get("server", {})
    made = mcp_kits.draft(kit_id, server, answer["tools"], about=about, skills=found)
    return replace(made, left_out=(*made.left_out, *left_out))


def list_tools(kit_id: str, server: JsonObject, *, timeout_s: float | None = None) -> JsonObject:
    """Ask a server for its tools; return `{"tools", "server"}`. It has `timeout_s` seconds for
    that, else as long as a start that downloads it may take.

    Raises MissingSecret, SecretUnavailable, and as `exchange.ask` does.
    """
    user = user_config.load_user_config()
    kept = secrets.SecretValues(environment=os.environ, configured=user.secrets)
    values: dict[str, str] = {}
    for name in server.get("secrets", ()):
        names = secrets.names_of_secret(name, kit_id=kit_id)
        values[name] = kept.find(names)
        if not values[name]:
            raise errors.MissingSecret(name, tool=kit_id, names=names)
    headers = templates.substitute_secrets(server.get("headers", {}), values)
    surroundings = Surroundings(
        directory=os.getcwd(),
        environment=process.child_environment(os.environ, values)
        | templates.substitute_secrets(server.get("env", {}), values),
        timeout_s=timeout_s or max(_PATIENCE_S, server.get("timeout_s") or 0),
        allow_hosts=user.allow_hosts,
        secrets=tuple(values.values()),
    )
    if "command" in server:
        return _asked_in_sandbox(kit_id, server, surroundings, user)
    if logins.takes_login(server["url"], headers):
        return _asked_with_login(kit_id, server["url"], headers, surroundings, kept)
    reach = Server(url=server.get("url"), headers=headers)
    return exchange.ask(reach, {}, surroundings, name=kit_id, kit=kit_id).document


def _asked_in_sandbox(
    kit_id: str, server: JsonObject, surroundings: Surroundings, user: user_config.UserConfig
) -> JsonObject:
    """Start a server and ask it for its tools, confined as each call of them will be."""
    try:
        root = find_root(None)
        user = user_config.narrow(user, project.read_config(root).document)
    except errors.ProjectNotFound:
        root = surroundings.directory
    command = tuple(server["command"])
    tool = Tool(
        uid=kit_id,
        name=kit_id,
        description="",
        input_schema={},
        implementation=Implementation(type=mcp_kits.TYPE, args={"command": list(command)}),
        permissions=mcp_kits.permissions_of(server),
    )
    context = Context(
        project_root=root,
        directory=surroundings.directory,
        environment=surroundings.environment,
        secret_files=secrets.secret_files(user),
        timeout_s=surroundings.timeout_s,
        allow_hosts=user.allow_hosts,
    )
    with sandboxing.confine(tool, context, setting=user.sandbox) as held:
        surroundings = replace(
            surroundings, sandbox=held.sandbox, environment=dict(held.environment)
        )
        try:
            asked = exchange.ask(Server(command=command), {}, surroundings, name=kit_id, kit=kit_id)
        except errors.ToolExecutionError as error:
            told = sandboxing.explained(error, tool, held.sandbox)
            if isinstance(told, errors.PermissionDenied) and told.details["permission"] == "write":
                told.hint = (
                    "to allow this, run `vespe kit add-mcp` again with --write "
                    f"{shlex.quote(str(told.details['refused']))}"
                )
            raise told from None
        finally:
            sandboxing.planted(held.sandbox, tool=kit_id)
    return asked.document


def _asked_with_login(
    kit_id: str,
    url: str,
    headers: Mapping[str, str],
    surroundings: Surroundings,
    values: secrets.SecretValues,
) -> JsonObject:
    """Ask a server that listens for its tools, with the token of the kit's login where it has one;
    raises LoginRequired where the server wants one.
    """
    token = ""
    try:
        token = secrets.access_token(values, kit_id, url)
        try:
            return _asked(kit_id, url, headers, surroundings, token)
        except exchange.Unauthorized:
            token = token and secrets.access_token(values, kit_id, url, refused=token)
            if not token:
                raise
            return _asked(kit_id, url, headers, surroundings, token)
    except exchange.AccessRefused as error:
        told = logins.explained(error, kit_id, token=token)
    except errors.LoginRequired as error:
        told = error
    if isinstance(told, errors.LoginRequired):
        # The kit may not be there yet.
        command = f"{told.command} --url {shlex.quote(url)}"
        told = errors.LoginRequired(kit_id, why=told.why, command=command)
    raise told


def _asked(
    kit_id: str, url: str, headers: Mapping[str, str], surroundings: Surroundings, token: str
) -> JsonObject:
    reach = Server(url=url, headers=logins.with_token(headers, token) if token else headers)
    if token:
        surroundings = replace(surroundings, secrets=(*surroundings.secrets, token))
    return exchange.ask(reach, {}, surroundings, name=kit_id, kit=kit_id).document


def keep_in_project(root: str | None, drafts: Sequence[KitDraft], *, activate: bool) -> None:
    """Activate kits that were written in the project at `root`, and lock them there; without
    `activate`, renew what its lock says of them. None is no project.

    Earlier kits of the same name and server that no lock needs are deleted.
    """
    made = {draft.kit_id: mcp_kits.kit_path(draft) for draft in drafts}
    if root is not None:
        locked = made if activate else mcp_lock.of_project(root)
        mcp_lock.keep(root, [path for kit_id, path in made.items() if kit_id in locked])
        if activate:
            project.set_active(root, tuple(made), active=True)
    for draft in drafts:
        mcp_lock.tidy(draft.kit_id, draft.server, keep=made[draft.kit_id])


# Servers of a client's file


def entries_of(file: str, name: str | None, *, root: str | None = None) -> list[ServerEntry]:
    """Return the servers that a file names, or the one called `name`; the `problem` of one says why
    no kit can be made of it, for the project at `root` where one is given.

    Raises as `client_files.servers_in` does, and UsageError for a name that the file does not have.
    """
    entries = client_files.servers_in(atomic.read_bytes(os.path.realpath(file)), path=file)
    if name is not None:
        entries = _named(entries, name, file)
    for entry in entries:
        if not entry.problem and (taken := mcp_kits.taken_by(entry.kit_id, project=root)):
            entry.problem = (
                f"{taken}; `vespe kit add-mcp {entry.kit_id} --update` asks its server again"
            )
    return entries


def ask_entry(entry: ServerEntry, *, timeout_s: float | None) -> KitDraft | None:
    """Ask one server of several; where it fails, say why in its `problem` and return None, so that
    the others are asked all the same.
    """
    server: JsonObject = {**entry.server, **({"timeout_s": timeout_s} if timeout_s else {})}
    try:
        mcp_kits.check_server(server)
        return ask_server(entry.kit_id, server, timeout_s=timeout_s)
    except errors.Interrupted:
        raise
    except errors.VespeError as error:
        entry.problem = f"{error}{f' ({error.hint})' if error.hint else ''}"
        return None


def _named(entries: list[ServerEntry], name: str, file: str) -> list[ServerEntry]:
    wanted = [entry for entry in entries if name in (entry.name, entry.kit_id)]
    if not wanted and len(entries) == 1:
        return entries
    if not wanted:
        names = [entry.name for entry in entries]
        raise errors.UsageError(
            f"{file} names no server {name!r}",
            hint=suggest(name, names) or f"it names {join_words(names, see=f'see {file}')}",
        )
    return wanted


# Servers of a lock


def check_trusted(lock: str) -> None:
    """Raise NotTrusted where the project of a lock is not approved: it comes before a server that a
    repository names is started unasked.
    """
    gate.check(project.read_config(kit_lock.project_of(lock)), environ=os.environ)


def ask_locked(server: LockedServer, lock: str) -> KitDraft:
    """Ask a server that a lock names; raises InvalidDocument where it defines other tools than the
    locked ones.
    """
    draft = mcp_kits.with_skills_of(ask_server(server.kit_id, server.server), server.skills)
    mcp_lock.check(draft, server, lock)
    return draft
