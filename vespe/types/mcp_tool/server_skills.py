"""The skills of an MCP server in a session with it: list them, and read one file."""

from typing import Any, Final

import mcp_types as types
from mcp import Client

from vespe.models import JsonObject
from vespe.tools import mcp_skills

_ID: Final = "io.modelcontextprotocol/skills"
_MAX_PAGES: Final = 50
_MAX_ENTRIES: Final = 1000


class _Page(types.Result, extra="allow"):
    """A page of `skills/list`."""


def are_declared(client: Client) -> bool:
    """Whether the server says that it has skills."""
    said = client.server_capabilities
    return said is not None and _ID in (said.extensions or {})


async def listed(client: Client) -> tuple[list[Any], bool]:
    """Return the entries of `skills/list`, as they are, and whether these are all; of a list that
    does not end, the first.
    """
    found: list[Any] = []
    cursor, seen = None, set[Any]()
    for _ in range(_MAX_PAGES):
        params: JsonObject = {} if cursor is None else {"cursor": cursor}
        request = types.Request[dict[str, Any], str](method="skills/list", params=params)
        page = (await client.session.send_request(request, _Page)).model_extra or {}
        entries = page.get("skills")
        found += entries if isinstance(entries, list) else []
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or cursor in seen:
            return found[:_MAX_ENTRIES], len(found) <= _MAX_ENTRIES
        if len(found) >= _MAX_ENTRIES:
            break
        seen.add(cursor)
    return found[:_MAX_ENTRIES], False


async def read(client: Client, request: JsonObject) -> JsonObject:
    """Return the result of `resources/read` for the `uri` of a request. Where that is not the
    SKILL.md, this (`main`) is read first: a skill that is not what was approved gives no file.

    Raises Refused.
    """
    if main := request.get("main"):
        data = mcp_skills.content_of(await _read(client, main["uri"]), main["uri"])
        mcp_skills.check(data, main, frontmatter=main["frontmatter"])
    return await _read(client, request["uri"])


async def _read(client: Client, uri: str) -> JsonObject:
    result = await client.read_resource(uri)
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)
