"""`vespe tool rename`: another name for a project tool."""

import click

from vespe.cli import options, report
from vespe.cli.tool import owner
from vespe.records import json_of
from vespe.tools import authoring


@click.command("rename", epilog="Example: vespe tool rename greet welcome")
@click.argument("name")
@click.argument("new_name")
@owner.kit_option
@options.project_option
@options.json_option
def command(
    name: str, new_name: str, kit: str | None, project_dir: str | None, as_json: bool
) -> None:
    """Rename a project tool. Its UID and directory stay the same. If the project is trusted, it
    stays trusted with this change.
    """
    own = owner.ToolOwner(kit, project_dir)
    uid = own.find(name).uid
    with own.keeping_trust(uid) as written:
        tool = authoring.rename_tool(
            own.tools_dir, uid, name=new_name, taken=own.has, written=written
        )
    if as_json:
        report.emit_json(json_of(tool, "uid", "name", "directory", directory="path"))
    else:
        report.say(f"{name} is now called {tool.name}")
