"""`vespe mcp status`: the logins to remote MCP servers."""

import click

from vespe import errors
from vespe.cli import options, report
from vespe.features.oauth import login_state, records
from vespe.features.oauth.verbs.login import shown


@click.command("status", epilog="Example: vespe mcp status")
@click.argument("kit_id", metavar="[KIT]", required=False)
@options.json_option
def command(kit_id: str | None, as_json: bool) -> int:
    """List your logins to remote MCP servers, or those of the kit KIT, and whether their tokens are
    still valid. No server is contacted. The exit code is 1 if you have to log in again.
    """
    logins = records.every() if kit_id is None else records.of_kit(kit_id)
    if kit_id is not None and not logins:
        raise errors.NotFound(
            f"you are not logged in to {kit_id}", hint=f"`vespe mcp login {kit_id}` logs in"
        )
    rows = [{**shown(one), **login_state.state_of(one)} for one in logins]
    damaged = records.unreadable() if kit_id is None else []
    for path in damaged:
        report.warn(f"{path} is not a readable record of a login: delete it and log in again")
    if as_json:
        report.emit_json({"logins": rows})
    elif not rows and not damaged:
        report.say("you are not logged in to any MCP server")
    for row in () if as_json else rows:
        report.say(f"{report.one_line(row['kit_id'])}  {report.one_line(row['message'])}")
        report.say(f"  server  {report.one_line(row['url'])}")
        report.say(f"  issuer  {report.one_line(row['issuer'])}")
        if row["scope"]:
            report.say(f"  scopes  {report.one_line(row['scope'])}")
        report.say(f"  tokens  {report.one_line(row['place'])}")
    return 0 if not damaged and all(row["state"] == "ok" for row in rows) else 1
