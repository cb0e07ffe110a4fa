"""`vespe secret list`: the secrets that are configured, and those that the tools here need."""

import os

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.features.secrets import declared, stores
from vespe.models import JsonObject
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace


@click.command("list", epilog="Example: vespe secret list")
@options.project_option
@options.json_option
def command(project_dir: str | None, as_json: bool) -> None:
    """List the secrets of your configuration, where each is kept, and which tools of this project
    need it. Nothing is fetched, and no value is shown.
    """
    rows = _rows(project_dir)
    if as_json:
        report.emit_json({"secrets": rows})
    elif not rows:
        report.note("no secret is configured, and no tool here needs one")
    else:
        tables.show(("NAME", "KEPT IN", "NEEDED BY"), [_line(row) for row in rows])


def _rows(project_dir: str | None) -> list[JsonObject]:
    configured = user_config.load_user_config().secrets
    rows: dict[str, JsonObject] = {
        name: {"name": name, **stores.described(said), "tools": []}
        for name, said in configured.items()
    }
    try:
        needs = declared.needs(open_workspace(project_dir))
    except errors.ProjectNotFound:
        if project_dir is not None:
            raise
        needs = []
    for need in needs:
        # A kit's own name comes before the plain one, where it has a value.
        name = next((one for one in need.names if os.environ.get(one) or one in rows), need.name)
        row = rows.setdefault(name, {"name": name, "store": None, "place": None, "tools": []})
        row["tools"].extend(need.tools)
    for name, row in rows.items():
        row["environment"] = bool(os.environ.get(name))
    return [rows[name] for name in sorted(rows)]


def _line(row: JsonObject) -> tuple[str, str, str]:
    kept = row["place"] or "nowhere"
    if row["environment"]:
        kept = "the environment" + (f" (then {row['place']})" if row["place"] else "")
    return row["name"], kept, ", ".join(row["tools"])
