"""`vespe tool copy`: any tool, a kit's too, as a project tool of your own."""

import click

from vespe import authoring, project, trust
from vespe.cli import options, report
from vespe.workspace import open_workspace, project_has


@click.command("copy", epilog="Example: vespe tool copy file_io_without_git/read_file read_notes")
@click.argument("name")
@click.argument("new_name", required=False)
@options.project_option
@options.json_option
def command(name: str, new_name: str | None, project_dir: str | None, as_json: bool) -> None:
    """Copy any tool into the project, under a new uid; without NEW_NAME it shadows the original."""
    workspace = open_workspace(project_dir)
    entry = workspace.resolve(name).entry
    tools = project.tools_dir(workspace.root)
    tool = authoring.copy_tool(entry.path, tools, taken=lambda wanted: project_has(workspace.root, wanted), name=new_name)
    if entry.scope != tool.scope:
        trust.trust_created(workspace.root, tool.uid)
    if as_json:
        report.emit_json({"uid": tool.uid, "name": tool.name, "path": tool.directory})
    else:
        report.say(f"copied {entry.scope}/{entry.name} to {tool.directory}")
