"""`vespe secret list`: the secrets that are configured, and those that the tools here need."""

import os
from typing import Final

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.features.secrets import declared, settings, stores
from vespe.models import JsonObject
from vespe.projects.workspace import open_workspace


@click.command("list", epilog="Example: vespe secret list")
@options.project_option
@options.json_option
def command(project_dir: str | None, as_json: bool) -> None:
    """List your configured secrets, where each is stored, and which tools of this project need it.
    No value is fetched or shown.
    """
    rows = _rows(project_dir)
    if as_json:
        report.emit_json({"secrets": rows})
    elif not rows:
        report.note("no secret is configured, and no tool here needs one")
    else:
        tables.show(("NAME", "KEPT IN", "NEEDED BY", "FOR"), [_line(row) for row in rows])


_UNSAID: Final[JsonObject] = {"description": None, "docs_url": None}


def _rows(project_dir: str | None) -> list[JsonObject]:
    configured = settings.configured()
    rows: dict[str, JsonObject] = {
        name: {"name": name, **stores.described(said), "tools": [], **_UNSAID}
        for name, said in configured.items()
    }
    try:
        needs = declared.needs(open_workspace(project_dir))
    except errors.ProjectNotFound:
        if project_dir is not None:
            raise
        needs = []
    for need in needs:
        name = need.shown
        nowhere: JsonObject = {"name": name, "store": None, "place": None, "tools": [], **_UNSAID}
        row = rows.setdefault(name, nowhere)
        row["tools"].extend(need.tools)
        row |= {key: row[key] or said for key, said in need.purpose.items()}
    for name, row in rows.items():
        row["environment"] = bool(os.environ.get(name))
    return [rows[name] for name in sorted(rows)]


def _line(row: JsonObject) -> tuple[str, str, str, str]:
    kept = row["place"] or "nowhere"
    if row["environment"]:
        kept = "the environment" + (f" (then {row['place']})" if row["place"] else "")
    said = "; ".join(filter(None, (row["description"], row["docs_url"])))
    return row["name"], kept, ", ".join(row["tools"]), said
