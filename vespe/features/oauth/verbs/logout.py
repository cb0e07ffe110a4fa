"""`vespe mcp logout`: remove the tokens of a login."""

import click

from vespe.cli import options, report
from vespe.errors import NotFound
from vespe.features.oauth import login, records


@click.command("logout", epilog="Example: vespe mcp logout notes")
@click.argument("kit_id", metavar="KIT")
@options.json_option
def command(kit_id: str, as_json: bool) -> int:
    """Log out of the remote MCP server of the kit KIT. Its tokens are revoked, if the authorization
    server supports that, and deleted from this machine.
    """
    found = records.of_kit(kit_id)
    if not found:
        raise NotFound(
            f"you are not logged in to {kit_id}", hint="`vespe mcp status` lists your logins"
        )
    gone = []
    for one in found:
        gone.append(login.log_out(one))
        if gone[-1] and not as_json:
            report.say(f"logged out of {kit_id} at {report.one_line(one.url)}")
    if as_json:
        report.emit_json({"kit_id": kit_id, "urls": [one.url for one in found], "gone": all(gone)})
    return 0 if all(gone) else 1
