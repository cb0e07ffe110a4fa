"""The redirect of a login: at a port, or pasted; and what comes there that is none."""

import os
import pty
import socket
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest

from vespe import errors
from vespe.features.oauth.person import Browser, can_open_browser
from vespe.features.oauth.sdk import LoginQuestion

STATE = "the-state-of-this-login"
ASKED = LoginQuestion(
    server="https://mcp.example.com/mcp",
    issuer="https://login.example.com",
    scope="read",
    url=f"https://login.example.com/authorize?state={STATE}",
)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal for stdin; what is written to the descriptor is typed there."""
    ours, theirs = pty.openpty()
    before = os.dup(0)
    os.dup2(theirs, 0)
    yield ours
    os.dup2(before, 0)
    for descriptor in (before, ours, theirs):
        os.close(descriptor)


def browser(patience_s: float = 20, port: int = 0) -> Browser:
    return Browser(
        port=port, opens=False, yes=True, cancel=threading.Event(), patience_s=patience_s
    )


def get(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_the_redirect_comes_to_the_port(typed: int) -> None:
    with browser() as person:
        person.ask(ASKED)
        assert get(f"{person.redirect_uri}?code=c&state={STATE}&iss=https%3A%2F%2Fi") == 200
        assert person.answer() == ("c", STATE, "https://i")
    with pytest.raises(urllib.error.URLError):
        get(person.redirect_uri)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?code=c",
        "?code=c&state=wrong",
        f"?state={STATE}",
        f"?code=&state={STATE}",
        f"?code=c&code=d&state={STATE}",
        f"?code=c&state={STATE}&state={STATE}",
        "?state=%FF%00",
    ],
)
def test_what_is_not_the_redirect_of_this_login_is_not_taken(query: str, typed: int) -> None:
    with browser() as person:
        person.ask(ASKED)
        assert get(person.redirect_uri + query) == 400
        assert get(person.redirect_uri.replace("/callback", "/favicon.ico")) == 404
        assert get(f"{person.redirect_uri}?code=right&state={STATE}") == 200
        assert person.answer()[0] == "right"


def test_the_address_is_pasted_after_garbage(
    typed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with browser() as person:
        person.ask(ASKED)
        lines = ["\n", "what?\n", "http://[\n", f"{person.redirect_uri}?code=c&state=no\n"]
        os.write(
            typed, "".join([*lines, f"  {person.redirect_uri}?code=c&state={STATE}\n"]).encode()
        )
        assert person.answer() == ("c", STATE, None)
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("That is not the address that the browser ended at") == 3
    assert "`state` does not belong to this login" in said and "it is not a URL" in said


def test_a_no_at_the_authorization_server_is_told(typed: int) -> None:
    with browser() as person:
        person.ask(ASKED)
        query = urllib.parse.urlencode(
            {"error": "access_denied", "error_description": "No.", "state": STATE}
        )
        assert get(f"{person.redirect_uri}?{query}") == 200
        with pytest.raises(errors.Refused, match="access_denied: No"):
            person.answer()


def test_a_browser_that_was_closed_is_not_waited_for_for_ever(typed: int) -> None:
    with browser(patience_s=0.1) as person, pytest.raises(errors.TimedOut, match="the login"):
        person.ask(ASKED)
        person.answer()


def test_a_terminal_that_was_closed_ends_the_login(typed: int) -> None:
    with browser() as person:
        person.ask(ASKED)
        os.write(typed, b"\x04")
        with pytest.raises(errors.Refused, match="the terminal was closed"):
            person.answer()


def test_a_login_that_was_ended_waits_for_nothing(typed: int) -> None:
    ending = threading.Event()
    ending.set()
    person = Browser(port=0, opens=False, yes=True, cancel=ending, patience_s=20)
    with person, pytest.raises(errors.Interrupted):
        person.answer()


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(errors.StorageError, match="in use") as caught:
            browser(port=other.getsockname()[1])
    assert "--port" in caught.value.hint


def test_an_idle_connection_holds_nobody_up(typed: int) -> None:
    with browser() as person:
        person.ask(ASKED)
        with socket.create_connection(("127.0.0.1", person.port)):
            assert get(f"{person.redirect_uri}?code=c&state={STATE}") == 200
        assert person.answer()[0] == "c"


def test_a_browser_is_opened_where_one_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert can_open_browser() == (sys.platform == "darwin")
    monkeypatch.setenv("BROWSER", "true")
    assert can_open_browser()
