"""`vespe tool resolve`: which tool a name means here, and why; for all names, as a snapshot to
compare.
"""

import os
from collections.abc import Callable

import click

from vespe.cli import options, report, tables
from vespe.documents import strict_json
from vespe.files import atomic, walk
from vespe.models import Entry, JsonObject, Resolution
from vespe.projects import snapshots
from vespe.projects.workspace import Workspace, open_workspace
from vespe.records import json_of
from vespe.trust import gate


@click.command("resolve", epilog="Example: vespe tool resolve --check tools.snapshot.json")
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Resolve every name.")
@click.option(
    "--snapshot",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write a map of all names to their UIDs and digests.",
)
@click.option(
    "--check",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Compare with a snapshot; exit code 1 if they differ.",
)
@options.project_option
@options.json_option
def command(
    name: str | None,
    everything: bool,
    snapshot: str | None,
    check: str | None,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Show which tool a name resolves to, why, and which tools it shadows."""
    if bool(name) == bool(everything or snapshot or check):
        raise click.UsageError(
            "give one NAME, or --all, --snapshot FILE or --check FILE", click.get_current_context()
        )
    workspace = open_workspace(project_dir)
    for warning in workspace.warnings:
        report.warn(warning)
    if name:
        _one(workspace, workspace.resolve_seen(name), as_json)
        return 0
    return _all(workspace, snapshot, check, as_json)


def document_of(resolution: Resolution, may_run: Callable[[Entry], bool]) -> JsonObject:
    """Return a resolution as `tool resolve --json` prints it, with every candidate, what decided,
    and whether it may run.
    """
    entry = resolution.entry
    return {
        "name": resolution.name,
        **json_of(entry, "uid", "scope", "path"),
        "reason": resolution.reason,
        "shadows": [json_of(shadow.entry, "uid", "scope") for shadow in resolution.shadows],
        "candidates": [
            json_of(c.entry, "uid", "scope")
            | {"status": c.status, "trusted": may_run(c.entry)}
            | json_of(c, "reason", "decided_by")
            for c in resolution.candidates
        ],
        "trusted": may_run(entry),
    }


def _one(workspace: Workspace, resolution: Resolution, as_json: bool) -> None:
    may_run = gate.may_run(workspace.config, environ=os.environ)
    seen = _seen(workspace, resolution.entry)
    if as_json:
        report.emit_json(document_of(resolution, may_run) | ({"as_models": seen} if seen else {}))
        return
    entry = resolution.entry
    report.emit_sentence(f"{resolution.name} is {entry.uid} in {entry.scope}")
    report.emit_sentence(f"  {entry.path}")
    report.emit_sentence(f"  {resolution.reason}")
    if not may_run(entry):
        report.emit_sentence("  untrusted: it does not run until you approve it with `vespe trust`")
    for candidate in resolution.candidates:
        if candidate.status == "selected":
            report.emit_sentence(f"  decided by {candidate.decided_by}")
        else:
            report.emit_sentence(
                f"  {candidate.status}: {candidate.entry.uid} in {candidate.entry.scope}: "
                f"{candidate.reason}"
            )
    for fact in seen:
        report.emit_sentence(
            f"  for models: {fact['key']} {report.json_line(fact['value'])}, by {fact['by']}"
        )


def _seen(workspace: Workspace, entry: Entry) -> list[JsonObject]:
    """Say what `tools` of the project's config.json makes of a tool, with the place of each fact;
    the most exact pattern comes first.
    """
    return [
        {"key": key, "value": value, "by": by}
        for key, value, by in workspace.view.facts_about(entry.name, entry.scope)
    ]


def _all(workspace: Workspace, snapshot: str | None, check: str | None, as_json: bool) -> int:
    rows = workspace.ordered_rows()
    now = snapshots.snapshot(
        rows, lambda entry: walk.scan(entry.path).digest or "none", view=workspace.view
    )
    for entry in snapshots.add_broken(now, rows):
        report.warn(f"{entry.name} does not resolve: {entry.uid}: {entry.problem}")
    changes = snapshots.diff_snapshots(snapshots.read_snapshot(check), now) if check else ()
    if snapshot:
        atomic.write_atomic(snapshot, strict_json.dump_json(snapshots.renewed(snapshot, now)))
        report.say(f"wrote {report.count(len(now), 'name')} to {snapshot}")
    if as_json:
        report.emit_json({"tools": now, "changes": list(changes)} if check else {"tools": now})
    elif check:
        for change in changes:
            report.emit_sentence(change)
        report.say(
            f"{report.count(len(changes), 'difference')} from {check}"
            if changes
            else f"every name resolves as in {check}"
        )
    elif not snapshot:
        tables.show(
            ("NAME", "SCOPE", "UID"),
            [(name, fact["scope"], fact["uid"]) for name, fact in now.items()],
        )
    return 1 if changes else 0
