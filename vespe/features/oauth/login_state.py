"""Whether the tokens of a login can be used, as far as this machine knows: no server is asked."""

import time
from typing import Final

from vespe import errors
from vespe.features.oauth import records
from vespe.features.oauth.records import Login
from vespe.models import JsonObject

_MINUTE_S: Final = 60


def state_of(one: Login) -> JsonObject:
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
