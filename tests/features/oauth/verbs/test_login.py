"""`vespe mcp login`, where it does not come to a login."""

from collections.abc import Callable
from typing import Any

from tests.features.oauth.test_records import URL, kept
from vespe.features.oauth import records
from vespe.features.oauth.verbs.login import shown


def test_without_a_terminal_it_says_so(command: Callable[..., Any]) -> None:
    done = command("mcp", "login", "notes", "--url", URL)
    assert done.code == 6 and "there is no terminal to log in from" in done.err
    done = command("mcp", "login", "notes", "--url", URL, "--json")
    assert done.document["error"]["code"] == "login_required"


def test_a_kit_that_there_is_not_is_told(command: Callable[..., Any]) -> None:
    done = command("mcp", "login", "notes")
    assert done.code == 2 and "no kit from an MCP server called 'notes'" in done.err


def test_the_url_of_the_login_before_is_known_without_the_kit(command: Callable[..., Any]) -> None:
    kept()
    done = command("mcp", "login", "notes")
    assert done.code == 6 and "there is no terminal to log in from" in done.err


def test_what_is_said_of_a_login_holds_no_token(command: Callable[..., Any]) -> None:
    said = shown(kept())
    assert said["issuer"] == "https://login.example.com" and said["scope"] == "read"
    assert "access-1" not in str(said) and [one.url for one in records.every()] == [URL]
