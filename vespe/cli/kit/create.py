"""`vespe kit create`: a new kit with one working tool."""

import os

import click

from vespe.cli import options, report
from vespe.files import locations
from vespe.kits import create, own_source, roots


@click.command("create", epilog="Example: vespe kit create team_tools --in ~/kits")
@click.argument("kit_id", metavar="KIT")
@click.option(
    "--in",
    "parent",
    metavar="DIR",
    help="Where to make it; default: your own kits directory, where every project finds it.",
)
@click.option("--description", metavar="TEXT", help="What the kit is for.")
@options.json_option
def command(kit_id: str, parent: str | None, description: str | None, as_json: bool) -> None:
    """Make a new kit, ready to push: one working tool, a README, and a workflow that lints and
    tests it.
    """
    directory = parent or os.path.join(locations.user_data_dir(), roots.KITS_DIR)
    path, tool = create.found_kit(directory, kit_id, description=description)
    if as_json:
        report.emit_json(
            {"kit_id": kit_id, "path": path, "tool": {"name": tool.name, "uid": tool.uid}}
        )
    else:
        report.say(
            f"made the kit {kit_id} in {path}, with the tool {tool.name}, "
            "a README and a workflow that checks it"
        )
        if not own_source.requirement(os.environ)[0]:
            report.note(
                f"fill in {own_source.VARIABLE} in {create.WORKFLOW}: nobody knows where it could "
                "install this Vespe from"
            )
        if parent is None:
            add = f"`vespe tool create NAME --type TYPE --kit {kit_id}` adds a tool"
            report.next_step(
                f"{add}, `vespe kit activate {kit_id}` makes its tools available in a project"
            )
        else:
            said = f"set VESPE_KITS_PATH={os.path.abspath(parent)}, where every project finds it"
            report.note(
                f"`vespe kit link {os.path.relpath(path)}` lets every project of yours find it; "
                f"or {said}"
            )
