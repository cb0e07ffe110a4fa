"""`vespe tool diff`: whether a tool's next version, or a kit's, breaks its callers."""

import click

from vespe.cli import options, report, tables
from vespe.errors import NotFound
from vespe.kits import compared_versions
from vespe.kits.compared_versions import Comparison
from vespe.models import JsonObject
from vespe.projects.workspace import open_workspace
from vespe.schemas.comparison.contracts import VERDICTS


@click.command("diff", epilog="Example: vespe tool diff main:greet greet")
@click.argument("old")
@click.argument("new")
@options.json_option
def command(old: str, new: str, as_json: bool) -> int:
    """Say of each change from OLD to NEW whether it breaks callers: breaking, compatible, or unknown.

    Each is a tool's name, a kit, a directory of either, or REV:NAME or REV:path for one in a git revision. A breaking change of a schema
    is shown by a value that one version takes and the other refuses; a compatible one is proved; all else is unknown. Nothing
    is run. Exit code 1 where a change is breaking.
    """
    found = compared_versions.compare(old, new, find_tool=_directory_of)
    if as_json:
        report.emit_json(document_of(found))
    else:
        rows = [
            (change.verdict, one.tool, change.part, f"{change.pointer or '/'} ({change.side})", change.message)
            for one in found
            for change in one.changes
        ]
        tables.show(("VERDICT", "TOOL", "PART", "WHERE", "WHY"), rows)
        summary = document_of(found)["summary"]
        report.note(", ".join(f"{summary[verdict]} {verdict}" for verdict in VERDICTS) if found else "nothing changed for callers")
    return 1 if any(one.verdict == "breaking" for one in found) else 0


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
