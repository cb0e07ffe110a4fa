"""Logging in and out from a real terminal, against a real authorization server."""

import json
import os
import pty
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.features.oauth.test_records import GRANT, LOGIN, kept
from tests.features.oauth.test_sdk import Robot, logged_in
from tests.features.oauth.test_tokens import kept as really_kept
from tests.support.authorization import Issuer, Resource, authorized
from tests.support.terminal import environment_of, vespe_on_a_terminal
from tests.support.visitor import BROWSER
from vespe import errors
from vespe.features.oauth import login, records
from vespe.features.oauth.login import LoginChoices
from vespe.projects import user_config

ROOT = str(Path(__file__).parents[3])
AWAY = {"PYTHONPATH": ROOT, "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


@pytest.fixture
def world(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Issuer, Resource]]:
    for name, value in AWAY.items():
        monkeypatch.setenv(name, value)
    user_config.set_value("allow_hosts", ["127.0.0.1"])
    with authorized() as (issuer, resource):
        yield issuer, resource


class Terminal:
    """`vespe` on a pseudo-terminal, read until it shows something."""

    def __init__(self, *arguments: str, cwd: Path, **env: str) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vespe", *arguments],
            cwd=cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment_of(**env),
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),
        )
        os.close(theirs)
        self.shown = ""

    def until(self, wanted: str) -> re.Match[str] | None:
        """Read until the pattern is shown, or the end."""
        while not (found := re.search(wanted, self.shown)):
            try:
                self.shown += os.read(self.ours, 65536).decode().replace("\r\n", "\n")
            except OSError:
                return None
        return found

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def ended(self) -> int:
        self.until(r"\0")
        os.close(self.ours)
        return self.process.wait(60)


def tokens_in(folder: Path, issuer: Issuer) -> list[str]:
    """The files below a folder that hold a token."""
    held = [token.encode() for token in (*issuer.access, *issuer.refresh, *issuer.spent)]
    files = [Path(at, name) for at, _, names in os.walk(folder) for name in names]
    return [str(file) for file in files if any(one in file.read_bytes() for one in held)]


def test_p81_a_person_adds_a_kit_and_the_token_is_in_its_store_alone(
    world: tuple[Issuer, Resource], project: Path, home: Path, command: Callable[..., Any]
) -> None:
    issuer, resource = world
    words = ("kit", "add-mcp", "notes", "--url", resource.url, "--activate", "--yes")
    refused = command(*words)
    assert (refused.code, "`vespe mcp login notes --url" in refused.err) == (6, True)
    shown = vespe_on_a_terminal(*words, cwd=project, BROWSER=BROWSER)
    assert "exit code" not in shown, shown
    assert "this machine has no keyring" in shown and "made the kit notes" in shown
    # The server forgets the token: the call gets another one, and nobody is asked.
    issuer.access.clear()
    done = command("tool", "run", "echo", "--args", '{"text": "hi"}', "--json")
    assert (done.code, issuer.refreshes, resource.calls) == (0, 1, 1)
    assert "done for Bearer ***" in done.out
    token = next(iter(issuer.access))
    assert token not in shown + done.out + done.err
    [place] = tokens_in(home, issuer) + tokens_in(project, issuer)
    assert Path(place).parent.name == "secrets" and os.stat(place).st_mode & 0o77 == 0
    # The issuer ends the login: the call says so, and is not sent.
    issuer.access.clear()
    issuer.refresh.clear()
    done = command("tool", "run", "echo", "--args", '{"text": "hi"}', "--json")
    assert (done.code, done.document["error"]["code"]) == (6, "login_required")
    assert "vespe mcp login notes" in done.document["error"]["hint"] and resource.calls == 1


def test_another_scope_is_asked_for_by_name(
    world: tuple[Issuer, Resource], project: Path, command: Callable[..., Any]
) -> None:
    issuer, resource = world
    resource.scopes = {"tools/call": "notes:write"}
    really_kept(resource)
    words = ("kit", "add-mcp", "notes", "--url", resource.url, "--activate", "--yes")
    assert command(*words).code == 0
    done = command("tool", "run", "echo", "--args", "{}")
    assert done.code == 6 and "`vespe mcp login notes --scope notes:write`" in done.err
    again = ("mcp", "login", "notes", "--scope", "notes:write")
    shown = vespe_on_a_terminal(*again, cwd=project, typed="y\n", BROWSER=BROWSER)
    assert "scopes  notes:write" in shown and f"Log in at {issuer.url}?" in shown
    assert command("tool", "run", "echo", "--args", "{}").code == 0 and resource.calls == 1


def test_the_redirect_is_pasted_where_no_browser_is(
    world: tuple[Issuer, Resource], project: Path
) -> None:
    issuer, resource = world
    words = ("mcp", "login", "notes", "--url", resource.url, "--no-browser", "--yes")
    at = Terminal(*words, cwd=project)
    found = at.until(r"(http://\S+/authorize\?\S+)\n")
    assert found is not None and at.until("paste that")

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.build_opener(Stay).open(found[1])
    caught.value.close()
    at.type(f"{caught.value.headers['location']}\n")
    assert at.ended() == 0, at.shown
    login = records.find("notes", resource.url)
    assert login is not None and records.grant_of(login).access_token in issuer.access


@pytest.mark.parametrize("typed", ["\x03", "n\n"])
def test_who_gives_up_leaves_nothing(
    typed: str, world: tuple[Issuer, Resource], project: Path, home: Path
) -> None:
    issuer, resource = world
    words = ["mcp", "login", "notes", "--url", resource.url, "--no-browser"]
    at = Terminal(*words, *(["--yes"] if typed == "\x03" else []), cwd=project)
    at.until("paste that" if typed == "\x03" else r"\[y/N\]")
    at.type(typed)
    assert at.ended() == (130 if typed == "\x03" else 6), at.shown
    assert not issuer.access and records.every() == [] and "Traceback" not in at.shown


def test_a_token_of_a_secret_stands_in_for_a_login(
    world: tuple[Issuer, Resource], command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer, resource = world
    token = logged_in(resource.url).access_token
    monkeypatch.setenv("VESPE_NOTES__MCP_TOKEN", token)
    added = ("kit", "add-mcp", "notes", "--url", resource.url, "--activate", "--yes")
    assert command(*added).code == 0
    done = command("tool", "run", "echo", "--args", "{}")
    assert done.code == 0 and token not in done.out + done.err
    monkeypatch.setenv("VESPE_NOTES__MCP_TOKEN", "another-token")
    done = command("tool", "run", "echo", "--args", "{}")
    assert done.code == 6 and "the secret VESPE_NOTES__MCP_TOKEN" in done.err
    assert "another-token" not in done.err and issuer.refreshes == 0 and records.every() == []


def test_a_client_that_was_registered_by_hand_is_used_and_is_bound_to_its_issuer(
    world: tuple[Issuer, Resource], project: Path, command: Callable[..., Any]
) -> None:
    from mcp.shared.auth import OAuthClientInformationFull

    issuer, resource = world
    issuer.clients["mine"] = OAuthClientInformationFull.model_validate(
        {
            "client_id": "mine",
            "client_secret": "s3cret-of-mine",
            "redirect_uris": ["http://localhost:40871/callback"],
            "token_endpoint_auth_method": "client_secret_basic",
        }
    )
    user_config.set_value("secrets.NOTES_CLIENT", "s3cret-of-mine")
    client = ("--client-id", "mine", "--client-secret", "NOTES_CLIENT")
    redirect = ("--redirect-host", "localhost", "--port", "40871")
    words = ("mcp", "login", "notes", "--url", resource.url, "--yes")
    shown = vespe_on_a_terminal(*words, *client, *redirect, cwd=project, BROWSER=BROWSER)
    assert "logged in to notes" in shown and list(issuer.clients) == ["mine"]
    [made] = records.every()
    assert (made.client, made.secret_name) == ("given", "NOTES_CLIENT")
    assert (made.host, made.port) == ("localhost", 40871)
    assert "s3cret-of-mine" not in json.dumps(os.listdir(made.directory))
    assert not records.grant_of(made).client_secret
    # Another issuer never sees the client's secret.
    with authorized() as (other, _):
        resource.said = {"authorization_servers": [other.url]}
        resource.challenge = "Bearer"
        given: dict[str, Any] = {
            "client_id": "mine",
            "client_secret": "s3cret-of-mine",
            "issuer": made.issuer,
        }
        with pytest.raises(errors.Refused, match="uses another authorization server"):
            logged_in(resource.url, Robot(), **given)
        other.clients |= issuer.clients  # it would take the login
        shown = vespe_on_a_terminal(*words, cwd=project, columns=1000, BROWSER=BROWSER)
        assert "uses another authorization server" in shown and "(exit code 6)" in shown
        assert not other.resources and not other.access and records.every() == [made]


def test_what_does_not_go_together_is_refused_before_anything_is_asked() -> None:
    for choices in (LoginChoices(secret_name="A"), LoginChoices(port=70000), LoginChoices(port=-1)):
        with pytest.raises(errors.UsageError):
            choices.check()


@pytest.mark.usefixtures("home")
def test_logging_out_where_the_issuer_cannot_be_asked_removes_the_tokens_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept()
    [made] = records.every()
    assert login.log_out(made)
    assert "cannot revoke tokens" in " ".join(capsys.readouterr().err.split())
    assert records.every() == [] and not os.path.exists(LOGIN.directory)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("endpoint", "secret_name", "why"),
    [
        ("http://login.example.com/revoke", "", "without https, others could read the token"),
        (
            "https://login.example.com/revoke",
            "GONE",
            "the secret GONE cannot be read from env:NOT_THERE",
        ),
    ],
)
def test_p83_a_login_whose_tokens_cannot_be_revoked_says_so(
    capsys: pytest.CaptureFixture[str], endpoint: str, secret_name: str, why: str
) -> None:
    user_config.set_value("secrets.GONE", {"ref": "env:NOT_THERE"})
    with records.locked(LOGIN.kit_id, LOGIN.url):
        made = records.keep(
            replace(LOGIN, secret_name=secret_name),
            replace(GRANT, revocation_endpoint=endpoint),
            store="file",
        )
    assert login.log_out(made)
    said = " ".join(capsys.readouterr().err.split())
    assert "has not revoked the tokens" in said and why in said
