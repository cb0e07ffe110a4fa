"""`vespe kit link`: an editable kit for its author."""

import click

from vespe.cli import options, report
from vespe.kits import links, roots


@click.command("link", epilog="Example: vespe kit link ~/src/team_tools")
@click.argument("directory", metavar="DIR")
@options.json_option
def command(directory: str, as_json: bool) -> None:
    """Let all your projects use the kit in DIR as it is there, before any other kit with its id,
    while you edit it.

    The directory is trusted as a whole, like a kit that you put among your own kits. Any code that
    appears in it can run in your trusted projects that have the kit active.
    """
    kit_id, path = links.link_kit(directory)
    hidden = [
        kit
        for kit in roots.find_kits(count_tools=False)
        if kit.kit_id == kit_id and kit.problem == f"hidden by {path}"
    ]
    for kit in hidden:
        report.note(f"it hides the {kit.root_kind} kit {kit.path}")
    if as_json:
        report.emit_json({"kit_id": kit_id, "path": path, "hides": [kit.path for kit in hidden]})
    else:
        report.say(
            f"linked {kit_id} to {path}; `vespe kit activate {kit_id}` makes its "
            "tools available in a project"
        )
