"""Adding MCP servers as kits, in steps: find the servers, ask each for its tools, keep what was
approved.

The steps are apart because a person decides between them. What does not work is to ask and write in
one step: an answer of the server could then put tools into a kit that nobody has seen.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from vespe import errors
from vespe.calls import sandboxing, secrets
from vespe.documents.near import join_words, suggest
from vespe.files import atomic
from vespe.files.private_copy import private_directory
from vespe.kits import client_files, mcp_kits, mcp_lock, mcp_snapshots
from vespe.kits import lock as kit_lock
from vespe.kits.client_files import ServerEntry
from vespe.kits.mcp_kits import KitDraft
from vespe.kits.mcp_lock import LockedServer
from vespe.lazy import shlex
from vespe.models import Implementation, JsonObject, Tool
from vespe.processes import process
from vespe.projects import project, user_config
from vespe.tool_types import Context
from vespe.tools import mcp_skills, templates
from vespe.trust import gate
from vespe.types.mcp_tool import exchange, logins
from vespe.types.mcp_tool.exchange import Server, Surroundings

_PATIENCE_S: Final = 120.0
"""The first start of a server may download it, which takes longer than any call."""


def ask_server(
    kit_id: str, server: JsonObject, *, timeout_s: float | None = None, root: str | None = None
) -> KitDraft:
    """Ask a server for its tools; return them as a kit, not written yet. `root` is the project
    whose calls will start it; None outside of projects. It has `timeout_s` seconds to answer, else
    as long as a start that downloads it may take.

    Raises MissingSecret, SecretUnavailable, LoginRequired, and as `exchange.ask` does.
    """
    user = user_config.load_user_config()
    kept = secrets.SecretValues(environment=os.environ, configured=user.secrets)
    values: dict[str, str] = {}
    for name in server.get("secrets", ()):
        names = secrets.names_of_secret(name, kit_id=kit_id)
        values[name] = _found(kept, name, names, kit_id)
    surroundings = _surroundings(
        server, values, user, timeout_s=timeout_s, directory=root or os.getcwd()
    )
    if "command" in server:
        answer = _asked_in_sandbox(
            kit_id, server, surroundings, user, root=root, widened=_widened(kit_id)
        )
    else:
        authorize = functools.partial(secrets.access_token, kept, kit_id)
        answer = _asked_at_url(kit_id, server, values, surroundings, authorize)
    found, left_out = mcp_skills.of_entries((), tool=mcp_skills.READER)
    if entries := answer.get("skills"):
        tool = mcp_kits.name_skill_tool(kit_id, server, answer["tools"])
        found, left_out = mcp_skills.of_entries(entries, tool=tool)
        if answer.get("has_more_skills"):
            left_out += (f"the server lists more skills; Vespe reads the first {len(entries)}",)
    about = answer.get("server", {})
    made = mcp_kits.draft(kit_id, server, answer["tools"], about=about, skills=found)
    return replace(made, left_out=(*made.left_out, *left_out))


def list_tools(
    server: JsonObject, *, name: str, login: str = "", root: str | None = None
) -> list[JsonObject]:
    """Return the tools of a server that is no kit's. `name` is what errors call it. It is sent no
    token, or that of `login`, as `token_of_login` says; secrets have the names that they are given.

    Raises as `ask_server` does.
    """
    user = user_config.load_user_config()
    kept = secrets.SecretValues(environment=os.environ, configured=user.secrets)
    values = {wanted: _found(kept, wanted, (wanted,), name) for wanted in server.get("secrets", ())}
    surroundings = _surroundings(server, values, user, timeout_s=None, directory=os.getcwd())
    if "command" in server:
        answer = _asked_in_sandbox(
            name, server, surroundings, user, root=root, widened=_NEVER_WIDENED
        )
        return list(answer["tools"])
    authorize = functools.partial(token_of_login, kept, login, root=root) if login else None
    try:
        answer = _asked_at_url(login or name, server, values, surroundings, authorize)
    except exchange.AccessRefused as error:
        error.hint = "--login KIT sends the token of your login to a kit, --header another one"
        raise
    return list(answer["tools"])


def token_of_login(
    values: secrets.SecretValues, kit_id: str, url: str, *, root: str | None, refused: str = ""
) -> str:
    """Return the token of the login to a kit for a server that the user names by its URL; "" for
    none. The kit's secret MCP_TOKEN is sent to the kit's own server alone, where the kit is known.

    Raises Refused where only that secret is there, and as `secrets.access_token` does.
    """
    mcp_kits.check_id(kit_id)
    urls = mcp_lock.urls_of(kit_id, root)
    is_own = not urls or url in urls
    token = secrets.access_token(values, kit_id, url, refused=refused, is_own=is_own)
    secret = secrets.scoped_name(secrets.TOKEN, kit_id)
    if not token and not is_own and values.known((secret,)):
        raise errors.Refused(
            f"the token of the secret {secret} is for the server of the kit {kit_id}, which is not "
            f"at {url}",
            hint=f"`vespe mcp login {kit_id} --url {shlex.quote(url)}` logs in there; --header "
            "sends another secret",
        )
    return token


def _found(kept: secrets.SecretValues, name: str, names: tuple[str, ...], called: str) -> str:
    if value := kept.find(names):
        return value
    raise errors.MissingSecret(name, tool=called, names=names)


def _surroundings(
    server: JsonObject,
    values: Mapping[str, str],
    user: user_config.UserConfig,
    *,
    timeout_s: float | None,
    directory: str,
) -> Surroundings:
    return Surroundings(
        directory=directory,
        environment=process.child_environment(os.environ, values)
        | templates.substitute_secrets(server.get("env", {}), values),
        timeout_s=timeout_s or max(_PATIENCE_S, server.get("timeout_s") or 0),
        allow_hosts=user.allow_hosts,
        secrets=tuple(values.values()),
    )


def _asked_in_sandbox(
    name: str,
    server: JsonObject,
    surroundings: Surroundings,
    user: user_config.UserConfig,
    *,
    root: str | None,
    widened: Mapping[str, str],
) -> JsonObject:
    """Start a server and ask it for its tools, confined as each call of them will be. Outside of
    projects, a private directory stands for the project that it may write. `widened` says how to
    let the server do what the sandbox refused.
    """
    command = tuple(server["command"])
    tool = Tool(
        uid=name,
        name=name,
        description="",
        input_schema={},
        implementation=Implementation(type=mcp_kits.TYPE, args={"command": list(command)}),
        permissions=mcp_kits.permissions_of(server),
        kit_id=name,
    )
    with contextlib.ExitStack() as held_open:
        if root is None:
            place = held_open.enter_context(private_directory())
        else:
            place = root
            user = user_config.narrow(user, project.read_config(root).document)
        context = Context(
            project_root=place,
            directory=surroundings.directory,
            environment=surroundings.environment,
            secret_files=secrets.secret_files(user),
            timeout_s=surroundings.timeout_s,
            allow_hosts=user.allow_hosts,
        )
        held = held_open.enter_context(sandboxing.confine(tool, context, setting=user.sandbox))
        surroundings = replace(
            surroundings, sandbox=held.sandbox, environment=dict(held.environment)
        )
        try:
            asked = exchange.ask(Server(command=command), {}, surroundings, name=name, kit=name)
        except errors.ToolExecutionError as error:
            error.details["widened"] = widened
            raise sandboxing.explained(error, tool, held.sandbox) from None
        finally:
            sandboxing.planted(held.sandbox, tool=name)
    return asked.document


_NEVER_WIDENED: Final = {
    "secret": "`--secret NAME` passes a secret to the server",
    "": "no option allows this to a server while its tools are compared",
}
"""For a server that is no kit's: nothing that a kit is given would count for it."""


def _widened(kit_id: str) -> dict[str, str]:
    """Return which commands let a server do what the sandbox refused it while it was asked."""
    known = bool(mcp_snapshots.choices(kit_id))
    return {
        "write": f"vespe kit add-mcp {kit_id} {'--update' if known else '…'} --write",
        "secret": "its server gets a secret by `--secret NAME` of `vespe kit add-mcp`",
        "": "`vespe kit add-mcp` can let a server write more (--write), and nothing else",
    }


def _asked_at_url(
    kit_id: str,
    server: JsonObject,
    values: Mapping[str, str],
    surroundings: Surroundings,
    authorize: Callable[..., str] | None,
) -> JsonObject:
    """Ask a server that listens for its tools. `authorize` gives the token for a URL, "" for none,
    and another one for one that was `refused`; raises LoginRequired where the server wants a login.
    """
    url, headers = server["url"], templates.substitute_secrets(server.get("headers", {}), values)
    if authorize is None or not logins.takes_login(url, headers):
        return _asked(kit_id, url, headers, surroundings, "")
    token = ""
    try:
        token = authorize(url)
        try:
            return _asked(kit_id, url, headers, surroundings, token)
        except exchange.Unauthorized:
            token = token and authorize(url, refused=token)
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


def ask_entry(
    entry: ServerEntry, *, timeout_s: float | None, root: str | None = None
) -> KitDraft | None:
    """Ask one server of several; where it fails, say why in its `problem` and return None, so that
    the others are asked all the same.
    """
    server: JsonObject = {**entry.server, **({"timeout_s": timeout_s} if timeout_s else {})}
    try:
        mcp_kits.check_server(server)
        return ask_server(entry.kit_id, server, timeout_s=timeout_s, root=root)
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
    asked = ask_server(server.kit_id, server.server, root=kit_lock.project_of(lock))
    draft = mcp_kits.with_skills_of(asked, server.skills)
    mcp_lock.check(draft, server, lock)
    return draft
