"""Security schemes as declared secrets: the names of environment variables, and where each value is
sent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from vespe.features.imports.openapi.documents import At, Documents, Unresolved
from vespe.features.imports.openapi.names import secret_name
from vespe.models import JsonObject

_PLACES: Final = {"header": "headers", "query": "query", "cookie": "cookies"}


@dataclass(slots=True, kw_only=True)
class Credentials:
    """What one operation sends of secrets: `args` of an http_request, and the names of the secrets,
    each with what it is.
    """

    args: dict[str, JsonObject] = field(default_factory=dict)
    auth: JsonObject = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Security:
    """The schemes of one description."""

    def __init__(self, documents: Documents, kit_id: str) -> None:
        self._documents, self._kit_id = documents, kit_id
        root = documents.root
        schemes = root.get("components").get("securitySchemes")
        self._schemes = (
            schemes if isinstance(schemes.value, dict) else root.get("securityDefinitions")
        )

    def of(self, operation: At) -> Credentials:
        """Return the credentials of an operation: of the alternatives the first that can be sent;
        none where it may go without.
        """
        said = operation.get("security")
        required = said if isinstance(said.value, list) else self._documents.root.get("security")
        alternatives = [one for _, one in required.items() if isinstance(one.value, dict)]
        if not alternatives:
            return Credentials()
        if any(not one.value for one in alternatives):
            others = ", ".join(dict.fromkeys(name for one in alternatives for name in one.value))
            return Credentials(
                notes=[
                    "it can be called without credentials, so none are sent; it also accepts "
                    f"{others}"
                ]
                if others
                else []
            )
        found = [self._alternative(one) for one in alternatives]
        best = next((one for one in found if not one.notes), None)
        return best if best is not None else found[0]

    def _alternative(self, alternative: At) -> Credentials:
        made = Credentials()
        for name in alternative.value:
            try:
                scheme = self._documents.follow(self._schemes.get(name))
            except Unresolved as error:
                made.notes.append(f"its security scheme {name} cannot be read: {error}")
                continue
            if isinstance(scheme.value, dict):
                self._add(name, scheme, made)
            else:
                made.notes.append(f"its security scheme {name} is not described")
        return made

    def _add(self, name: str, scheme: At, made: Credentials) -> None:
        kind, http = scheme.text("type").lower(), scheme.text("scheme").lower()
        if kind == "apikey":
            self._api_key(name, scheme, made)
        elif kind == "basic" or (kind == "http" and http == "basic"):
            user, password = (
                self._secret(made, name, word, about=f"the {word} of {name}")
                for word in ("username", "password")
            )
            made.auth = {"type": "basic", "username": user, "password": password}
        elif kind in ("oauth2", "openidconnect") or (kind == "http" and http == "bearer"):
            about = (
                "a bearer token"
                if kind == "http"
                else f"an access token of {scheme.text('type')}, which you obtain yourself"
            )
            made.auth = {"type": "bearer", "token": self._secret(made, name, about=about)}
        elif kind == "http" and http not in (
            "digest",
            "negotiate",
            "mutual",
            "hoba",
            "scram-sha-1",
            "scram-sha-256",
        ):
            made.args.setdefault("headers", {})["Authorization"] = self._secret(
                made, name, about=f"the whole header, by the scheme {http}"
            )
        else:
            said = f"{scheme.text('type') or 'of no type'} {http}".strip()
            made.notes.append(f"its security scheme {name} is {said}, which Vespe does not support")

    def _api_key(self, name: str, scheme: At, made: Credentials) -> None:
        place, key = _PLACES.get(scheme.text("in").lower()), scheme.text("name")
        if place is None or not key:
            made.notes.append(f"its security scheme {name} does not say where the key is sent")
            return
        about = f"sent in the {scheme.text('in').lower()} as {key}"
        made.args.setdefault(place, {})[key] = self._secret(made, name, about=about)

    def _secret(self, made: Credentials, *words: str, about: str) -> str:
        variable = secret_name(self._kit_id, *words)
        made.secrets[variable] = about
        return f"${{env:{variable}}}"

    def as_secret(self, made: Credentials, name: str) -> str:
        """Declare a secret for a parameter that is one: the one that is sent as the token already,
        where there is one.
        """
        token = made.auth.get("token")
        return (
            token
            if isinstance(token, str)
            else self._secret(made, name, about=f"the parameter {name}")
        )


def listed(found: dict[str, str]) -> Iterator[str]:
    """Return a line for each secret."""
    yield from (f"{name}: {about}" for name, about in sorted(found.items()))
