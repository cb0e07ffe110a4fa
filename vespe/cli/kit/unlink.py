"""`vespe kit unlink`: take an author's link back."""

import click

from vespe.cli import options, report
from vespe.kits import links


@click.command("unlink", epilog="Example: vespe kit unlink team_tools")
@click.argument("kit_id", metavar="KIT")
@options.json_option
def command(kit_id: str, as_json: bool) -> None:
    """Remove the link to a kit. Its directory does not change."""
    path = links.unlink_kit(kit_id)
    if as_json:
        report.emit_json({"kit_id": kit_id, "path": path})
    else:
        report.say(f"unlinked {kit_id} from {path}")
