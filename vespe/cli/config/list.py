"""`vespe config list`: the settings in force."""

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.documents import strict_json
from vespe.models import JsonObject
from vespe.projects import project, setting_catalog, user_config
from vespe.projects.workspace import find_root


@click.command("list", epilog="Example: vespe config list --origin")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also list settings that are not set, with a description of each.",
)
@click.option("--origin", is_flag=True, help="Also print the file that each value comes from.")
@options.project_option
@options.json_option
def command(origin: bool, everything: bool, project_dir: str | None, as_json: bool) -> None:
    """List the settings that apply here, yours and the project's. Secrets are masked.

    In the list of --all, NAME stands for a name that you choose. `vespe config set KEY VALUE`
    changes your own settings, and with --project those of the project.
    """
    document, path = _project(project_dir)
    settings = setting_catalog.list_settings(
        user_config.load_user_config(), document, path=path, everything=everything
    )
    if as_json:
        report.emit_json({"settings": settings})
        return
    columns = ["KEY", "VALUE", *["ORIGIN"] * origin, *["DESCRIPTION"] * everything]
    tables.show(columns, [_cells(one, columns) for one in settings])


def _cells(setting: JsonObject, columns: list[str]) -> list[str]:
    value = setting["value"]
    said = "" if value is None else strict_json.compact_json(value)
    return [said if column == "VALUE" else str(setting[column.lower()]) for column in columns]


def _project(project_dir: str | None) -> tuple[JsonObject | None, str]:
    try:
        root = find_root(project_dir)
    except errors.ProjectNotFound:
        if project_dir is not None:
            raise
        return None, ""
    return project.read_config(root).document, project.config_path(root)
