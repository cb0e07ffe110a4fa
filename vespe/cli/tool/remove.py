"""`vespe tool remove`: delete a project tool."""

import click

from vespe.cli import options, report
from vespe.projects import project
from vespe.projects.workspace import open_workspace, project_entry
from vespe.tools import authoring


@click.command("remove", epilog="Example: vespe tool remove greet --yes")
@click.argument("name")
@options.yes_option
@options.project_option
@options.json_option
def command(name: str, yes: bool, project_dir: str | None, as_json: bool) -> None:
    """Delete a project tool, by its name or uid; a broken one too. A kit's tools are not the
    project's to delete.
    """
    workspace = open_workspace(project_dir)
    entry = project_entry(workspace, name)
    options.confirm(f"Delete {entry.path} and all that is in it?", yes=yes)
    authoring.remove_tool(project.tools_dir(workspace.root), entry.uid)
    if as_json:
        report.emit_json({"uid": entry.uid, "name": entry.name, "path": entry.path})
    else:
        report.say(f"removed {entry.name or entry.uid}")
