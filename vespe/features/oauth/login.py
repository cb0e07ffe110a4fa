"""Logging in and out: which client asks, where the tokens go, and what is said of it."""

import base64
import datetime
import os
import threading
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from vespe.calls.secrets import SecretValues
from vespe.cli import options, report
from vespe.errors import (
    LoginRequired,
    MissingExtra,
    MissingSecret,
    Refused,
    UsageError,
    VespeError,
)
from vespe.features.oauth import records, settings
from vespe.features.oauth.records import Login, TokenGrant
from vespe.features.secrets import stores
from vespe.http import client
from vespe.lazy import urls
from vespe.projects import user_config
from vespe.records import dataclass

_REVOKE_S: Final = 10.0
_REVOKE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginChoices:
    """What the user said of a login: the client that they registered (`client_id`, the name of its
    secret), the `host` and `port` of the redirect, further scopes to ask for (`scope`), and whether
    a browser is opened. What is left out is as at the login before.
    """

    client_id: str = ""
    secret_name: str = ""
    host: str = ""
    port: int = 0
    scope: str = ""
    no_browser: bool = False
    yes: bool = False
    patience_s: float = field(default=600.0)

    def check(self) -> None:
        """Raise UsageError for what does not go together."""
        if self.secret_name and not self.client_id:
            raise UsageError("--client-secret needs --client-id, the client that it belongs to")
        if not 0 <= self.port <= records.MAX_PORT:
            raise UsageError(f"--port is a number from 1 to {records.MAX_PORT}")


def log_in(kit_id: str, url: str, choices: LoginChoices) -> Login:
    """Log a person in to the server of a kit, and keep the tokens. Raises LoginRequired where
    nobody is there, and as `sdk.logged_in` does.
    """
    before = records.find(kit_id, url)
    if not options.interactive():
        raise LoginRequired(kit_id, why="requires a login, but there is no terminal to log in from")
    choices.check()
    sdk, person = _parts()
    choices = _as_before(choices, before)
    user, cancel = user_config.load_user_config(), threading.Event()
    wanted = sdk.Wanted(
        kit_id=kit_id,
        url=url,
        scope=_scope(choices, before),
        client_id=choices.client_id,
        client_secret=_secret(choices, user),
        issuer=before.issuer if before and before.client == "given" else "",
        metadata_url="" if choices.client_id else settings.client_metadata_url(),
        allow_hosts=user.allow_hosts,
    )
    browser = person.Browser(
        host=choices.host,
        port=choices.port,
        opens=not choices.no_browser and person.can_open_browser(),
        yes=choices.yes,
        cancel=cancel,
        patience_s=choices.patience_s,
    )
    with browser:
        grant = sdk.logged_in(wanted, browser, cancel=cancel)
    return _kept(made_of(grant, wanted, choices, before), grant)


def log_out(login: Login) -> bool:
    """Remove the tokens of a login, and tell the issuer that they are void. Returns whether all is
    gone; what is not is said.
    """
    with records.locked(login.kit_id, login.url):
        try:
            grant: TokenGrant | None = records.grant_of(login)
        except VespeError:
            grant = None
        if grant is not None:
            _revoke(login, grant)
        return records.forget(login)


def said_of(login: Login) -> str:
    """Say in one sentence where a login is kept."""
    return f"logged in to {login.kit_id} at {login.issuer}; the tokens are in {login.place}"


def _parts() -> tuple[Any, Any]:
    try:
        from vespe.features.oauth import person, sdk
    except ImportError as error:
        raise MissingExtra(
            "logging in to an MCP server", extra="mcp", module=error.name or "mcp"
        ) from None
    return sdk, person


def _as_before(choices: LoginChoices, before: Login | None) -> LoginChoices:
    """Return the choices, with those of the login before for what was left out."""
    if before is None:
        return choices
    is_given = before.client == "given" and not choices.client_id
    return replace(
        choices,
        client_id=before.client_id if is_given else choices.client_id,
        secret_name=before.secret_name if is_given else choices.secret_name,
        host=choices.host or before.host,
        port=choices.port or before.port,
    )


def _scope(choices: LoginChoices, before: Login | None) -> str:
    """Return what is asked for by name: beside what the login before gave, which would be lost."""
    if not choices.scope:
        return ""
    known = before.scope.split() if before else []
    return " ".join(dict.fromkeys((*known, *choices.scope.split())))


def _secret(choices: LoginChoices, user: user_config.UserConfig) -> str:
    if not choices.secret_name:
        return ""
    values = SecretValues(environment=os.environ, configured=user.secrets)
    if value := values.find((choices.secret_name,)):
        return value
    raise MissingSecret(choices.secret_name, tool="vespe mcp login", names=(choices.secret_name,))


def made_of(grant: TokenGrant, wanted: Any, choices: LoginChoices, before: Login | None) -> Login:
    """Return the record of a login that was made."""
    client_kind = "registered"
    if choices.client_id:
        client_kind = "given"
    elif grant.client_id == wanted.metadata_url:
        client_kind = "metadata"
    return Login(
        kit_id=grant.kit_id,
        url=grant.url,
        issuer=grant.issuer,
        scope=grant.scope,
        client=client_kind,
        client_id=grant.client_id,
        secret_name=choices.secret_name,
        host=choices.host,
        port=choices.port,
        logged_in_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        kept=before.kept if before else {},
    )


def _kept(login: Login, grant: TokenGrant) -> Login:
    """Keep a login: in the keyring where this machine has one, else in a private file, which is
    said.
    """
    store = stores.default_store(os.environ)
    if store == "file":
        report.note(
            "this machine has no keyring, so the tokens are stored in a file that only you can read"
        )
    with records.locked(login.kit_id, login.url):
        return records.keep(login, grant, store=store)


def _revoke(login: Login, grant: TokenGrant) -> None:
    """Tell the issuer that the tokens are void (RFC 7009); where that fails, say so."""
    if not grant.revocation_endpoint:
        return report.note(
            f"{login.issuer} cannot revoke tokens: the tokens that were removed here stay "
            "valid until they expire"
        )
    from vespe.features.oauth import tokens

    allow_hosts = user_config.load_user_config().allow_hosts
    try:
        settings.check_encrypted(grant.revocation_endpoint, allow_hosts)
        secret = tokens.client_secret(login, grant)
    except Refused as error:
        return report.warn(f"{login.issuer} has not revoked the tokens: {error}")
    for token in filter(None, (grant.refresh_token, grant.access_token)):
        if said := _revoked(grant, token, secret, allow_hosts):
            return report.warn(f"{login.issuer} may not have revoked the tokens: {said}")
    return None


def _revoked(grant: TokenGrant, token: str, secret: str, allow_hosts: tuple[str, ...]) -> str:
    """Revoke one token; return what went wrong, "" for nothing."""
    headers: Mapping[str, str] = {"content-type": "application/x-www-form-urlencoded"}
    form = {"token": token, "client_id": grant.client_id}
    if grant.client_auth == "client_secret_basic":
        pair = ":".join(urls.quote(part, safe="") for part in (grant.client_id, secret))
        headers = {
            **headers,
            "authorization": f"Basic {base64.b64encode(pair.encode()).decode('ascii')}",
        }
    elif secret:
        form["client_secret"] = secret
    request = client.Request(
        method="POST",
        url=grant.revocation_endpoint,
        headers=tuple(headers.items()),
        body=urls.urlencode(form).encode(),
    )
    try:
        answer = client.exchange(
            request, timeout_s=_REVOKE_S, max_bytes=_REVOKE_BYTES, allow_hosts=allow_hosts
        )
    except VespeError as error:
        return str(error)
    return "" if answer.status == 200 else f"HTTP status {answer.status}"
