"""`vespe tool copy`: any tool, a kit's too, as a project tool of your own."""

import click

from vespe.cli import options, report
from vespe.projects import project_tools
from vespe.projects.workspace import open_workspace
from vespe.records import json_of


@click.command("copy", epilog="Example: vespe tool copy file_io_without_git/read_file read_notes")
@click.argument("name")
@click.argument("new_name", required=False)
@options.project_option
@options.json_option
def command(name: str, new_name: str | None, project_dir: str | None, as_json: bool) -> None:
    """Copy a tool into the project under a new UID. Without NEW_NAME, the copy shadows the
    original. NAME can be KIT/TOOL of a kit that is not active.
    """
    workspace = open_workspace(project_dir)
    entry = workspace.resolve_to_copy(name).entry
    tool = project_tools.copy_tool(workspace.root, entry, name=new_name)
    if as_json:
        report.emit_json(json_of(tool, "uid", "name", "directory", directory="path"))
    else:
        report.say(f"copied {entry.scope}/{entry.name} to {tool.directory}")
