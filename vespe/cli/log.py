"""`vespe log`: this project's calls."""

import click

from vespe import errors
from vespe.calls import log
from vespe.cli import options, report, tables
from vespe.models import JsonObject
from vespe.projects.workspace import find_root


@click.command("log", epilog="Example: vespe log -n 5")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many calls, the newest last.")
@options.project_option
@options.json_option
def command(limit: int, project_dir: str | None, as_json: bool) -> None:
    """Show this project's calls, the newest last; outside a project, those of every project."""
    try:
        root: str | None = find_root(project_dir)
    except errors.ProjectNotFound:
        if project_dir is not None:
            raise
        root = None
    calls = log.read(root, limit=limit)
    if as_json:
        report.emit_json({"calls": calls})
        return
    if not calls:
        report.note("no calls yet")
    tables.show(("TIME (UTC)", "TOOL", "OUTCOME", "DURATION", "ARGUMENTS"), [_cells(call) for call in calls])


def _cells(call: JsonObject) -> tuple[str, ...]:
    """The parts of a line that fit beside each other; `--json` has all of it."""
    time, digest = str(call.get("time", ""))[:19].replace("T", " "), str(call.get("arguments_digest", ""))[:8]
    return (time, str(call.get("tool")), str(call.get("outcome")), f"{call.get('duration_ms', 0):.0f} ms", digest)
