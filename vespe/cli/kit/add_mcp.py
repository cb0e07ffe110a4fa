"""`vespe kit add-mcp`: an MCP server's tools as a kit, shown, approved and pinned."""

import sys
from collections.abc import Mapping, Sequence
from typing import Final

import click

from vespe import errors, features
from vespe.cli import kit_facts, options, report
from vespe.cli.kit import activation, server_review
from vespe.cli.waiting import waiting
from vespe.kits import mcp_kits, mcp_lock
from vespe.kits.client_files import ServerEntry
from vespe.kits.mcp_kits import KitDraft
from vespe.models import JsonObject
from vespe.projects import project
from vespe.projects.workspace import find_root
from vespe.types.mcp_tool import logins, server_kits
from vespe.types.mcp_tool.exchange import Unauthorized


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
    help="Add the servers in an MCP client's configuration file or a server.json; NAME "
    "selects one.",
)
@click.option(
    "--url",
    metavar="URL",
    help="The URL of a server that speaks Streamable HTTP, instead of COMMAND.",
)
@options.header_option
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="An environment variable that the server may see; repeatable.",
)
@options.login_client_options
@click.option(
    "--write",
    "written",
    multiple=True,
    metavar="PATH",
    help="A file or directory outside the project that the server may write, such as ~/notes; "
    "repeatable. Use --update to add one later.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=float,
    metavar="S",
    help="The time limit of the start and of each call, in seconds; default: 120 and 30.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Read the server's definitions again, show what changed, and ask for approval.",
)
@click.option("--activate", is_flag=True, help="Also activate the kit in this project.")
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
    client: JsonObject,
    written: tuple[str, ...],
    timeout_s: float | None,
    update: bool,
    activate: bool,
    yes: bool,
    project_dir: str | None,
    as_json: bool,
) -> int | None:
    """Start an MCP server, show its tools, and save their definitions as the kit NAME in your own
    kits.

    A call starts the server with the same limits as every tool. A process that makes several calls
    (`vespe mcp serve`, an agent) starts it once. If a tool's definition is no longer the one that
    you approved, calls are refused; `--update` shows what changed. An existing kit with the name is
    only replaced with `--update`.

    With `--activate`, the project's lock contains the server and the digests of its tools, so that
    `vespe kit sync` can create the kit on other machines.
    """
    root = find_root(project_dir) if activate else kit_facts.root_if_any(project_dir)
    if timeout_s is not None and not 0 < timeout_s <= 86_400:
        raise errors.UsageError("--timeout is a number of seconds above 0, at most 86400")
    if source is not None:
        about_one = {
            "COMMAND": server_command,
            "--url": url,
            "--header": headers,
            "--secret": secrets,
            "--write": written,
            "--update": update,
        }
        _refuse_options_of_one(about_one, client)
        entries = server_kits.entries_of(source, kit_id, root=root if activate else None)
        drafts, left_out = _asked_each(entries, timeout_s, root=root, yes=yes)
        if drafts:
            _keep(root if activate else None, drafts, activate=activate)
        _report_all(drafts, left_out, as_json=as_json)
        return 1 if any(not entry.is_off for entry in left_out) else 0
    if kit_id is None:
        raise errors.UsageError(
            "say what the kit is called, or --from FILE", hint="vespe kit add-mcp NAME -- COMMAND"
        )
    if update and (server_command or url or headers or secrets or timeout_s):
        hint = f"to change it, run `vespe kit remove {kit_id}` and add it again"
        raise errors.UsageError(
            "--update asks the server that the kit already has, and takes no other one", hint=hint
        )
    if update:
        known, before = mcp_kits.known_server(kit_id, root)
        server = mcp_kits.with_write(known, written)
    else:
        reach = _reach(server_command, url, headers=headers)
        server = mcp_kits.describe_server(
            reach, secrets=secrets, timeout_s=timeout_s, write=written
        )
        known, before = server, {}
        mcp_kits.check_new(kit_id, server, project=root if activate else None)
    _refuse_without_extra()
    server_review.announce(server)
    if not update:
        server_review.confirm_start(server, yes=yes)
    if any(client[key] for key in client if key != "no_browser") and "url" not in server:
        raise errors.UsageError(_FOR_URLS)
    draft = _asked(kit_id, server, timeout_s, {**client, "yes": yes}, root=root)
    changes = server_review.approve(draft, before, update=update, yes=yes, known=known)
    _keep(root, [draft], activate=activate)
    mcp_lock.tidy(kit_id, known, keep=mcp_kits.kit_path(draft))
    _report(draft, changes, update=update, root=root, as_json=as_json)
    return None


def _keep(root: str | None, drafts: Sequence[KitDraft], *, activate: bool) -> None:
    active = project.read_config(root).active_kits if root is not None else ()
    server_kits.keep_in_project(root, drafts, activate=activate)
    if root is not None and activate:
        made = [draft.kit_id for draft in drafts]
        activation.tell_substitutions(root, [one for one in made if one not in active])


_FOR_URLS: Final = "--client-id, --client-secret, --redirect-host and --port are for --url"


def _refuse_without_extra() -> None:
    """Raise MissingExtra before a person is asked whether to start a server that nothing can talk
    to.
    """
    if not any(finder.find_spec("mcp", None) for finder in sys.meta_path):
        raise errors.MissingExtra("asking an MCP server", extra="mcp", module="mcp")


def _refuse_options_of_one(about_one: Mapping[str, object], client: JsonObject) -> None:
    """Raise UsageError for options about one server or its login, where a file has several."""
    about_login = {
        "--client-id": client["client_id"],
        "--client-secret": client["secret_name"],
        "--redirect-host": client["host"],
        "--port": client["port"],
    }
    if given := [option for option, value in {**about_one, **about_login}.items() if value]:
        raise errors.UsageError(
            f"--from reads the servers from the file, and cannot be combined with "
            f"{', '.join(given)}",
            hint=f"remove {'it' if len(given) == 1 else 'them'}; --timeout applies to every "
            "server of the file",
        )


def _asked(
    kit_id: str,
    server: JsonObject,
    timeout_s: float | None,
    choices: JsonObject,
    *,
    root: str | None,
) -> KitDraft:
    """Ask a server for its tools; where it wants a login and a person is there, log in first."""
    try:
        with waiting(server_review.asking(kit_id)):
            return server_kits.ask_server(kit_id, server, timeout_s=timeout_s, root=root)
    except (errors.LoginRequired, Unauthorized):
        if not options.interactive() or not features.is_present("oauth"):
            raise
        if not logins.takes_login(server.get("url"), server.get("headers", {})):
            raise
    login = features.load("oauth", "login")
    report.say(login.said_of(login.log_in(kit_id, server["url"], login.LoginChoices(**choices))))
    with waiting(server_review.asking(kit_id)):
        return server_kits.ask_server(kit_id, server, timeout_s=timeout_s, root=root)


def _reach(words: tuple[str, ...], url: str | None, *, headers: tuple[str, ...]) -> JsonObject:
    if bool(words) == bool(url):
        raise errors.UsageError(
            "say how to reach the server: a command after --, or --url",
            hint="vespe kit add-mcp NAME -- COMMAND",
        )
    if headers and not url:
        raise errors.UsageError("--header is for --url; a command gets what it needs with --secret")
    named = dict(map(mcp_kits.parse_header, headers))
    return {"url": url} | ({"headers": named} if named else {}) if url else {"command": list(words)}


def _report(
    draft: KitDraft,
    changes: tuple[str, ...],
    *,
    update: bool,
    root: str | None,
    as_json: bool,
) -> None:
    path = mcp_kits.kit_path(draft)
    if as_json:
        tools = [{"uid": uid, "name": tool["name"]} for uid, tool in draft.tools.items()]
        facts = {
            "kit_id": draft.kit_id,
            "path": path,
            "tools": tools,
            "left_out": list(draft.left_out),
        }
        if draft.skills.skills:
            facts["skills"] = list(draft.skills.skills)
        return report.emit_json(facts | {"changes": list(changes)})
    if update and not changes:
        return report.say(f"{draft.kit_id} has not changed since you approved it")
    report.say(
        f"{'updated' if update else 'made'} the kit {draft.kit_id} with "
        f"{report.count(len(draft.tools), 'tool')} in {path}"
    )
    if draft.skills.skills:
        report.say(
            f"{draft.skills.tool} reads its {report.count(len(draft.skills.skills), 'skill')}; "
            f"`vespe kit skill {draft.kit_id}` lists them"
        )
    active = () if root is None else project.read_config(root).active_kits
    if draft.kit_id in active:
        return report.say(f"active: {', '.join(active)}")
    return report.next_step(
        f"`vespe kit activate {draft.kit_id}` makes its tools available in a project"
    )


# All servers of a file


def _asked_each(
    entries: Sequence[ServerEntry], timeout_s: float | None, *, root: str | None, yes: bool
) -> tuple[list[KitDraft], list[ServerEntry]]:
    """Make a kit of each server of a file; return the kits, and the servers that have a `problem`
    or got one, which is said. Raises Refused where nobody approves.
    """
    left_out = [entry for entry in entries if entry.problem]
    wanted = [entry for entry in entries if not entry.problem]
    for entry in left_out:
        _warn_left_out(entry)
    server_review.confirm_entries(wanted, yes=yes)
    drafts = []
    for entry in wanted:
        with waiting(server_review.asking(entry.kit_id)):
            draft = server_kits.ask_entry(entry, timeout_s=timeout_s, root=root)
        if draft is not None:
            drafts.append(draft)
        else:
            left_out.append(entry)
            _warn_left_out(entry)
    server_review.approve_all(drafts, yes=yes)
    return drafts, left_out


def _warn_left_out(entry: ServerEntry) -> None:
    report.warn(report.one_line(f"{entry.name} is left out: {entry.problem}"))


def _report_all(drafts: list[KitDraft], left_out: list[ServerEntry], *, as_json: bool) -> None:
    if as_json:
        kits = [
            {
                "kit_id": draft.kit_id,
                "path": mcp_kits.kit_path(draft),
                "tools": [tool["name"] for tool in draft.tools.values()],
                "left_out": list(draft.left_out),
            }
            for draft in drafts
        ]
        report.emit_json(
            {
                "kits": kits,
                "left_out": [{"server": entry.name, "reason": entry.problem} for entry in left_out],
            }
        )
        return
    report.say(
        f"made {report.count(len(drafts), 'kit')} of "
        f"{report.count(len(drafts) + len(left_out), 'server')}"
    )
    for draft in drafts:
        report.say(
            f"  {draft.kit_id}: {report.count(len(draft.tools), 'tool')}; "
            f"`vespe kit activate {draft.kit_id}` makes them available"
        )
