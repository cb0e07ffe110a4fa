"""The OAuth flow against a real authorization server, and against servers that lie."""

import json
import logging
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.support.authorization import authorized
from tests.support.loopback import Exchange, Loopback
from vespe.errors import LoginRequired, Refused, ToolExecutionError, VespeError
from vespe.features.oauth import sdk
from vespe.features.oauth.sdk import LoginQuestion, Wanted

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "cases/oauth/hostile.json").read_text(encoding="utf-8")
)["cases"]
SECRET = "s3cret-of-the-client"


class Robot:
    """A person with a browser: says yes, and comes back with what the redirect says, and `more`."""

    redirect_uri = "http://127.0.0.1:9/callback"

    def __init__(self, **more: str) -> None:
        self.more, self.asked = more, list[LoginQuestion]()

    def ask(self, question: LoginQuestion) -> None:
        self.asked.append(question)

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_: Any) -> None:
                return None

        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.build_opener(Stay).open(question.url)
        caught.value.close()
        query = urllib.parse.urlsplit(caught.value.headers["location"]).query
        self.said = dict(urllib.parse.parse_qsl(query)) | self.more

    def answer(self) -> tuple[str, str, str | None]:
        return self.said["code"], self.said["state"], self.said.get("iss")


def wanted(url: str, **more: Any) -> Wanted:
    return Wanted(kit_id="notes", url=url, allow_hosts=("127.0.0.1",), **more)


def logged_in(url: str, robot: Robot | None = None, **more: Any) -> Any:
    return sdk.logged_in(wanted(url, **more), robot or Robot(), cancel=threading.Event())


def test_p81_a_login_gives_tokens_for_this_resource_of_this_issuer() -> None:
    with authorized() as (issuer, resource):
        robot = Robot()
        grant = logged_in(resource.url, robot)
        assert grant.issuer == robot.asked[0].issuer == issuer.url
        assert grant.access_token in issuer.access and grant.refresh_token in issuer.refresh
        assert issuer.resources == [resource.url] == [grant.resource]
        # The token went to the server that it is for, once it was there.
        assert resource.seen == [("ping", ""), ("ping", f"Bearer {grant.access_token}")]
        assert grant.access_token not in repr(grant) and grant.refresh_token not in repr(grant)


def test_an_issuer_that_lost_the_client_is_said() -> None:
    with authorized() as (issuer, resource):
        issuer.forgets = True
        with pytest.raises(VespeError, match="does not know the client") as caught:
            logged_in(resource.url)
        assert "registers a new client" in caught.value.hint and not issuer.access


def test_a_refresh_gives_other_tokens_and_one_that_is_used_again_ends_the_login() -> None:
    with authorized() as (issuer, resource):
        grant = logged_in(resource.url)
        other = sdk.refreshed(grant, grant.client_secret, allow_hosts=("127.0.0.1",))
        assert {other.access_token, other.refresh_token}.isdisjoint(
            {grant.access_token, grant.refresh_token}
        )
        with pytest.raises(LoginRequired, match="ended the last one") as caught:
            sdk.refreshed(grant, grant.client_secret, allow_hosts=("127.0.0.1",))
        assert issuer.reused == 1 and grant.refresh_token not in str(caught.value)
        issuer.clients.clear()
        with pytest.raises(LoginRequired, match="no longer knows the client"):
            sdk.refreshed(other, other.client_secret, allow_hosts=("127.0.0.1",))


def test_an_issuer_that_is_away_does_not_end_the_login() -> None:
    with authorized() as (_, resource):
        grant = logged_in(resource.url)
    with pytest.raises(ToolExecutionError, match="cannot connect"):
        sdk.refreshed(grant, grant.client_secret, allow_hosts=("127.0.0.1",))


def test_scopes_that_a_person_names_are_asked_for() -> None:
    with authorized() as (_, resource):
        robot = Robot()
        grant = logged_in(resource.url, robot, scope="notes:read notes:write")
        assert robot.asked[0].scope == grant.scope == "notes:read notes:write"


class World:
    """An authorization server and a resource in one, with the lies of a case."""

    def __init__(self, case: dict[str, Any], other: str) -> None:
        self.case, self.other, self.base, self.code = case, other, "", "the-code"

    def _filled(self, value: Any) -> Any:
        text = json.dumps(value)
        for name, said in (("other", self.other), ("base", self.base), ("secret", SECRET)):
            text = text.replace(f"{{{name}}}", said)
        return json.loads(text)

    def _parts(self) -> dict[str, tuple[str, dict[str, Any]]]:
        base = self.base
        server = {
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "registration_endpoint": f"{base}/register",
            "code_challenge_methods_supported": ["S256"],
        }
        client = {"client_id": "c1", "client_secret": SECRET, "redirect_uris": [Robot.redirect_uri]}
        return {
            "resource": (
                "/.well-known/oauth-protected-resource",
                {"resource": f"{base}/mcp", "authorization_servers": [base]},
            ),
            "server": ("/.well-known/oauth-authorization-server", server),
            "register": (
                "/register",
                {**client, "token_endpoint_auth_method": "client_secret_basic"},
            ),
            "token": ("/token", {"access_token": "good-token", "token_type": "Bearer"}),
        }

    def __call__(self, exchange: Exchange) -> bool:
        path = exchange.target.partition("?")[0]
        if path == "/authorize":
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(exchange.target).query)
            where = f"{Robot.redirect_uri}?code={self.code}&state={query['state'][0]}"
            return exchange.reply(b"", f"Location: {where}", status=302)
        if path == "/mcp":
            if exchange.headers.get("authorization") == "Bearer good-token":
                return exchange.reply(b"{}")
            metadata = self.case.get("challenge") or (
                f"{self.base}/.well-known/oauth-protected-resource"
            )
            said = f'WWW-Authenticate: Bearer resource_metadata="{metadata}"'
            return exchange.reply(b"{}", said, status=401)
        for part, (start, document) in self._parts().items():
            if path.startswith(start):
                return self._told(exchange, part, document)
        return exchange.reply(b"{}", status=404)

    def _told(self, exchange: Exchange, part: str, document: dict[str, Any]) -> bool:
        mode = self.case.get("mode", {}).get(part)
        if mode == "elsewhere":
            return exchange.reply(b"", f"Location: {self.other}{exchange.target}", status=307)
        if mode == "endless":
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            exchange.send(b"Transfer-Encoding: chunked\r\n\r\n")
            while not exchange.server.stopping.is_set():
                exchange.send(b"4000\r\n" + b" " * 0x4000 + b"\r\n")
            return False
        status = self.case.get("status", {}).get(part, 200)
        if (raw := self.case.get("raw", {}).get(part)) is not None:
            return exchange.reply(self._filled([raw])[0].encode(), status=status, kind="text/html")
        said = document | self._filled(self.case.get(part, {}))
        return exchange.reply(json.dumps(said).encode(), status=status)


def tried(case: dict[str, Any]) -> tuple[str, list[bytes]]:
    """Log in in a world; return what the person reads, and what the other server heard."""
    heard: list[bytes] = []

    def listen(exchange: Exchange) -> bool:
        heard.append(exchange.raw)
        return exchange.reply(b"{}")

    with Loopback(listen) as other, Loopback(world := World(case, other.url("").rstrip("/"))) as at:
        world.base = at.url("").rstrip("/")
        redirect = {k: world._filled([v])[0] for k, v in case.get("redirect", {}).items()}
        try:
            return logged_in(f"{world.base}/mcp", Robot(**redirect)).access_token, heard
        except VespeError as error:
            return f"{error} ({error.hint})", heard


def test_the_honest_twin_logs_in() -> None:
    assert tried({}) == ("good-token", [])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["tries"][:60])
def test_p81_what_lies_gets_no_login_and_is_told_in_a_sentence(
    case: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "mcp"):
        told, heard = tried(case)
    assert case["says"] in told
    secret = (b"the-code", SECRET.encode(), b"good-token", b"code_verifier")
    assert not [part for part in secret for raw in heard if part in raw]
    assert not [part for part in secret if part.decode() in told + caplog.text]


@pytest.mark.parametrize(
    ("supported", "sent"),
    [
        (None, "basic"),
        (["client_secret_post", "client_secret_basic"], "basic"),
        (["client_secret_post"], "post"),
        (["private_key_jwt"], ""),
    ],
)
def test_a_client_that_was_given_proves_itself_as_the_metadata_says(
    supported: list[str] | None, sent: str
) -> None:
    asked: list[Exchange] = []

    class Noting(World):
        def __call__(self, exchange: Exchange) -> bool:
            asked.append(exchange)
            return super().__call__(exchange)

    said = {} if supported is None else {"token_endpoint_auth_methods_supported": supported}
    with Loopback(world := Noting({"server": said}, "")) as at:
        world.base = at.url("").rstrip("/")
        given: dict[str, Any] = {"client_id": "mine", "client_secret": SECRET}
        if not sent:
            with pytest.raises(Refused, match="by private_key_jwt alone"):
                logged_in(f"{world.base}/mcp", **given)
            assert not any(SECRET.encode() in one.raw for one in asked)
            return
        grant = logged_in(f"{world.base}/mcp", **given)
    assert grant.client_auth == f"client_secret_{sent}" and not grant.client_secret
    [token] = [one for one in asked if one.target == "/token"]
    assert ("authorization" in token.headers) == (sent == "basic")
    assert (f"client_secret={SECRET}" in token.body.decode()) == (sent == "post")
