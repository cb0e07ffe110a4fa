"""`vespe config list`: the settings in force."""

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.documents import strict_json
from vespe.models import JsonObject
from vespe.projects import project, user_config
from vespe.projects.workspace import find_root


@click.command("list", epilog="Example: vespe config list --origin")
@click.option("--origin", is_flag=True, help="Name the file that each value came from.")
@options.project_option
@options.json_option
def command(origin: bool, project_dir: str | None, as_json: bool) -> None:
    """List the settings in force here, yours and the project's; secrets are masked."""
    document, path = _project(project_dir)
    found = user_config.origins(user_config.load_user_config(), document, project_path=path)
    if as_json:
        report.emit_json(
            {
                "settings": [
                    {"key": key, "value": value, "origin": where} for key, value, where in found
                ]
            }
        )
        return
    rows = [(key, strict_json.compact_json(value), where) for key, value, where in found]
    tables.show(("KEY", "VALUE", "ORIGIN"), rows) if origin else tables.show(
        ("KEY", "VALUE"), [row[:2] for row in rows]
    )


def _project(project_dir: str | None) -> tuple[JsonObject | None, str]:
    try:
        root = find_root(project_dir)
    except errors.ProjectNotFound:
        if project_dir is not None:
            raise
        return None, ""
    return project.read_config(root).document, project.config_path(root)
