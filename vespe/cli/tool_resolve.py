"""`vespe tool resolve`: which tool a name means here, and why; for all names, as a snapshot to compare."""

import click

from vespe import documents, errors, file_walk, resolver
from vespe.cli import options, report
from vespe.models import JsonObject, Resolution
from vespe.workspace import Workspace, open_workspace


@click.command("resolve", epilog="Example: vespe tool resolve --check tools.snapshot.json")
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Resolve every name.")
@click.option("--snapshot", metavar="FILE", type=click.Path(dir_okay=False), help="Write the map of all names to uid and digest.")
@click.option("--check", metavar="FILE", type=click.Path(dir_okay=False), help="Compare with a snapshot; exit code 1 where they differ.")
@options.project_option
@options.json_option
def command(name: str | None, everything: bool, snapshot: str | None, check: str | None, project_dir: str | None, as_json: bool) -> int:
    """Say which tool a name means here, and why; what it shadows is listed too."""
    if bool(name) == bool(everything or snapshot or check):
        raise click.UsageError("give one NAME, or --all, --snapshot FILE or --check FILE", click.get_current_context())
    workspace = open_workspace(project_dir)
    for warning in workspace.warnings:
        report.warn(warning)
    if name:
        _one(workspace.resolve(name), as_json)
        return 0
    return _all(workspace, snapshot, check, as_json)


def document_of(resolution: Resolution) -> JsonObject:
    """Give a resolution as `tool resolve --json` prints it, with every candidate and what decided."""
    entry = resolution.entry
    return {
        "name": resolution.name,
        "uid": entry.uid,
        "scope": entry.scope,
        "path": entry.path,
        "reason": resolution.reason,
        "shadows": [{"uid": shadow.entry.uid, "scope": shadow.entry.scope} for shadow in resolution.shadows],
        "candidates": [
            {"uid": c.entry.uid, "scope": c.entry.scope, "status": c.status, "reason": c.reason, "decided_by": c.decided_by}
            for c in resolution.candidates
        ],
    }


def _one(resolution: Resolution, as_json: bool) -> None:
    if as_json:
        report.emit_json(document_of(resolution))
        return
    entry = resolution.entry
    report.emit(f"{resolution.name} is {entry.uid} in {entry.scope}")
    report.emit(f"  {entry.path}")
    report.emit(f"  {resolution.reason}")
    for candidate in resolution.candidates:
        if candidate.status != "selected":
            report.emit(f"  {candidate.status}: {candidate.entry.uid} in {candidate.entry.scope}: {candidate.reason}")


def _all(workspace: Workspace, snapshot: str | None, check: str | None, as_json: bool) -> int:
    now = resolver.snapshot(workspace.ordered_rows(), lambda entry: file_walk.scan(entry.path).digest or "none")
    if snapshot:
        documents.write_atomic(snapshot, documents.dump_json({"tools": now}))
        report.say(f"wrote {len(now)} names to {snapshot}")
    changes = resolver.diff_snapshots(_read(check), now) if check else ()
    if as_json:
        report.emit_json({"tools": now, "changes": list(changes)} if check else {"tools": now})
    elif check:
        for change in changes:
            report.emit(change)
        report.say(f"{len(changes)} names differ from {check}" if changes else f"every name is as in {check}")
    elif not snapshot:
        report.table(("NAME", "SCOPE", "UID"), [(name, fact["scope"], fact["uid"]) for name, fact in now.items()])
    return 1 if changes else 0


def _read(path: str) -> JsonObject:
    tools = documents.read_object(path).get("tools")
    if not isinstance(tools, dict):
        raise errors.InvalidDocument("is no snapshot: it has no object `tools`", path=path, pointer="/tools")
    return tools
