"""`vespe tool diff`: whether the next version of a tool, of a kit, or of what models see of a
project breaks its callers.
"""

import contextlib
from typing import Final

import click

from vespe import features
from vespe.cli import kit_facts, options, report, tables
from vespe.errors import NotFound, UsageError
from vespe.kits import compared_versions, mcp_kits
from vespe.kits.compared_versions import Comparison
from vespe.models import JsonObject
from vespe.projects.workspace import open_workspace
from vespe.schemas.comparison.contracts import VERDICTS


class _DiffCommand(click.Command):
    """What follows `--` is a server's command, and no version."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            context.meta[_SERVER] = tuple(args[place + 1 :])
            args = args[:place]
        return super().parse_args(context, args)

    def collect_usage_pieces(self, context: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(context), "[-- COMMAND...]"]


_SERVER: Final = "vespe.server_command"


@click.command(
    "diff",
    cls=_DiffCommand,
    epilog="Example: vespe tool diff main:greet greet",
)
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option(
    "--as-models",
    is_flag=True,
    help="Compare what models see of the project in two git revisions, or in one and on disk.",
)
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="An environment variable that the server after -- may see; repeatable.",
)
@click.option(
    "--url",
    metavar="URL",
    help="Compare the recording OLD with a server that listens, instead of a COMMAND.",
)
@options.header_option
@options.login_option
@options.json_option
@click.pass_context
def command(
    context: click.Context,
    old: str | None,
    new: str | None,
    as_models: bool,
    secrets: tuple[str, ...],
    url: str | None,
    headers: tuple[str, ...],
    login: str | None,
    as_json: bool,
) -> int:
    """Compare two versions, and classify each change as breaking for callers, compatible, or
    unknown.

    OLD and NEW are each a tool's name, a kit, a directory of tools or kits, or REV:NAME or REV:path
    for a git revision. A breaking schema change is shown with a value that one version accepts and
    the other rejects. A compatible change is proved. Everything else is unknown. Nothing is run.
    The exit code is 1 if a change is breaking.

    With --as-models, OLD and NEW are git revisions. OLD defaults to HEAD and NEW to the files on
    disk. The comparison covers what models see according to `tools` in the project's config.json.
    It uses the project's own tools as of each revision, and kits as installed on this machine.

    With a COMMAND after `--`, or a `--url`, OLD is a recording of an MCP server
    (`vespe mcp wrap --record`). Vespe asks the server for its tools. The exit code is 1 if a tool
    is missing or if more than the wording of a tool changed.
    """
    server: tuple[str, ...] | None = context.meta.get(_SERVER)
    if secrets and server is None:
        raise UsageError("--secret is for the server after --")
    if (headers or login) and url is None:
        raise UsageError("--header and --login are for --url")
    if server is not None or url is not None:
        if old is None or new is not None or as_models or bool(server) == bool(url):
            raise UsageError(
                "say which recording to compare a server with",
                hint="vespe tool diff FILE -- COMMAND, or vespe tool diff FILE --url URL",
            )
        reach: JsonObject = {"command": list(server)} if server else {"url": url}
        if headers:
            reach["headers"] = dict(map(mcp_kits.parse_header, headers))
        options.refuse_two_tokens(login, reach.get("headers", {}))
        compared = features.load("mcp", "recordings.compared")
        found = compared.compare(
            old,
            reach,
            secrets=secrets,
            login=login or "",
            root=kit_facts.root_if_any(None),
        )
        fails = any(map(compared.breaks, found))
    else:
        found = (
            _seen(old or "HEAD", new)
            if as_models
            else compared_versions.compare(*_both(old, new), find_tool=_directory_of)
        )
        fails = any(one.verdict == "breaking" for one in found)
    _show(found, as_json=as_json)
    return 1 if fails else 0


def _show(found: list[Comparison], *, as_json: bool) -> None:
    if as_json:
        report.emit_json(document_of(found))
    else:
        rows = [
            (
                change.verdict,
                one.tool,
                change.part,
                f"{change.pointer or '/'} ({change.side})",
                change.message,
            )
            for one in found
            for change in one.changes
        ]
        tables.show(("VERDICT", "TOOL", "PART", "WHERE", "WHY"), rows)
        summary = document_of(found)["summary"]
        report.note(
            ", ".join(f"{summary[verdict]} {verdict}" for verdict in VERDICTS)
            if found
            else "nothing changed for callers"
        )


def _both(old: str | None, new: str | None) -> tuple[str, str]:
    if old is None or new is None:
        raise UsageError(
            "say what to compare: OLD and NEW",
            hint="`vespe tool diff HEAD:NAME NAME` for a tool, `vespe tool diff --as-models` for "
            "all that models see",
        )
    return old, new


def _seen(old: str, new: str | None) -> list[Comparison]:
    """Compare what models saw of the project here in a git revision with what they see in another,
    or now.
    """
    from vespe.projects import compared_views

    here = open_workspace()
    now = (
        contextlib.nullcontext(here)
        if new is None
        else compared_views.opened_at(new, root=here.root)
    )
    with compared_views.opened_at(old, root=here.root) as before, now as after:
        for sentence in before.warnings:
            report.warn(f"in {old}: {sentence}")
        return compared_views.compare_views(before, after)


def _directory_of(name: str) -> str | None:
    try:
        return open_workspace().resolve(name).entry.path
    except NotFound:
        return None


def document_of(found: list[Comparison]) -> JsonObject:
    """Return the comparisons as `tool diff --json` prints them; the summary counts changes."""
    verdicts = [change.verdict for one in found for change in one.changes]
    gravest = min(verdicts, key=VERDICTS.index, default="compatible")
    summary = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    return {"verdict": gravest, "tools": [one.to_json() for one in found], "summary": summary}
