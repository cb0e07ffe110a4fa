"""What lint says of an http_request: who reads it on its way, and what it has and does not use."""

import re
from collections.abc import Iterator
from typing import Final

from vespe.models import JsonObject, JsonValue
from vespe.schemas.explain import short
from vespe.tool_types import Remark
from vespe.tools import templates

_LOCAL: Final = re.compile(
    r"http://(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?:[:/?#]|$)", re.IGNORECASE
)


def remarks(details: JsonObject, secrets: JsonValue) -> Iterator[Remark]:
    """Return all that is to be said of `implementation_details` and the declared secrets."""
    path = details.get("path")
    if isinstance(path, str) and path.lower().startswith("http://") and not _LOCAL.match(path):
        yield Remark(
            "safety-plain-http",
            "/implementation_details/path",
            "the request uses plain HTTP, so others on the network can read and change it, "
            "including its secrets",
            "write https://",
        )
    args = details.get("args")
    used = {
        name
        for text in _texts(args if isinstance(args, dict) else {})
        for name in templates.parse(text, ()).secrets
    }
    for index, item in enumerate(secrets) if isinstance(secrets, list) else ():
        name = item.get("name") if isinstance(item, dict) else item
        if isinstance(name, str) and name not in used:
            yield Remark(
                "safety-unused-secret",
                f"/secrets/{index}",
                f"the secret {short(name)} is declared, but the request does not use it",
                f"remove it, or write ${{env:{name}}} where it belongs",
            )


def destroys(details: JsonObject) -> str | None:
    """Return that it deletes, where its method says so."""
    return "delete" if str(details.get("entrypoint", "")).upper() == "DELETE" else None


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
