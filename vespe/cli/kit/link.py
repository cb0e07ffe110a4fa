"""`vespe kit link`: an editable kit for its author."""

import click

from vespe.cli import options, report
from vespe.kits import links, roots


@click.command("link", epilog="Example: vespe kit link ~/src/team_tools")
@click.argument("directory", metavar="DIR")
@options.json_option
def command(directory: str, as_json: bool) -> None:
    """Use the kit in DIR in all your projects while you edit it. It takes precedence over any other
    kit with its id.

    The whole directory is trusted, like a kit in your own kits directory. Any code in it, including
    code that is added later, can run in your trusted projects that have the kit active.
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
