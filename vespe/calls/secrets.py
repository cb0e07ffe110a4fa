"""Under which names a tool's secret is looked up, a kit's own name for it first and never another
kit's; its value, fetched where the user's configuration has a reference; and how it is taken out
again.
"""

import os
import threading
from collections.abc import Collection, Mapping
from typing import Any, Final

from vespe import features
from vespe.errors import Refused
from vespe.models import JsonObject, JsonValue
from vespe.projects.user_config import UserConfig, provider_keys
from vespe.records import dataclass

TOKEN: Final = "MCP_TOKEN"
"""The secret that stands in for a kit's login to its MCP server, in its form for that kit alone."""
_OWN: Final = "VESPE_"
_APART: Final = "__"


def names_of_secret(name: str, *, kit_id: str | None) -> tuple[str, ...]:
    """Return the variables that may hold the secret `name`, the first that is set counts.

    For a tool of a kit that is `VESPE_<KIT>__NAME`, then NAME itself; for the project's own tools
    NAME alone. A name that begins with `VESPE_` and holds `__` is some kit's own, and is never
    looked up as it stands. A name with `__`, or `_` in front, has no kit's own form: two kits and
    two names could share it.
    """
    found = (
        [scoped_name(name, kit_id)]
        if kit_id is not None and _APART not in name and not name.startswith("_")
        else []
    )
    return (*found, *(() if name.upper().startswith(_OWN) and _APART in name else (name,)))


def access_token(
    values: "SecretValues", kit_id: str, url: str, *, refused: str = "", is_own: bool = True
) -> str:
    """Return the access token for the MCP server of a kit at `url`: the kit's own secret MCP_TOKEN,
    else that of its login; "" for none. `refused` is one that the server refused. The secret names
    no URL: where `is_own` is false, `url` is not the server of the kit, and it is not taken.

    Raises Refused where the secret was refused, LoginRequired where a person has to log in, and as
    `find` does.
    """
    name = scoped_name(TOKEN, kit_id)
    if is_own and values.find((name,)):
        token = values.renew((name,), refused=refused) if refused else values.find((name,))
        if token == refused:
            raise Refused(
                f"the MCP server of {kit_id} rejects the token in the secret {name}",
                hint=f"`vespe secret set {name}` stores another one",
            )
        return token
    if not features.is_present("oauth"):
        return ""
    return str(features.load("oauth", "tokens").find(kit_id, url, refused=refused))


def scoped_name(name: str, kit_id: str) -> str:
    """Return the variable in which the secret `name` is one kit's alone."""
    return f"{_OWN}{kit_id.upper()}{_APART}{name}"


def is_kits_own(variable: str, name: str) -> bool:
    """Whether a variable is the form of the secret `name` that is one kit's alone."""
    own, apart, plain = variable.partition(_APART)
    return bool(apart) and own.startswith(_OWN) and plain == name


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretValues:
    """Where the values of secrets are looked up: in an `environment`, then under `secrets` of the
    user's configuration, where each is a value or a reference.

    In the place of those may stand other settings that refer to secrets, by their whole names
    (`providers.NAME.api_key`).
    """

    environment: Mapping[str, str]
    configured: Mapping[str, str | JsonObject]

    def find(self, names: Collection[str], *, cancel: threading.Event | None = None) -> str:
        """Return the value under the first of these names that has one, "" for none. Only a
        reference that is come to is fetched.

        Raises SecretUnavailable where a reference leads to no value, MissingFeature, and
        Interrupted where `cancel` was set meanwhile.
        """
        name, said = self._said(names)
        if isinstance(said, str):
            return said
        return str(_kept().value_of(self._asked(name, said, cancel)))

    def known(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the values under the first of these names, as far as they are known: nothing is
        fetched. These are what has to be struck out.
        """
        name, said = self._said(names)
        if isinstance(said, str):
            return (said,) if said else ()
        if not features.is_present("secrets"):
            return ()
        found: tuple[str, ...] = _kept().known(self._asked(name, said))
        return found

    def renew(self, names: Collection[str], *, refused: str) -> str:
        """Return the value once more where a server refused the one that it had: a reference is
        fetched again. Raises as `find` does.
        """
        name, said = self._said(names)
        if isinstance(said, str):
            return said
        return str(_kept().renewed(self._asked(name, said), refused=refused))

    def is_reference(self, names: Collection[str]) -> bool:
        """Whether the value under these names has to be fetched."""
        return not isinstance(self._said(names)[1], str)

    def _said(self, names: Collection[str]) -> tuple[str, str | JsonObject]:
        for name in names:
            if said := self.environment.get(name) or self.configured.get(name):
                return name, said
        return "", ""

    def _asked(self, name: str, said: JsonObject, cancel: threading.Event | None = None) -> Any:
        return features.load("secrets", "sources").SecretRequest(
            name=name, reference=said, environment=self.environment, cancel=cancel
        )


def _kept() -> Any:
    return features.load("secrets", "kept")


def secret_files(user: UserConfig) -> tuple[str, ...]:
    """Return the files that the user's configuration keeps secrets and keys of providers in, which
    no tool may open.
    """
    sources: list[JsonValue] = [*user.secrets.values(), *provider_keys(user).values()]
    # A token's own client has an id and a secret, which may be kept in files too.
    tokens = [said.get("token") for said in sources if isinstance(said, dict)]
    sources += [source for token in tokens if isinstance(token, dict) for source in token.values()]
    refs = [said.get("ref") for said in sources if isinstance(said, dict)]
    paths = [ref.partition(":")[2] for ref in refs if isinstance(ref, str) and ref[:5] == "file:"]
    whole = (os.path.realpath(os.path.expanduser(path)) for path in paths)
    return tuple(filter(os.path.exists, whole))


def redact(value: JsonValue, secrets: Collection[str]) -> JsonValue:
    """Return `value` with `***` for each secret in it (`redaction.redact`), the same value where
    there is no secret to find.
    """
    if not secrets:
        return value
    from vespe.documents import redaction

    return redaction.redact(value, secrets)
