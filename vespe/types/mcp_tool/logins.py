"""Whether a request to a server carries the token of a login, and what a server that refuses it
asks for.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from vespe import features
from vespe.errors import LoginRequired, VespeError
from vespe.lazy import pattern, shlex
from vespe.types.mcp_tool.exchange import AccessRefused

if TYPE_CHECKING:
    import re

_SCOPE_FIELD: Final = pattern(r'[\s,]scope\s*=\s*(?:"([^"]*)"|([^\s,"]+))')
_ERROR_FIELD: Final = pattern(r'[\s,]error\s*=\s*(?:"([^"]*)"|([^\s,"]+))')
_SCOPE: Final = pattern(r"[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*")
"""Scopes as RFC 6749 has them (section 3.3): what is anything else is not asked for."""
_MAX_SCOPE: Final = 1000
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403


def takes_login(url: str | None, headers: Mapping[str, str]) -> bool:
    """Whether the server may be logged in to: it listens, and is given no other credentials."""
    return url is not None and "authorization" not in map(str.lower, headers)


def with_token(headers: Mapping[str, str], token: str) -> dict[str, str]:
    """Return the headers of a request that carries a token."""
    return {**headers, "Authorization": f"Bearer {token}"}


def scope_of(challenge: str) -> str:
    """Return the scopes that a `WWW-Authenticate` header asks for; "" for none."""
    scope = _said(challenge, _SCOPE_FIELD)
    return scope if len(scope) <= _MAX_SCOPE and _SCOPE.fullmatch(scope) else ""


def explained(error: AccessRefused, kit_id: str, *, token: str) -> VespeError:
    """Return what to tell where a server refused access: LoginRequired where a login would help,
    else the error itself. `token` is the one that it was given, "" for none.
    """
    if not features.is_present("oauth"):
        return error
    if error.status == _FORBIDDEN and _said(error.challenge, _ERROR_FIELD) == "insufficient_scope":
        if not (scope := scope_of(error.challenge)):
            return LoginRequired(kit_id, why="requires other scopes than its login has")
        return LoginRequired(
            kit_id,
            why=f"requires the scope {scope!r}, which its login does not have",
            command=f"vespe mcp login {kit_id} --scope {shlex.quote(scope)}",
        )
    if error.status != _UNAUTHORIZED:
        return error
    if token:
        return LoginRequired(kit_id, why="rejects the token of its login")
    if error.challenge.lower().startswith("bearer"):
        return LoginRequired(kit_id, why="requires a login")
    return error


def _said(challenge: str, field: "re.Pattern[str]") -> str:
    found = field.search(f" {challenge}")
    return (found[1] or found[2] or "") if found else ""
