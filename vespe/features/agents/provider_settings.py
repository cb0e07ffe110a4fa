"""What the user says of one provider of models: where it answers, the key or where it stands;
checked, and never the project's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import Final

from vespe import features
from vespe.documents.near import choice
from vespe.documents.pointers import escape_pointer
from vespe.errors import InvalidDocument, Refused, UsageError
from vespe.http.addresses import Url, parse_url
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

_VARIABLE: Final = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN: Final = pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LOOPBACK: Final = pattern(r"127\.[0-9.]+|::1|localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """`providers.NAME` of the user's config.json; "" is what is not said.

    `api` says whose wire format an endpoint speaks (one of APIS) that has a name of the user's own.
    `api_key` is a key, or a reference to one as secrets have it; `api_key_env` names the
    environment variable that holds the key; `headers` go with every request; `keep` names fields
    beside OpenAI's own that an endpoint wants back in messages, such as `reasoning_content`.
    """

    api: str = ""
    base_url: str = ""
    api_key_env: str = ""
    api_key: str | JsonObject = field(default="", repr=False)
    organization: str = ""
    model: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    keep: Sequence[str] = ()


APIS: Final = ("openai", "openai-responses", "openresponses", "anthropic", "gemini", "ollama")
"""The wire formats of providers; Open Responses is what others made of OpenAI's Responses."""
KEYS: Final = tuple(item.name for item in fields(ProviderSettings))
"""What can be said of a provider; other keys are kept and mean nothing."""


def read_settings(name: str, value: JsonValue, *, path: str = "") -> ProviderSettings:
    """Return the settings of a provider, types checked; raises InvalidDocument with the pointer.
    What is wrong is never quoted.
    """
    here = f"/providers/{escape_pointer(name)}"
    if not isinstance(value, dict):
        raise InvalidDocument("must be an object", path=path, pointer=here)
    said = {key: value[key] for key in KEYS if key in value}
    headers = said.get("headers", {})
    for key, item in said.items():
        if key == "keep" and not (
            isinstance(item, list) and all(isinstance(name, str) for name in item)
        ):
            raise InvalidDocument("must be an array of strings", path=path, pointer=f"{here}/{key}")
        if key == "api_key" and isinstance(item, dict):
            _check_reference(item, path=path, pointer=f"{here}/{key}")
        elif key not in ("headers", "keep") and not isinstance(item, str):
            raise InvalidDocument("must be a string", path=path, pointer=f"{here}/{key}")
    if not isinstance(headers, dict):
        raise InvalidDocument("must be an object", path=path, pointer=f"{here}/headers")
    for header, item in headers.items():
        if not _TOKEN.fullmatch(header) or not isinstance(item, str) or not _can_be_sent(item):
            pointer = f"{here}/headers/{escape_pointer(header)}"
            raise InvalidDocument(
                "must be a header's name with a printable ASCII string as its value",
                path=path,
                pointer=pointer,
            )
    if not _VARIABLE.fullmatch(said.get("api_key_env", "X")):
        raise InvalidDocument(
            "must be the name of an environment variable", path=path, pointer=f"{here}/api_key_env"
        )
    return ProviderSettings(**said)


def _check_reference(reference: JsonObject, *, path: str, pointer: str) -> None:
    if not features.is_present("secrets"):
        return
    if found := features.load("secrets", "references").problem(reference):
        raise InvalidDocument(found.said, path=path, pointer=f"{pointer}{found.pointer}")


def refuse_unusable(key: str, value: JsonValue) -> None:
    """Refuse what `config set` must not write under a dotted key of `providers`: a name that means
    nothing, a URL that is never used.

    Raises UsageError and Refused.
    """
    parts = key.split(".")
    if len(parts) <= 2 and isinstance(value, dict):
        for name, item in value.items():
            refuse_unusable(f"{key}.{name}", item)
    if len(parts) > 2 and parts[2] not in KEYS:
        raise UsageError(f"a provider has no setting {parts[2]!r}", hint=choice(parts[2], KEYS))
    if len(parts) == 3 and parts[2] == "api" and value not in APIS:
        raise UsageError(f"there is no API {value!r}", hint=choice(str(value), APIS))
    if len(parts) == 3 and parts[2] == "base_url" and isinstance(value, str):
        endpoint_url(value)


def endpoint_url(text: str) -> Url:
    """Take the URL of an endpoint apart; raises Refused for what no key is sent to: http beyond
    this machine, a user in the URL.

    What stands before an `@` may be a password: it is not quoted.
    """
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise Refused(
            "the provider's base_url is refused: it contains a user name or a password",
            hint="set the key as `api_key`, or in `headers`",
        )
    url = parse_url(text)
    if url.scheme != "https" and not is_loopback(url):
        raise Refused(
            f"the provider's base_url is refused: {url.scheme}://{url.authority} is not on this "
            "machine, and without https others could read the requests",
            hint="use https://, or a tunnel that ends on this machine (http://127.0.0.1:PORT)",
        )
    return url


def is_loopback(url: Url) -> bool:
    """Whether a URL's host is, literally, this machine."""
    return _LOOPBACK.fullmatch(url.host) is not None


def _can_be_sent(text: str) -> bool:
    return text.isascii() and text.isprintable()
