"""Whether the tokens of a login can be used, as far as this machine knows."""

import time
from dataclasses import replace
from typing import Any

import pytest

from tests.features.oauth.test_records import GRANT, LOGIN
from vespe.features.oauth import login_state, records

pytestmark = pytest.mark.usefixtures("home")


def state(**changes: Any) -> tuple[str, str]:
    """Keep a grant with these changes; return what is said of its login."""
    with records.locked("notes", GRANT.url):
        kept = records.keep(LOGIN, replace(GRANT, **changes), store="file")
    said = login_state.state_of(kept)
    assert "access-1" not in str(said) and "refresh-1" not in str(said)
    return said["state"], said["message"]


def test_a_token_that_lasts_or_is_refreshed_is_good() -> None:
    now = time.time()
    assert state() == ("ok", "logged in; the token's expiry is unknown")
    assert state(fresh_until=now + 3000)[0] == "ok"
    assert state(fresh_until=now - 1) == (
        "ok",
        "logged in; the token is refreshed at the next call",
    )


def test_a_token_that_nothing_refreshes_ends_the_login() -> None:
    found = state(fresh_until=time.time() - 1, refresh_token="")
    assert found == ("ended", "the token expired; `vespe mcp login notes` logs in again")


def test_tokens_of_another_login_are_told() -> None:
    assert state()[0] == "ok"
    with records.locked("notes", GRANT.url):
        records.keep(LOGIN, replace(GRANT, issuer="https://evil.example.com"), store="file")
    [kept] = records.every()
    assert login_state.state_of(kept)["state"] == "ended"
