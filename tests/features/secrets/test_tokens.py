"""Tokens from an endpoint on loopback that does as OAuth's client credentials say."""

import base64
import json
import os
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.loopback import Exchange, Loopback
from vespe.errors import InvalidDocument, SecretUnavailable
from vespe.features.secrets import kept, references
from vespe.features.secrets.sources import SecretRequest
from vespe.projects import user_config

SECRET = "s3cr3t: of+the/client"


class Endpoint:
    """A token endpoint that knows one client; `asked` are the forms that it was sent, and `answer`
    is merged into what it says.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, list[str]]] = []
        self.answer: dict[str, Any] = {"expires_in": 3600}
        self.raw: tuple[bytes, int] | None = None

    def __call__(self, exchange: Exchange) -> bool:
        self.asked.append(urllib.parse.parse_qs(exchange.body.decode()))
        if self.raw:
            return exchange.reply(self.raw[0], status=self.raw[1])
        sent = base64.b64decode(exchange.headers["authorization"].removeprefix("Basic ")).decode()
        known = ":".join(map(urllib.parse.quote_plus, ("me", SECRET)))
        if sent != known:
            said = {"error": "invalid_client", "error_description": urllib.parse.unquote_plus(sent)}
            return exchange.reply(json.dumps(said).encode(), status=401)
        said = {"access_token": f"token-{len(self.asked)}", "token_type": "Bearer", **self.answer}
        return exchange.reply(json.dumps(said).encode())


@pytest.fixture
def endpoint() -> Iterator[tuple[Endpoint, str]]:
    made = Endpoint()
    with Loopback(made) as server:
        yield made, server.url("/token")


def asked(url: str, **more: Any) -> SecretRequest:
    token = {"url": url, "client_id": "me", "client_secret": {"ref": "env:CLIENT"}, **more}
    references.check("T", {"token": token}, "config.json")
    return SecretRequest(
        name="T", reference={"token": token}, environment={**os.environ, "CLIENT": SECRET}
    )


def refused(made: SecretRequest) -> str:
    with pytest.raises(SecretUnavailable) as caught:
        kept.value_of(made)
    text = f"{caught.value} ({caught.value.hint})"
    assert SECRET not in text and caught.value.hint
    return text


def test_a_token_is_kept_until_it_expires_or_is_refused(endpoint: tuple[Endpoint, str]) -> None:
    server, url = endpoint
    made = asked(url, scope="read write")
    assert [kept.value_of(made) for _ in range(3)] == ["token-1"] * 3
    assert server.asked == [{"grant_type": ["client_credentials"], "scope": ["read write"]}]
    assert kept.renewed(made, refused="token-1") == "token-2"
    assert kept.known(made) == ("token-2", "token-1")
    server.answer = {"expires_in": 0}
    assert kept.renewed(made, refused="token-2") == "token-3"
    assert kept.value_of(made) == "token-4"
    server.answer = {}
    assert kept.value_of(made) == kept.value_of(made) == "token-5"


def test_a_token_is_configured_and_fetched_from_the_terminal(
    endpoint: tuple[Endpoint, str], command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, url = endpoint
    monkeypatch.setenv("CLIENT", SECRET)
    said = {"url": url, "client_id": "me", "client_secret": {"ref": "env:CLIENT"}}
    assert command("config", "set", "secrets.T.token", json.dumps(said)).code == 0
    assert command("secret", "get", "T").out == "token-1\n"
    listed = command("secret", "list").out + command("config", "list").out
    assert "the token endpoint of 127.0.0.1" in listed and SECRET not in listed


def test_an_endpoint_that_gives_no_token_says_why(endpoint: tuple[Endpoint, str]) -> None:
    server, url = endpoint
    text = refused(asked(url, client_id={"command": ["echo", "somebody"]}))
    assert "answered with status 401: invalid_client somebody:***" in text
    for raw, status, said in (
        (b"<html>", 200, "no access_token"),
        (b'{"access_token": 7}', 200, "no access_token"),
        (b'{"access_token": "a\\nb"}', 200, "no access_token"),
        (b"gone", 503, "status 503"),
        (b'"' + b"x" * 70000 + b'"', 200, "65536 bytes"),
    ):
        server.raw = raw, status
        assert said in refused(asked(url))
    assert "the variable is not set" in refused(asked(url, client_secret={"ref": "env:NO_SUCH"}))


def test_a_hint_for_what_a_token_is_fetched_with_names_the_setting_of_that(
    command: Callable[..., Any], endpoint: tuple[Endpoint, str]
) -> None:
    _, url = endpoint
    printed = {"command": ["printf", r"%s\nmore", SECRET]}
    user_config.set_value("secrets.T", asked(url, client_secret=printed).reference)
    hint = command("secret", "check", "T").out
    assert "`vespe config set secrets.T.token.client_secret.lines first`" in hint
    assert command("config", "set", "secrets.T.token.client_secret.lines", "first").code == 0
    assert command("secret", "get", "T").out == "token-1\n"
    unset = asked(url, client_id={"ref": "env:NO_SUCH"})
    assert "`vespe config set secrets.T.token.client_id.ref …`" in refused(unset)
    slow = asked(url, client_secret={"command": ["sleep", "60"], "timeout_s": 0.01})
    assert "`vespe config set secrets.T.token.client_secret.timeout_s SECONDS`" in refused(slow)


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with Loopback() as server:
        url = server.url("/token")
    assert "the token endpoint of 127.0.0.1" in refused(asked(url))


@pytest.mark.parametrize(
    ("token", "pointer"),
    [
        ("hunter2", "/token"),
        ({"client_id": "a", "client_secret": "b"}, "/token/url"),
        ({"url": "http://login.example/hunter2"}, "/token/url"),
        ({"url": "https://hunter2@login.example/"}, "/token/url"),
        ({"url": "hunter2"}, "/token/url"),
        ({"url": "https://a.example/"}, "/token/client_id"),
        (
            {"url": "https://a.example/", "client_id": "a", "client_secret": "hunter2"},
            "/token/client_secret",
        ),
        ({"url": "https://a.example/", "client_id": "", "client_secret": "b"}, "/token/client_id"),
        (
            {"url": "https://a.example/", "client_id": "a", "client_secret": {"ref": "hunter2"}},
            "/token/client_secret/ref",
        ),
        (
            {"url": "https://a.example/", "client_id": "a", "client_secret": {"token": {}}},
            "/token/client_secret",
        ),
        (
            {
                "url": "https://a.example/",
                "client_id": "a",
                "client_secret": {"ref": "env:B"},
                "scope": ["x"],
            },
            "/token/scope",
        ),
    ],
)
def test_what_is_no_token_is_said_with_its_pointer(token: Any, pointer: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        references.check("T", {"token": token}, "config.json")
    assert caught.value.pointer == f"/secrets/T{pointer}" and "hunter2" not in str(caught.value)
