"""The settings of the client of MCP servers in the user's configuration: `mcp`, and where these let
a token go.
"""

from typing import Final

from vespe.documents import fields
from vespe.documents.near import choice
from vespe.errors import InvalidDocument, Refused, UsageError
from vespe.http.addresses import is_listed, parse_url
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue
from vespe.projects import user_config

_LOOPBACK: Final = pattern(r"127\.[0-9.]+|::1|localhost")
MCP: Final = ("client_metadata_url",)
"""What `mcp` has."""
_SAID: Final = (
    "must be an https:// URL with a path, where the document about the client is, such as "
    "https://example.com/vespe.json"
)


def client_metadata_url() -> str:
    """Return the URL that authorization servers know this client by; "" for none."""
    said = user_config.load_user_config().document.get("mcp", {})
    return str(said.get("client_metadata_url", ""))


def refuse_unknown(key: str) -> None:
    """Raise UsageError for a dotted key that is no setting."""
    _, _, rest = key.partition(".")
    if rest and rest not in MCP:
        raise UsageError(f"there is no setting {key!r}", hint=choice(rest.partition(".")[0], MCP))


def refuse_unusable(key: str, value: JsonValue) -> None:
    """Raise UsageError for a value that a setting cannot have."""
    if key == "mcp.client_metadata_url" and not _is_url(value):
        raise UsageError(f"{key} {_SAID}")


def check(key: str, value: JsonObject, path: str) -> None:
    """Check the object under `mcp`; raises InvalidDocument with the pointer."""
    url = value.get("client_metadata_url")
    if url is None:
        return
    pointer = "/mcp/client_metadata_url"
    if not isinstance(url, str):
        raise fields.wrong_type("a string", url, path=path, pointer=pointer)
    if not _is_url(url):
        raise InvalidDocument(_SAID, path=path, pointer=pointer)


def check_encrypted(url: str, allow_hosts: tuple[str, ...]) -> None:
    """Raise Refused for a URL where others could read a token or a code on the way: one without
    https that leads neither to this machine nor to a host that the user allows.
    """
    parsed = parse_url(url)
    if parsed.scheme == "https" or _LOOPBACK.fullmatch(parsed.host):
        return
    if not is_listed(parsed.host, parsed.port, allow_hosts):
        raise Refused(
            f"{parsed.scheme}://{parsed.authority} is refused: without https, others "
            "could read the token",
            hint="only you can allow it: "
            f"`vespe config set allow_hosts '[\"{parsed.authority}\"]'`",
        )


def _is_url(value: JsonValue) -> bool:
    if not isinstance(value, str):
        return False
    try:
        url = parse_url(value)
    except Refused:
        return False
    return url.scheme == "https" and url.target != "/"
