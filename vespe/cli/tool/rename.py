"""`vespe tool rename`: another name for a project tool."""

import click

from vespe.cli import options, report
from vespe.projects import project
from vespe.projects.workspace import open_workspace, project_entry, project_has
from vespe.tools import authoring


@click.command("rename", epilog="Example: vespe tool rename greet welcome")
@click.argument("name")
@click.argument("new_name")
@options.project_option
@options.json_option
def command(name: str, new_name: str, project_dir: str | None, as_json: bool) -> None:
    """Return a project tool another name; its uid and directory stay."""
    workspace = open_workspace(project_dir)
    entry = project_entry(workspace, name)
    tools = project.tools_dir(workspace.root)
    tool = authoring.rename_tool(
        tools, entry.uid, name=new_name, taken=lambda wanted: project_has(workspace.root, wanted)
    )
    if as_json:
        report.emit_json({"uid": tool.uid, "name": tool.name, "path": tool.directory})
    else:
        report.say(f"{name} is called {tool.name} now")
