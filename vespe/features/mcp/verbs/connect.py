"""`vespe connect`: give an MCP client this project's tools, start the server as it would, and say
what is next.
"""

import os
import time

import click

from vespe import defaults, errors
from vespe.adapters.large_results import reading
from vespe.cli import options, report
from vespe.cli.waiting import waiting
from vespe.documents import strict_json
from vespe.documents.near import join_words
from vespe.features.mcp.clients import entries, entry_files, environment
from vespe.features.mcp.clients.table import CLIENTS, McpClient
from vespe.features.mcp.server import selection
from vespe.features.mcp.verbs import config
from vespe.lazy import shutil
from vespe.models import JsonObject
from vespe.processes import process
from vespe.projects import project
from vespe.projects.workspace import find_root
from vespe.trust import gate

_PATIENCE_S = 20.0
_ERROR = "vespe: error: "
_WARNING = "vespe: warning: "
_EXTRA = "needs the extra"
_DOCTOR = "run `vespe doctor` to find the cause"
_ON_PATH = (
    "put `vespe` on the PATH (as `uv tool install` and `pipx install` do), or use --absolute to "
    "write the paths of this machine"
)
_ASKED = (
    {
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "vespe connect", "version": defaults.VERSION},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list"},
)


@click.command("connect", epilog="Example: vespe connect claude-code")
@click.argument(
    "client_name",
    type=click.Choice([name for name in CLIENTS if name != "generic"]),
    metavar="CLIENT",
)
@click.argument("extra", nargs=-1, metavar="[-- OPTION...]")
@click.option(
    "--scope",
    type=click.Choice(["project", "user"]),
    help="Write to the client's file in the project, or to your own.",
)
@click.option(
    "--absolute",
    is_flag=True,
    help="Write absolute paths of this machine, even into a file that a team shares.",
)
@options.yes_option
@options.project_option
@options.json_option
def command(
    client_name: str,
    extra: tuple[str, ...],
    scope: str | None,
    absolute: bool,
    yes: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Connect CLIENT to this project's tools: write its configuration, start the server the way the
    client would, and print the next step.

    CLIENT is claude-code, claude-desktop, cursor, vscode, gemini, codex or zed. An entry in a file
    inside the project contains no paths of this machine, so that a team can commit it. Options
    after `--` are passed to `vespe mcp serve`; without them, an entry that is there keeps its
    options. `vespe mcp config` prints or removes the entry.
    """
    root, client = find_root(project_dir), CLIENTS[client_name]
    path = entry_files.path_of(client, root, named=None, scope=scope, needed=True) or ""
    extra = tuple(config.options_for(client, root, path, extra=extra, wanted=None))
    entry = entry_files.entry_for(client, root, path, extra=extra, absolute=absolute)
    document = config.merge(client, path, entry, root=root, wanted=None, yes=yes)
    shared = entry_files.is_shared(root, path, absolute=absolute)
    if not as_json:
        report.say(config.describe(document) + (" (safe to commit)" if shared else ""))
    seen = document | {
        "check": _checked(client, document["entry"], root),
        "trusted": _trusted(root),
        "next": client.next_step(path, root),
    }
    if as_json:
        report.emit_json(seen)
    else:
        _tell(seen, client, scope)
    return 0 if seen["check"]["ok"] else 1


def _checked(client: McpClient, entry: JsonObject, root: str) -> JsonObject:
    """Start the server in the project with what every client passes on; return what it shows, or
    why it shows nothing.

    Where this shell says more of Vespe's own places, it is started with that too. If that shows
    something else, it is what is returned, and `needs` has the names of these variables: a client
    that passes on all of its environment may have them.
    """
    env = environment.passed(os.environ, entry)
    needs = environment.needed(os.environ) | environment.granted(os.environ)
    found = _asked(client, entry, root, env)
    if not needs.items() <= env.items():
        again = _asked(client, entry, root, needs | env)
        if again["ok"] and (not found["ok"] or again["tools"] != found["tools"]):
            return again | {"needs": sorted(name for name in needs if name not in env)}
    return found | {"needs": []}


def _asked(client: McpClient, entry: JsonObject, root: str, env: dict[str, str]) -> JsonObject:
    """Start the server in that environment; return what it shows, or why it shows nothing."""
    lines = "".join(
        strict_json.compact_json({"jsonrpc": "2.0", **message}) + "\n" for message in _ASKED
    )
    argv = entries.as_started(client, [entry["command"], *entry["args"]], root)
    begun = time.monotonic()
    try:
        asked = process.Command(
            argv=argv, cwd=root, env=env, stdin=lines.encode(), timeout_s=_PATIENCE_S
        )
        with waiting(f"starting the server as {client.title} would"):
            ended = process.run(asked)
        tools = next(
            said["result"]["tools"]
            for said in map(strict_json.parse_object, ended.stdout.splitlines())
            if said.get("id") == 1
        )
    except errors.VespeError as error:
        missing = shutil.which(entry["command"], path=env.get("PATH")) is None
        return _failed(str(error), _ON_PATH if missing else _DOCTOR)
    except (KeyError, StopIteration, TypeError):
        return _failed(*_own_error(ended.stderr))
    return {
        "ok": True,
        "why": "",
        # it is there wherever there are tools
        "tools": [tool["name"] for tool in tools if tool["name"] != reading.READ],
        "needs_asking": _needing_a_person(ended.stderr),
        "seconds": round(time.monotonic() - begun, 3),
    }


def _needing_a_person(stderr: bytes) -> list[str]:
    """Return the tools that the server warned of: it was started as by a client that cannot ask."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    found = (line.removeprefix(_WARNING) for line in lines if line.startswith(_WARNING))
    return sorted(
        said.removesuffix(selection.ONLY_ASKED)
        for said in found
        if said.endswith(selection.ONLY_ASKED)
    )


def _failed(why: str, hint: str) -> JsonObject:
    return {"ok": False, "why": why, "hint": hint, "tools": [], "needs_asking": []}


def _own_error(stderr: bytes) -> tuple[str, str]:
    """Return the error and the hint with which the server ended; they name the cause, such as a
    missing extra or a mistyped option.
    """
    lines = stderr.decode("utf-8", "replace").splitlines()
    at = next((at for at, line in enumerate(lines) if line.startswith(_ERROR)), None)
    if at is None:
        return "the server did not list its tools", _DOCTOR
    hints = (
        line.partition(": ")[2]
        for line in lines[at + 1 :]
        if line.startswith(("  hint: ", "  tip: "))
    )
    return lines[at].removeprefix(_ERROR), next(hints, _DOCTOR)


def _trusted(root: str) -> bool:
    try:
        gate.check(project.read_config(root), environ=os.environ)
    except errors.NotTrusted:
        return False
    return True


def _tell(seen: JsonObject, client: McpClient, scope: str | None) -> None:
    check = seen["check"]
    if not seen["trusted"]:
        report.say(
            "not checked: this project is not trusted, so its tools do not run\nnext: "
            "`vespe trust` shows what they would do"
        )
        return
    if not check["ok"]:
        report.error(f"{client.title} cannot start the server: {check['why']}", check["hint"])
        if seen["changed"]:
            remove = f"vespe mcp config {client.name} --remove"
            remove += f" --scope {scope}" if scope else ""
            works = " and works once the extra is installed" if _EXTRA in check["why"] else ""
            report.note(f"the entry is written to {seen['path']}{works}; `{remove}` removes it")
        return
    names = join_words(check["tools"], most=4, see="`vespe tool list` shows all")
    report.say(
        f"checked: {report.count(len(check['tools']), 'tool')} in {check['seconds']:.2f} s"
        + (f" ({names})" if names else "")
    )
    if check["needs_asking"]:
        rest = check["needs_asking"]
        named = join_words(rest, most=4)
        why = "its calls need approval" if len(rest) == 1 else "their calls need approval"
        report.say(f"only for clients that can ask you: {named} ({why})")
    if check["needs"]:
        _warn_of_needs(check["needs"], client)
    if not check["tools"]:
        report.say(
            "next: `vespe kit list` shows kits to activate, `vespe tool create NAME` makes a tool"
        )
    else:
        report.say(f"next: {seen['next']}")


def _warn_of_needs(names: list[str], client: McpClient) -> None:
    """Say what must reach the server and is not in its entry: a file for a team names no place of
    this machine, and no file trusts a project.
    """
    report.warn(
        f"this only works if {client.title} passes on {join_words(names)} with the values of this "
        "shell; otherwise the server uses other settings, approvals and kits"
    )
    if defaults.ENV_TRUSTED_PATHS in names:
        report.note("`vespe trust` trusts this project without that variable")
    if names != [defaults.ENV_TRUSTED_PATHS]:
        report.note("`--absolute` writes these places into the entry")
