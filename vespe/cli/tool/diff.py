"""`vespe tool diff`: whether the next version of a tool, of a kit, or of what models see of a
project breaks its callers.
"""

import contextlib
from typing import Final

import click

from vespe import features
from vespe.cli import options, report, tables
from vespe.errors import NotFound, UsageError
from vespe.kits import compared_versions
from vespe.kits.compared_versions import Comparison
from vespe.models import JsonObject
from vespe.projects.workspace import open_workspace
from vespe.schemas.comparison.contracts import VERDICTS


class _DiffCommand(click.Command):
    """What stands behind `--` is a server's command, and no version."""

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
    help="Compare what models see of the project: from one git revision to another, or to now.",
)
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="An environment variable that the server behind -- may see; may be repeated.",
)
@options.json_option
@click.pass_context
def command(
    context: click.Context,
    old: str | None,
    new: str | None,
    as_models: bool,
    secrets: tuple[str, ...],
    as_json: bool,
) -> int:
    """Say of each change from OLD to NEW whether it breaks callers: breaking, compatible, or
    unknown.

    Each is a tool's name, a kit, a directory of either, or REV:NAME or REV:path for one in a git
    revision. A breaking change of a schema is shown by a value that one version takes and the other
    refuses; a compatible one is proved; all else is unknown. Nothing is run. Exit code 1 where a
    change is breaking.

    With --as-models each is a git revision; OLD is HEAD where it is not given, and NEW is what is
    on disk. What `tools` in the project's config.json makes of its tools is compared, its own as
    they were then, and those of kits as this machine has them.

    With a COMMAND behind --, OLD is a recording of an MCP server (`vespe mcp wrap --record`): the
    server is started and asked for its tools. Exit code 1 where a tool is gone, or more of one
    changed than words.
    """
    server: tuple[str, ...] | None = context.meta.get(_SERVER)
    if secrets and server is None:
        raise UsageError("--secret is for the server behind --")
    if server is not None:
        if old is None or new is not None or as_models or not server:
            raise UsageError(
                "say which recording to compare a server with",
                hint="vespe tool diff FILE -- COMMAND",
            )
        compared = features.load("mcp", "recordings.compared")
        found = compared.compare(old, server, secrets=secrets)
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
