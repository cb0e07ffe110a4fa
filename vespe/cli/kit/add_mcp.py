"""`vespe kit add-mcp`: an MCP server's tools as a kit, shown, approved and pinned."""

import os
import re
from collections.abc import Mapping

import click

from vespe import errors
from vespe.cli import kit_facts, options, report, tool_review
from vespe.cli.waiting import waiting
from vespe.documents.near import listed, meant
from vespe.files import atomic
from vespe.kits import client_files, mcp_kits, mcp_lock, roots
from vespe.kits.client_files import Found
from vespe.kits.mcp_kits import Draft
from vespe.models import JsonObject
from vespe.processes import process
from vespe.projects import project, user_config
from vespe.projects.workspace import find_root
from vespe.tools import mcp_definitions, templates
from vespe.types.mcp_tool import exchange
from vespe.types.mcp_tool.exchange import Server, Surroundings

_SECRET = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_HEADERS = frozenset(
    ("authorization", "cookie", "x-api-key", "api-key", "proxy-authorization")
)
_PATIENCE_S = 120.0


@click.command(
    "add-mcp",
    epilog="Example: vespe kit add-mcp files -- npx -y @modelcontextprotocol/server-filesystem .",
)
@click.argument("kit_id", metavar="[NAME]", required=False)
@click.argument("server_command", nargs=-1, metavar="[-- COMMAND...]")
@click.option(
    "--from",
    "source",
    metavar="FILE",
    help="Take the servers of a client's own file, or of a server.json; NAME takes one.",
)
@click.option(
    "--url",
    metavar="URL",
    help="A server that listens, over Streamable HTTP, instead of a command.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header for --url; a secret in it is ${env:NAME}.",
)
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="An environment variable that the server may see; may be repeated.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=float,
    metavar="S",
    help="Deadline of each call, in seconds; default: 30.",
)
@click.option(
    "--update", is_flag=True, help="Ask the server again, show what changed, and approve that."
)
@click.option(
    "--activate", is_flag=True, help="Make the kit's tools available in this project too."
)
@options.yes_option
@options.project_option
@options.json_option
def command(
    kit_id: str | None,
    server_command: tuple[str, ...],
    source: str | None,
    url: str | None,
    headers: tuple[str, ...],
    secrets: tuple[str, ...],
    timeout_s: float | None,
    update: bool,
    activate: bool,
    yes: bool,
    project_dir: str | None,
    as_json: bool,
) -> int | None:
    """Start an MCP server, show its tools, and keep their definitions as the kit NAME among your
    own.

    Each call starts the server anew, with the same limits as every tool, and is refused where the
    server's definition is not the one that you approved: `--update` shows what changed. Without it,
    a kit of that name is never replaced. With `--activate` the project's lock names the server and
    its tools' digests, so that `vespe kit sync` makes the kit elsewhere.
    """
    if source is not None:
        if server_command or url or headers or secrets or update:
            raise errors.UsageError(
                "--from takes the servers as the file says them, and nothing beside it",
                hint="leave the rest out",
            )
        root = find_root(project_dir) if activate else None
        return _add_all(source, kit_id, timeout_s=timeout_s, root=root, yes=yes, as_json=as_json)
    if kit_id is None:
        raise errors.UsageError(
            "say what the kit is called, or --from FILE", hint="vespe kit add-mcp NAME -- COMMAND"
        )
    if update and (server_command or url or headers or secrets or timeout_s):
        hint = f"to change it: `vespe kit remove {kit_id}`, and add it anew"
        raise errors.UsageError(
            "--update is about the server that is known, and takes no other", hint=hint
        )
    root = find_root(project_dir) if activate else None
    here = root or kit_facts.root_if_any(project_dir)
    if update:
        server, before = mcp_kits.known_server(kit_id)
    else:
        server, before = (
            _server(server_command, url, headers=headers, secrets=secrets, timeout_s=timeout_s),
            {},
        )
        if mcp_kits.taken(kit_id):
            raise errors.UsageError(
                f"there is a kit called {kit_id!r} already",
                hint=f"`vespe kit add-mcp {kit_id} --update` asks it again",
            )
        mcp_kits.check_server(server)
    announce(server)
    if not update:
        confirm_start(server, yes=yes)
    made = asked(kit_id, server)
    changes = approved(made, before, update=update, yes=yes)
    if root is not None:
        project.set_active(root, (kit_id,), active=True)
    if here is not None and (root is not None or kit_id in mcp_lock.of_project(here)):
        mcp_lock.keep(here, (kit_id,))
    _tell(
        made,
        changes,
        done="updated" if update else "made",
        active=root is not None,
        as_json=as_json,
    )
    return None


def _server(
    words: tuple[str, ...],
    url: str | None,
    *,
    headers: tuple[str, ...],
    secrets: tuple[str, ...],
    timeout_s: float | None,
) -> JsonObject:
    if bool(words) == bool(url):
        raise errors.UsageError(
            "say how to reach the server: a command behind --, or --url",
            hint="vespe kit add-mcp NAME -- COMMAND",
        )
    if headers and not url:
        raise errors.UsageError("--header is for --url; a command gets what it needs with --secret")
    if timeout_s is not None and not 0 < timeout_s <= 86_400:
        raise errors.UsageError("--timeout is a number of seconds above 0, at most 86400")
    server: JsonObject = {"url": url} if url else {"command": list(words)}
    named = {**dict(map(_header, headers))}
    if named:
        server["headers"] = named
    wanted = dict.fromkeys((*secrets, *templates.secret_names(named)))
    for name in wanted:
        if not _SECRET.fullmatch(name):
            raise errors.UsageError(f"{name!r} is not a name of an environment variable")
    if wanted:
        server["secrets"] = list(wanted)
    return server | ({"timeout_s": timeout_s} if timeout_s else {})


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise errors.UsageError(f"a header is 'NAME: VALUE', not {text!r}")
    if name.strip().lower() in _SECRET_HEADERS and not templates.secret_names(value):
        raise errors.UsageError(
            f"the value of {name.strip()} would be kept in a file for all to read",
            hint=f"--header '{name.strip()}: ${{env:NAME}}'",
        )
    return name.strip(), value.strip()


def confirm_start(server: JsonObject, *, yes: bool) -> None:
    """Ask before a server is started, or connected to."""
    options.confirmed(
        "Start it, to see its tools?"
        if "command" in server
        else "Connect to it, to see its tools?",
        yes=yes,
    )


def approved(
    made: Draft, before: Mapping[str, JsonObject], *, update: bool, yes: bool
) -> tuple[str, ...]:
    """Show the kit, ask, and write it; in an `update` only what changed since `before`, which is
    returned in lines.
    """
    changes = tuple(mcp_definitions.changes(before, made.definitions)) if update else ()
    _show(made, changes, update=update)
    if not update or changes:
        options.confirmed(
            "Approve what changed?"
            if update
            else f"Approve {report.count(len(made.tools), 'tool')}?",
            yes=yes,
        )
        mcp_kits.write(made)
    return changes


def asked(kit_id: str, server: JsonObject) -> Draft:
    """Ask a server for its tools; return them as a kit, not written yet."""
    user = user_config.load_user_config()
    values = {
        name: os.environ.get(name) or user.secrets.get(name, "")
        for name in server.get("secrets", ())
    }
    for name, value in values.items():
        if not value:
            raise errors.MissingSecret(name, tool=kit_id)
    reach = Server(
        command=tuple(server["command"]) if "command" in server else None,
        url=server.get("url"),
        headers=templates.substitute_secrets(server.get("headers", {}), values),
    )
    surroundings = Surroundings(
        directory=os.getcwd(),
        environment=process.child_environment(os.environ, values),
        timeout_s=max(_PATIENCE_S, server.get("timeout_s") or 0),
        allow_hosts=user.allow_hosts,
        secrets=tuple(values.values()),
    )
    with waiting(f"asking the server of {kit_id} for its tools"):
        answer = exchange.ask(reach, {}, surroundings, name=kit_id, kit=kit_id).document
    return mcp_kits.draft(kit_id, server, answer["tools"], about=answer.get("server", {}))


def announce(server: JsonObject) -> None:
    """Say how a server is reached, before it is."""
    reach = server.get("url") or server["command"]
    report.say(
        "The server, "
        f"which every call will {'ask' if 'url' in server else 'start, with your rights'}: "
        f"{report.json_line(reach)}"
    )
    for key in ("headers", "secrets"):
        if key in server:
            report.say(f"  {key}  {report.json_line(server[key])}")
    for key, paths in mcp_kits.permissions_of(server).items():
        report.say(f"  {key}  {report.json_line(paths)}")


def _show(made: Draft, changes: tuple[str, ...], *, update: bool) -> None:
    """Print what would be approved, whole and inert: it is what the question is about."""
    for line in changes:
        report.say(report.one_line(line))
    for tool in () if update else made.tools.values():
        report.say(f"\n{report.one_line(tool['name'])}")
        report.say(f"  {report.one_line(tool['description'])}")
        report.say(f"  input  {report.json_line(tool['schema']['input'])}")
        if says := tool_review.hints_of(tool.get("annotations")):
            report.say(f"  says   {report.one_line(says)}")
    for sentence in made.left_out:
        report.warn(report.one_line(sentence))


def _tell(made: Draft, changes: tuple[str, ...], *, done: str, active: bool, as_json: bool) -> None:
    kit = roots.find_kit(made.kit_id)
    if as_json:
        tools = [{"uid": uid, "name": tool["name"]} for uid, tool in made.tools.items()]
        facts = {
            "kit_id": made.kit_id,
            "path": kit.path,
            "tools": tools,
            "left_out": list(made.left_out),
        }
        return report.emit_json(facts | {"changes": list(changes)})
    if done == "updated" and not changes:
        return report.say(f"{made.kit_id} is what you approved: nothing changed")
    report.say(
        f"{done} the kit {made.kit_id} with {report.count(len(made.tools), 'tool')} in {kit.path}"
    )
    if active:
        return report.say(f"active: {made.kit_id}")
    return report.say(f"`vespe kit activate {made.kit_id}` makes them available in a project")


# All servers of a file


def _add_all(
    file: str,
    name: str | None,
    *,
    timeout_s: float | None,
    root: str | None,
    yes: bool,
    as_json: bool,
) -> int:
    """Make a kit of each server that FILE names, or of the one called `name`; return 1 where one of
    them could not be made.

    Raises as `servers_in` does, UsageError for a name that the file does not have, Refused where
    nobody approves.
    """
    found = client_files.servers_in(atomic.read_bytes(os.path.realpath(file)), path=file)
    if name is not None:
        found = _named(found, name, file)
    problems = [(one, problem) for one in found if (problem := one.problem or _taken(one))]
    wanted = [one for one in found if not one.problem and not _taken(one)]
    for one, problem in problems:
        report.warn(report.one_line(f"{one.name} is left out: {problem}"))
    for one in wanted:
        report.say(f"\n{report.one_line(one.name)}, as the kit {one.kit_id}")
        announce(one.server)
        for note in one.notes:
            report.say(f"  {report.one_line(note)}")
    if wanted:
        options.confirmed(
            f"Start or reach {report.count(len(wanted), 'server')}, to see their tools?", yes=yes
        )
    made = [
        draft for one in wanted if (draft := _asked_or_left(one, timeout_s, problems)) is not None
    ]
    for draft in made:
        report.say(f"\nthe kit {draft.kit_id}")
        _show(draft, (), update=False)
    if made:
        total = sum(len(draft.tools) for draft in made)
        options.confirmed(
            f"Approve {report.count(total, 'tool')} of {report.count(len(made), 'server')}?",
            yes=yes,
        )
    for draft in made:
        mcp_kits.write(draft)
    if root is not None and made:
        project.set_active(root, tuple(draft.kit_id for draft in made), active=True)
        mcp_lock.keep(root, tuple(draft.kit_id for draft in made))
    _tell_all(made, problems, as_json=as_json)
    return 1 if any(not one.is_off for one, _ in problems) else 0


def _named(found: list[Found], name: str, file: str) -> list[Found]:
    wanted = [one for one in found if name in (one.name, one.kit_id)] or (
        found if len(found) == 1 else []
    )
    if not wanted:
        names = [one.name for one in found]
        raise errors.UsageError(
            f"{file} names no server {name!r}",
            hint=meant(name, names) or f"it names {listed(names, see=f'see {file}')}",
        )
    return wanted


def _taken(one: Found) -> str:
    if not one.problem and mcp_kits.taken(one.kit_id):
        return (
            f"there is a kit called {one.kit_id!r} already; `vespe kit add-mcp {one.kit_id} "
            "--update` asks its server again"
        )
    return ""


def _asked_or_left(
    one: Found, timeout_s: float | None, problems: list[tuple[Found, str]]
) -> Draft | None:
    """Return the draft of one server's kit; what goes wrong with one keeps none of the others from
    being made.
    """
    server: JsonObject = {**one.server, **({"timeout_s": timeout_s} if timeout_s else {})}
    try:
        mcp_kits.check_server(server)
        return asked(one.kit_id, server)
    except errors.Interrupted:
        raise
    except errors.VespeError as error:
        problem = f"{error}{f' ({error.hint})' if error.hint else ''}"
        problems.append((one, problem))
        report.warn(report.one_line(f"{one.name} is left out: {problem}"))
        return None


def _tell_all(made: list[Draft], problems: list[tuple[Found, str]], *, as_json: bool) -> None:
    if as_json:
        kits = [
            {
                "kit_id": draft.kit_id,
                "path": mcp_kits.kit_path(draft.kit_id),
                "tools": [tool["name"] for tool in draft.tools.values()],
                "left_out": list(draft.left_out),
            }
            for draft in made
        ]
        report.emit_json(
            {
                "kits": kits,
                "left_out": [{"server": one.name, "reason": problem} for one, problem in problems],
            }
        )
        return
    report.say(
        f"made {report.count(len(made), 'kit')} of "
        f"{report.count(len(made) + len(problems), 'server')}"
    )
    for draft in made:
        report.say(
            f"  {draft.kit_id}: {report.count(len(draft.tools), 'tool')}; "
            f"`vespe kit activate {draft.kit_id}` makes them available"
        )
