"""Whose account a provider uses: what the caller, the user's configuration and the environment say
of its endpoint and key.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final

from vespe.calls.secrets import SecretValues
from vespe.errors import MissingKey, Refused
from vespe.features.agents import provider_settings
from vespe.features.agents.provider_settings import ProviderSettings
from vespe.features.agents.providers.endpoint import Destination
from vespe.http.addresses import Url
from vespe.projects import user_config
from vespe.records import dataclass

_SENSITIVE: Final = re.compile(r"(?i)auth|key|token|secret|cookie|password|credential|session|sig")
_KEYED: Final = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_SHORTEST_KEY: Final = 8
"""What is shorter stands in for a key that nobody wants (`ollama`, `EMPTY`), and in many a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What is known of a provider before its first request: `default_url` is its vendor's own
    endpoint, `variable` the usual one for a key.

    `key_needed` tells that the vendor's own endpoint answers nobody without a key; another endpoint
    may. `if_away` says what to do where the endpoint does not answer.
    """

    provider: str
    settings: ProviderSettings = field(default_factory=ProviderSettings)
    default_url: str = ""
    variable: str = ""
    key_needed: bool = True
    if_away: str = "check its URL, and that it is running"

    def of_the_user(self, name: str) -> "Account":
        """Return the account at an endpoint that the user named: nothing of the vendor's holds
        there.
        """
        return Account(provider=name, key_needed=False)

    def url(self) -> Url:
        """Return the endpoint's base URL; raises Refused for one that no key is sent to."""
        return provider_settings.endpoint_url(self.settings.base_url or self.default_url)

    def key(self) -> str:
        """Return the key, "" where none is needed; raises MissingKey, and Refused for a text that
        is none, which is never quoted.
        """
        variable = self.settings.api_key_env or self.variable
        kept = self._fetched() if self.is_fetched else str(self.settings.api_key).strip()
        key = kept or os.environ.get(variable, "").strip()
        self._check_key(key, "" if kept else f" in the environment variable {variable}")
        own = str(self.url()).rstrip("/") == self.default_url.rstrip("/")
        asked = bool(self.settings.api_key_env) or (own and self.key_needed)
        if not key and asked and not any(name.lower() in _KEYED for name in self.settings.headers):
            raise MissingKey(self.provider, variable=variable, empty=variable in os.environ)
        return key

    @property
    def is_fetched(self) -> bool:
        """Whether the user's configuration refers to the key."""
        return isinstance(self.settings.api_key, dict)

    def renewed_key(self, refused: str) -> str:
        """Return the key once more where the endpoint refused that one: a reference is fetched
        again. Raises as `key` does.
        """
        key = self._values.renew((self._setting,), refused=refused).strip()
        self._check_key(key)
        return key

    def _fetched(self) -> str:
        return self._values.find((self._setting,)).strip()

    @property
    def _setting(self) -> str:
        return f"providers.{self.provider}.api_key"

    @property
    def _values(self) -> SecretValues:
        said = self.settings.api_key
        return SecretValues(environment=os.environ, configured={self._setting: said})

    def _check_key(self, key: str, place: str = "") -> None:
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise Refused(
                f"the API key of {self.provider}{place} contains a space, or a character that keys "
                "do not have",
                hint="check that you copied all of it and nothing else",
            )

    def headers(self, own: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of a request: the API's own, and the user's over them."""
        given = {name.lower(): value.strip() for name, value in self.settings.headers.items()}
        return (
            {"content-type": "application/json"}
            | {name.lower(): value for name, value in own.items() if value}
            | given
        )

    def secrets(self, headers: Mapping[str, str], url: Url) -> tuple[str, ...]:
        """Return the texts that no error may hold: the key, and what stands in headers and
        parameters that are named like one.
        """
        query = [pair.partition("=") for pair in url.target.partition("?")[2].split("&")]
        named = [*headers.items(), *((name, value) for name, _, value in query)]
        values = [value for name, value in named if _SENSITIVE.search(name)]
        every = dict.fromkeys([*values, *(value.removeprefix("Bearer ") for value in values)])
        return tuple(value for value in every if len(value) >= _SHORTEST_KEY)


def known(account: Account, **said: str | Mapping[str, str] | None) -> Account:
    """Return the account with what the user's configuration says of it, and over that what the
    caller does; None and "" say nothing.
    """
    user = user_config.load_user_config()
    settings = provider_settings.read_settings(
        account.provider, user.providers.get(account.provider, {}), path=user.path
    )
    given = {name: value for name, value in said.items() if value}
    checked = provider_settings.read_settings(account.provider, given)
    settings = replace(settings, **{name: getattr(checked, name) for name in given})
    return replace(account, settings=settings)


def destination(
    account: Account,
    own: Mapping[str, str],
    *,
    bearer: bool,
    at: Callable[[Url], Url],
    key_header: str = "x-api-key",
) -> Destination:
    """Return where an account's requests go: `own` are the API's headers, `at` makes the request's
    URL of the base URL.

    The key is a bearer token, or else stands in the `key_header`. Raises MissingKey, Refused, and
    SecretUnavailable where the key is referred to and cannot be had.
    """
    url = at(account.url())

    def with_key(key: str, former: tuple[str, ...] = ()) -> Destination:
        keyed = {"authorization": f"Bearer {key}"} if bearer else {key_header: key}
        headers = account.headers(dict(own) | (keyed if key else {}))
        secrets = (*account.secrets(headers, url), *former)

        def renewed() -> Destination | None:
            again = account.renewed_key(key)
            return None if again == key else with_key(again, secrets)

        return Destination(
            who=account.provider,
            url=url,
            headers=headers,
            secrets=secrets,
            if_away=account.if_away,
            renewed=renewed if account.is_fetched else None,
        )

    return with_key(account.key())
