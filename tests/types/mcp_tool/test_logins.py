"""What the answer of a server that refuses access asks for."""

import pytest

from vespe.errors import LoginRequired
from vespe.types.mcp_tool import logins
from vespe.types.mcp_tool.exchange import AccessRefused


def refused(status: int, challenge: str) -> AccessRefused:
    error = AccessRefused("refused", hint="as before")
    error.status, error.challenge = status, challenge
    return error


@pytest.mark.parametrize(
    ("status", "challenge", "token", "why"),
    [
        (401, "Bearer", "", "requires a login"),
        (401, 'bearer realm="x"', "", "requires a login"),
        (401, "", "old", "rejects the token of its login"),
        (403, 'Bearer error="insufficient_scope", scope="a b"', "t", "requires the scope 'a b'"),
        (403, "Bearer scope=a, error=insufficient_scope", "t", "requires the scope 'a'"),
        (403, 'Bearer error="insufficient_scope"', "t", "requires other scopes"),
        (401, "", "", None),
        (401, "Basic realm=x", "", None),
        (403, "Bearer", "t", None),
    ],
)
def test_a_login_is_named_where_it_would_help(
    status: int, challenge: str, token: str, why: str | None
) -> None:
    error = refused(status, challenge)
    told = logins.explained(error, "notes", token=token)
    if why is None:
        assert told is error
    else:
        assert isinstance(told, LoginRequired) and told.why.startswith(why)


def test_scopes_that_are_none_are_not_asked_for() -> None:
    for scope in ("a`reboot`", "; rm -rf", "$(x)", "a b"):
        told = logins.explained(
            refused(403, f'Bearer error="insufficient_scope", scope="{scope}"'), "notes", token="t"
        )
        command = told.hint.split("` ")[0]
        assert "--scope" not in command or f"--scope '{scope}'" in command
    assert logins.scope_of('Bearer scope="' + "a" * 2000 + '"') == ""
    assert logins.scope_of('Bearer scope="a\\b"') == "" == logins.scope_of("Bearer noscope=a")


def test_a_server_with_credentials_of_its_own_takes_no_login() -> None:
    assert logins.takes_login("https://example.com/mcp", {"X-Team": "a"})
    assert not logins.takes_login("https://example.com/mcp", {"authorization": "Bearer x"})
    assert not logins.takes_login(None, {})
    assert logins.with_token({"X": "y"}, "t") == {"X": "y", "Authorization": "Bearer t"}
