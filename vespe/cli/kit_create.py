"""`vespe kit create`: a new kit with one working tool."""

import os

import click

from vespe import authoring, drafts, kits, locations
from vespe.cli import options, report


@click.command("create", epilog="Example: vespe kit create team_tools --in ~/kits")
@click.argument("kit_id", metavar="KIT")
@click.option("--in", "parent", metavar="DIR", help="Where to make it; default: your own kits directory, where every project finds it.")
@click.option("--description", metavar="TEXT", help="What the kit is for.")
@options.json_option
def command(kit_id: str, parent: str | None, description: str | None, as_json: bool) -> None:
    """Make a new kit with one working tool, for you to edit."""
    directory = parent or os.path.join(locations.user_data_dir(), kits.KITS_DIR)
    path = kits.create_kit(directory, kit_id, description=description)
    draft = drafts.draft_tool(f"example_of_{kit_id[:48]}", "python_script")
    tool = authoring.create_tool(path, draft, taken=lambda name: False)
    if as_json:
        report.emit_json({"kit_id": kit_id, "path": path, "tool": {"name": tool.name, "uid": tool.uid}})
    else:
        found = "" if parent is None else f"; set VESPE_KITS_PATH={os.path.abspath(parent)} where projects shall find it"
        report.say(f"made the kit {kit_id} in {path}, with the tool {tool.name}{found}")
