"""`vespe log`: this project's calls."""

import click

from vespe import call_log, errors
from vespe.cli import options, report
from vespe.workspace import find_root


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
    calls = call_log.read(root, limit=limit)
    if as_json:
        report.emit_json({"calls": calls})
        return
    if not calls:
        report.note("no calls yet")
    rows = [
        (c.get("time"), c.get("tool"), c.get("scope"), c.get("outcome"), f"{c.get('duration_ms')} ms", str(c.get("arguments_digest"))[:12])
        for c in calls
    ]
    report.table(("TIME", "TOOL", "SCOPE", "OUTCOME", "DURATION", "ARGUMENTS"), rows)
