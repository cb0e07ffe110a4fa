"""`vespe tool remove`: delete a project tool."""

import click

from vespe.cli import options, report
from vespe.cli.tool import owner
from vespe.records import json_of
from vespe.tools import authoring


@click.command("remove", epilog="Example: vespe tool remove greet --yes")
@click.argument("name")
@owner.kit_option
@options.yes_option
@options.project_option
@options.json_option
def command(name: str, kit: str | None, yes: bool, project_dir: str | None, as_json: bool) -> None:
    """Delete a project tool, given by its name or UID. This also works for a broken tool.

    To delete a tool of a kit that you edit, use `--kit`.
    """
    own = owner.ToolOwner(kit, project_dir)
    entry = own.find(name)
    options.confirm(
        f"Remove {entry.name or entry.uid}? This deletes {entry.path} with everything in it.",
        yes=yes,
    )
    authoring.remove_tool(own.tools_dir, entry.uid)
    if as_json:
        report.emit_json(json_of(entry, "uid", "name", "path"))
    else:
        report.say(f"removed {entry.name or entry.uid}")
