"""`vespe mcp status`: what is kept of each login."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.features.oauth.test_records import GRANT, LOGIN, kept
from tests.support.keyrings import use_a_keyring
from vespe.features.oauth import records


@pytest.mark.parametrize(
    ("changes", "state", "says"),
    [
        ({}, "ok", "expiry is unknown"),
        ({"fresh_until": 50}, "ok", " s, then it is refreshed"),
        ({"fresh_until": 3000}, "ok", "valid for 50 min, then it is refreshed"),
        ({"fresh_until": 20000}, "ok", "valid for 6 h"),
        ({"fresh_until": -1}, "ok", "refreshed at the next call"),
        ({"fresh_until": -1, "refresh_token": ""}, "ended", "`vespe mcp login notes`"),
    ],
)
def test_it_says_how_long_a_token_is_good(
    changes: dict[str, Any], state: str, says: str, command: Callable[..., Any]
) -> None:
    if "fresh_until" in changes:
        changes = changes | {"fresh_until": time.time() + changes["fresh_until"]}
    with records.locked("notes", GRANT.url):
        records.keep(LOGIN, replace(GRANT, **changes), store="file")
    done = command("mcp", "status", "--json")
    [row] = done.document["logins"]
    assert (row["state"], done.code) == (state, 0 if state == "ok" else 1)
    assert says in row["message"]
    assert "access-1" not in done.out and "refresh-1" not in done.out
    text = command("mcp", "status", "notes")
    assert "notes  " in text.err and "https://login.example.com" in text.err


def test_without_a_login_it_says_so(command: Callable[..., Any]) -> None:
    assert "not logged in to any MCP server" in command("mcp", "status").err
    done = command("mcp", "status", "notes")
    assert done.code == 3 and "`vespe mcp login notes`" in done.err


def test_a_store_that_gives_nothing_is_not_called_well(
    command: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    kept("keyring")
    entries.write_text('{"fault": "locked"}', encoding="utf-8")
    done = command("mcp", "status", "--json")
    [row] = done.document["logins"]
    assert (row["state"], done.code) == ("unavailable", 1) and "locked" in row["message"]
    records.note(replace(records.every()[0], ended="requires a login: it was ended"))
    assert command("mcp", "status", "--json").document["logins"][0]["state"] == "ended"
