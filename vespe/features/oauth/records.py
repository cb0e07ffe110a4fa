"""What is kept of a login to the MCP server of a kit.

The record (`logins/KIT-DIGEST/login.json` in the user's configuration directory) says who is logged
in where, and holds no secret. The grant holds the tokens, as one document in the store of secrets,
so that one write replaces all of it: whatever is killed, the old tokens are there or the new ones.
Both name the kit and the URL of the server. A grant that was copied elsewhere is not used there.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any, Final

from vespe import defaults, errors
from vespe.documents import strict_json
from vespe.features.secrets import stores
from vespe.features.secrets.references import problem, shown
from vespe.features.secrets.sources import SecretRequest, fetch
from vespe.files import atomic, locations
from vespe.models import JsonObject
from vespe.records import dataclass, json_of

_FILE: Final = "login.json"
_VERSION: Final = 1
MAX_PORT: Final = 65535
_LOCK_S: Final = 90.0
"""Longer than a refresh of another process may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """The tokens of a login, and all that a refresh needs: nothing is looked up anew for it, and
    the refresh token goes to the endpoint that gave it.

    `client_secret` is one that the issuer gave at a registration; `resource` is "" where the login
    named none. From `fresh_until` on (in seconds since the epoch) the access token is refreshed
    before it is used; None where the issuer did not say how long it lasts.
    """

    kit_id: str
    url: str
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str = ""
    resource: str = ""
    client_id: str
    client_secret: str = field(default="", repr=False)
    client_auth: str = "none"
    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    scope: str = ""
    fresh_until: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login: the issuer, the scopes that it gave, and the client that asked.

    `client` says how the client is known: `given` by `--client-id`, `metadata` (by the URL of a
    document) or `registered`. `secret_name` is the secret of a client that was given, `host` and
    `port` are those of its redirect, "" and 0 where none was asked for. `kept` refers to the grant.
    `ended` says why a person has to log in again. `stamp` changes with the file.
    """

    kit_id: str
    url: str
    issuer: str
    scope: str = ""
    client: str
    client_id: str
    secret_name: str = ""
    host: str = ""
    port: int = 0
    logged_in_at: str
    kept: JsonObject = field(default_factory=dict)
    ended: str = ""
    stamp: tuple[int, int] = (0, 0)

    @property
    def directory(self) -> str:
        """The directory of the record, whose lock is the lock of the tokens."""
        return os.path.join(_root(), _name(self.kit_id, self.url))

    @property
    def place(self) -> str:
        """Where the tokens are, in a few words."""
        return shown(self.kept)


_GRANT: Final = (
    *("kit_id", "url", "issuer", "authorization_endpoint", "token_endpoint"),
    *("revocation_endpoint", "resource", "client_id", "client_secret", "client_auth"),
    *("access_token", "refresh_token", "scope", "fresh_until"),
)
_KEPT: Final = (
    *("kit_id", "url", "issuer", "scope", "client", "client_id", "secret_name", "host"),
    *("port", "logged_in_at", "kept", "ended"),
)
_OTHERS: Final[dict[str, tuple[type, ...]]] = {
    "fresh_until": (int, float, type(None)),
    "port": (int,),
    "kept": (dict,),
}
"""The types of values that are no strings."""


def find(kit_id: str, url: str) -> Login | None:
    """Return the login of a kit to the server at `url`; None where there is none."""
    return _read(_name(kit_id, url), kit_id=kit_id, url=url)


def every() -> list[Login]:
    """Return all logins of this user, by their kits; those that cannot be read are left out."""
    try:
        names = sorted(os.listdir(_root()))
    except OSError:
        return []
    return [login for name in names if (login := _read(name)) is not None]


def unreadable() -> list[str]:
    """Return the files that should be records of logins and cannot be read as such."""
    try:
        names = sorted(os.listdir(_root()))
    except OSError:
        return []
    paths = [(name, os.path.join(_root(), name, _FILE)) for name in names]
    return [path for name, path in paths if os.path.lexists(path) and _read(name) is None]


def of_kit(kit_id: str) -> list[Login]:
    """Return the logins of a kit: one for each URL that its server had."""
    return [login for login in every() if login.kit_id == kit_id]


@contextlib.contextmanager
def locked(kit_id: str, url: str) -> Iterator[None]:
    """Hold the lock of a login, made where there is none yet: one process at a time changes its
    tokens.
    """
    directory = os.path.join(_root(), _name(kit_id, url))
    atomic.private_directory(directory)
    with atomic.locked(directory, timeout_s=_LOCK_S):
        yield


def grant_of(login: Login) -> TokenGrant:
    """Fetch the tokens of a login. Raises SecretUnavailable where their store gives nothing, and
    LoginRequired where what it gives is no grant of this login.
    """
    asked = SecretRequest(
        name=_secret_of(login.kit_id, login.url), reference=login.kept, environment=os.environ
    )
    try:
        document = strict_json.parse_object(fetch(asked).encode("utf-8", "replace"))
        grant = TokenGrant(**_typed(document, _GRANT))
    except errors.SecretUnavailable as error:
        again, hint = f"`vespe mcp login {login.kit_id}` logs in again", error.hint
        # Nobody sets the tokens by hand.
        hint = again if "secret set" in hint or "config set" in hint else f"{hint}; or {again}"
        raise errors.SecretUnavailable(
            f"of the login to {login.kit_id}",
            store=error.store,
            place=error.place,
            why=error.why,
            hint=hint,
        ) from None
    except (errors.InvalidDocument, TypeError):
        raise errors.LoginRequired(
            login.kit_id, why=f"requires a login: the content of {login.place} is not a login"
        ) from None
    if (grant.kit_id, grant.url, grant.issuer) != (login.kit_id, login.url, login.issuer):
        raise errors.LoginRequired(
            login.kit_id,
            why=f"requires a login: the one in {login.place} belongs to another server",
        )
    return grant


def keep(login: Login, grant: TokenGrant, *, store: str = "") -> Login:
    """Write the tokens, then the record. The caller holds the lock. Without `store` they go where
    they are; raises StorageError, and as `stores.put` does.
    """
    text = strict_json.compact_json(json_of(grant, *_GRANT))
    made = stores.put(
        _secret_of(login.kit_id, login.url),
        text,
        store or ("keyring" if str(login.kept.get("ref")).startswith("keyring:") else "file"),
        environment=os.environ,
    )
    kept = made if isinstance(made, dict) else {}
    if login.kept and login.kept != kept:
        stores.let_go(_secret_of(login.kit_id, login.url), login.kept, os.environ)
    return note(replace(login, kept=kept, scope=grant.scope))


def note(login: Login) -> Login:
    """Write the record alone. Keys that are not known stay."""
    path = os.path.join(login.directory, _FILE)
    known = {**json_of(login, *_KEPT), "version": _VERSION}
    before = _document(path) or {}
    others = {key: value for key, value in before.items() if key not in known}
    atomic.sweep_beside(path)
    atomic.write_atomic(path, strict_json.dump_json({**others, **known}), mode=0o600)
    return login


def forget(login: Login) -> bool:
    """Remove the tokens, then the record. The caller holds the lock. Returns whether the tokens are
    gone: a keyring that does not answer may keep them.
    """
    gone = stores.let_go(_secret_of(login.kit_id, login.url), login.kept, os.environ)
    path = os.path.join(login.directory, _FILE)
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise errors.StorageError("remove", path, error) from error
    with contextlib.suppress(OSError):
        os.rmdir(login.directory)
    return gone


def _root() -> str:
    return os.path.join(locations.user_config_dir(), "logins")


def _name(kit_id: str, url: str) -> str:
    return f"{kit_id}-{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _secret_of(kit_id: str, url: str) -> str:
    return f"mcp-{_name(kit_id, url)}"


def _read(name: str, *, kit_id: str = "", url: str = "") -> Login | None:
    path = os.path.join(_root(), name, _FILE)
    document = _document(path)
    if document is None:
        return None
    try:
        status = os.stat(path)
        login = Login(**_typed(document, _KEPT), stamp=(status.st_mtime_ns, status.st_ino))
    except (TypeError, OSError):
        return None
    is_its = _name(login.kit_id, login.url) == name and (not kit_id or login.kit_id == kit_id)
    is_usable = is_its and (not url or login.url == url) and problem(login.kept) is None
    # The next login sends its code where the record says: nowhere but to this machine.
    is_redirect = login.host in ("", *defaults.REDIRECT_HOSTS) and 0 <= login.port <= MAX_PORT
    return login if is_usable and is_redirect else None


def _typed(document: JsonObject, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the values of these keys; raises TypeError for one of another type."""
    found = {key: document[key] for key in names if key in document}
    for key, value in found.items():
        if isinstance(value, bool) or not isinstance(value, _OTHERS.get(key, (str,))):
            raise TypeError(key)
    return found


def _document(path: str) -> JsonObject | None:
    try:
        document = strict_json.read_object_if_there(path)
    except (errors.InvalidDocument, errors.StorageError):
        return None
    return document or None
