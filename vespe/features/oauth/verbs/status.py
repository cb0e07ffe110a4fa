"""`vespe mcp status`: the logins to remote MCP servers."""

import time
from typing import Final

import click

from vespe import errors
from vespe.cli import options, report
from vespe.features.oauth import records
from vespe.features.oauth.records import Login
from vespe.features.oauth.verbs.login import shown
from vespe.models import JsonObject

_MINUTE_S: Final = 60


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
    rows = [{**shown(one), **_state(one)} for one in logins]
    if as_json:
        report.emit_json({"logins": rows})
    elif not rows:
        report.say("you are not logged in to any MCP server")
    for row in () if as_json else rows:
        report.say(f"{report.one_line(row['kit_id'])}  {report.one_line(row['message'])}")
        report.say(f"  server  {report.one_line(row['url'])}")
        report.say(f"  issuer  {report.one_line(row['issuer'])}")
        if row["scope"]:
            report.say(f"  scopes  {report.one_line(row['scope'])}")
        report.say(f"  tokens  {report.one_line(row['place'])}")
    return 0 if all(row["state"] == "ok" for row in rows) else 1


def _state(one: Login) -> JsonObject:
    """Return `state` (`ok`, `ended`, `unavailable`), `expires_in_s` and a sentence."""

    def said(state: str, message: str, left: float | None = None) -> JsonObject:
        return {
            "state": state,
            "expires_in_s": None if left is None else max(0, round(left)),
            "message": message,
        }

    again = f"`vespe mcp login {one.kit_id}` logs in again"
    if one.ended:
        return said("ended", f"{one.ended}; {again}")
    try:
        grant = records.grant_of(one)
    except errors.Interrupted:
        raise
    except errors.LoginRequired as error:
        return said("ended", f"{error.why}; {again}")
    except errors.VespeError as error:
        return said("unavailable", f"{error}{f' ({error.hint})' if error.hint else ''}")
    left = None if grant.fresh_until is None else grant.fresh_until - time.time()
    if left is None:
        return said("ok", "logged in; the token's expiry is unknown")
    if left > 0:
        then = "then it is refreshed" if grant.refresh_token else f"then {again}"
        return said("ok", f"logged in; the token is valid for {_duration(left)}, {then}", left)
    if grant.refresh_token:
        return said("ok", "logged in; the token is refreshed at the next call", left)
    return said("ended", f"the token expired; {again}", left)


def _duration(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{round(seconds)} s"
    minutes = round(seconds / _MINUTE_S)
    return f"{minutes} min" if minutes < 2 * _MINUTE_S else f"{round(minutes / _MINUTE_S)} h"
