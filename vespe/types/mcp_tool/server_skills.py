"""The skills of an MCP server in a session with it: list them, and read one file."""

from typing import Any, Final

import mcp_types as types
from mcp import Client
from pydantic import TypeAdapter

from vespe.models import JsonObject

_ID: Final = "io.modelcontextprotocol/skills"
_MAX_PAGES: Final = 50
_MAX_ENTRIES: Final = 1000
_ANY: Final[TypeAdapter[dict[str, Any]]] = TypeAdapter(dict[str, Any])


def are_declared(client: Client) -> bool:
    """Whether the server says that it has skills."""
    said = client.server_capabilities
    return said is not None and _ID in (said.extensions or {})


async def listed(client: Client) -> list[Any]:
    """Return the entries of `skills/list`, as they are; of a list that does not end, the first."""
    found: list[Any] = []
    cursor, seen = None, set[Any]()
    for _ in range(_MAX_PAGES):
        params: JsonObject = {} if cursor is None else {"cursor": cursor}
        request = types.Request[dict[str, Any], str](method="skills/list", params=params)
        page = await client.session.send_request(request, _ANY)
        entries = page.get("skills")
        found += entries if isinstance(entries, list) else []
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or cursor in seen or len(found) >= _MAX_ENTRIES:
            break
        seen.add(cursor)
    return found[:_MAX_ENTRIES]


async def read(client: Client, uri: str) -> JsonObject:
    """Return the result of `resources/read`."""
    result = await client.read_resource(uri)
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)
