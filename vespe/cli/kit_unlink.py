"""`vespe kit unlink`: take an author's link back."""

import click

from vespe import kit_links
from vespe.cli import options, report


@click.command("unlink", epilog="Example: vespe kit unlink team_tools")
@click.argument("kit_id", metavar="KIT")
@options.json_option
def command(kit_id: str, as_json: bool) -> None:
    """Take the link of a kit back; its directory stays as it is."""
    path = kit_links.unlink_kit(kit_id)
    if as_json:
        report.emit_json({"kit_id": kit_id, "path": path})
    else:
        report.say(f"unlinked {kit_id} from {path}")
