"""The settings of the client of MCP servers in the user's configuration: `mcp`."""

from typing import Final

from vespe.documents import fields
from vespe.documents.near import choice
from vespe.errors import InvalidDocument, Refused, UsageError
from vespe.http.addresses import parse_url
from vespe.models import JsonObject, JsonValue
from vespe.projects import user_config

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


def _is_url(value: JsonValue) -> bool:
    if not isinstance(value, str):
        return False
    try:
        url = parse_url(value)
    except Refused:
        return False
    return url.scheme == "https" and url.target != "/"
