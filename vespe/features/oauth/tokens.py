"""The access token of a login, for a call: from memory, from its store, or refreshed.

One process at a time refreshes a login's tokens, and the others take what it wrote: an issuer that
rotates refresh tokens takes one that comes twice for stolen.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from vespe.calls.secrets import SecretValues
from vespe.errors import LoginRequired, ToolExecutionError, VespeError
from vespe.features.oauth import records
from vespe.features.oauth.records import Login, TokenGrant
from vespe.lazy import concurrent_futures
from vespe.projects import user_config

T = TypeVar("T")
_known: Final[dict[tuple[str, str], tuple[tuple[int, int], TokenGrant]]] = {}
"""The grants that this process has read, with the stamps of their records."""


def find(kit_id: str, url: str, *, refused: str = "") -> str:
    """Return the access token of a kit's login to the server at `url`, refreshed where it expired
    or is the one that was `refused`; "" where there is no login.

    Raises LoginRequired where only a person can make another one, SecretUnavailable where the store
    gives nothing, ToolExecutionError where the issuer cannot be asked.
    """
    login = records.find(kit_id, url)
    if login is None:
        _known.pop((kit_id, url), None)
        return ""
    _check_lasting(login)
    grant = _read(login)
    if grant.access_token != refused and _lasts(grant):
        return grant.access_token
    return finished(lambda: _renewed(kit_id, url, refused)) or ""


def finished(work: Callable[[], T]) -> T:
    """Do what must not stop halfway, in a thread that a Ctrl-C does not reach, and that the end of
    this process waits for. Raises what it raises.
    """
    threads = concurrent_futures.ThreadPoolExecutor(1, thread_name_prefix="vespe-login")
    try:
        return threads.submit(work).result()
    finally:
        threads.shutdown(wait=False)


def client_secret(login: Login, grant: TokenGrant) -> str:
    """Return the secret of the client: the issuer's own, or that of the user's store. Raises as
    `SecretValues.find` does.
    """
    if not login.secret_name:
        return grant.client_secret
    user = user_config.load_user_config()
    values = SecretValues(environment=os.environ, configured=user.secrets)
    return values.find((login.secret_name,))


def _renewed(kit_id: str, url: str, refused: str) -> str | None:
    with records.locked(kit_id, url):
        login = records.find(kit_id, url)
        if login is None:
            return None
        _check_lasting(login)
        grant = records.grant_of(login)
        if grant.access_token == refused or not _lasts(grant):
            grant = _refreshed(login, grant)
            login = records.keep(login, grant)
        _remember(login, grant)
        return grant.access_token


def _refreshed(login: Login, grant: TokenGrant) -> TokenGrant:
    """Ask the issuer for other tokens; where it will never give any, the record says so."""
    if not grant.refresh_token:
        raise LoginRequired(login.kit_id, why="requires a login: the last one expired")
    from vespe.features.oauth import sdk

    try:
        return sdk.refreshed(
            grant,
            client_secret(login, grant),
            allow_hosts=user_config.load_user_config().allow_hosts,
        )
    except LoginRequired as error:
        records.note(replace(login, ended=error.why))
        raise
    except ToolExecutionError as error:
        raise _unrefreshed(login, error) from None


def _unrefreshed(login: Login, error: VespeError) -> ToolExecutionError:
    return ToolExecutionError(
        f"the login to {login.kit_id} could not be refreshed: {error}",
        hint=error.hint or "try again later; `vespe mcp status` shows the login",
    )


def _check_lasting(login: Login) -> None:
    if login.ended:
        raise LoginRequired(login.kit_id, why=login.ended)


def _read(login: Login) -> TokenGrant:
    """Return the grant of a login, fetched again where its record changed."""
    stamp, grant = _known.get((login.kit_id, login.url), (None, None))
    if grant is None or stamp != login.stamp:
        grant = records.grant_of(login)
        _remember(login, grant)
    return grant


def _remember(login: Login, grant: TokenGrant) -> None:
    now = records.find(login.kit_id, login.url)
    if now is not None:
        _known[login.kit_id, login.url] = now.stamp, grant


def _lasts(grant: TokenGrant) -> bool:
    return grant.fresh_until is None or time.time() < grant.fresh_until
