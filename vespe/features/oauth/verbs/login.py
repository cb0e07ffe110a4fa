"""`vespe mcp login`: log in to the MCP server of a kit."""

from typing import Any

import click

from vespe.cli import kit_facts, options, report
from vespe.errors import UsageError
from vespe.features.oauth import login, records
from vespe.features.oauth.login import LoginChoices
from vespe.kits import mcp_kits
from vespe.models import JsonObject


@click.command("login", epilog="Example: vespe mcp login notes")
@click.argument("kit_id", metavar="KIT")
@click.option("--url", metavar="URL", help="The server's URL, if its kit does not exist yet.")
@options.login_client_options
@click.option(
    "--scope",
    default="",
    metavar="SCOPES",
    help="Additional scopes to request, separated by spaces.",
)
@options.yes_option
@options.project_option
@options.json_option
def command(
    kit_id: str,
    url: str | None,
    client: JsonObject,
    scope: str,
    yes: bool,
    project_dir: str | None,
    as_json: bool,
) -> None:
    """Log in to the remote MCP server of the kit KIT, in your browser. Its tools use the login
    until you log out. The tokens are stored in your keyring or in a file that only you can read,
    and refreshed when they expire.
    """
    made = login.log_in(
        kit_id,
        url or _url_of(kit_id, project_dir),
        LoginChoices(**client, scope=scope, yes=yes),
    )
    if as_json:
        return report.emit_json(shown(made))
    return report.say(login.said_of(made))


def shown(made: Any) -> JsonObject:
    """Return what is said of a login as JSON: no token, and nothing of one."""
    return {
        "kit_id": made.kit_id,
        "url": made.url,
        "issuer": made.issuer,
        "scope": made.scope,
        "client": made.client,
        "client_id": made.client_id,
        "logged_in_at": made.logged_in_at,
        "place": made.place,
    }


def _url_of(kit_id: str, project_dir: str | None) -> str:
    """Return where the server of a kit listens: as the kit says, else as at the login before."""
    kit = mcp_kits.find(kit_id, kit_facts.root_if_any(project_dir))
    known = [one.url for one in records.of_kit(kit_id)]
    if kit is None and len(known) == 1:
        return known[0]
    server, _ = mcp_kits.known_server(kit_id, kit_facts.root_if_any(project_dir))
    url = server.get("url")
    if not isinstance(url, str):
        raise UsageError(
            f"the server of {kit_id} is a local command, so there is nothing to log in to",
            hint=f"it may need a secret instead: `vespe kit show {kit_id}` lists its secrets",
        )
    return url
