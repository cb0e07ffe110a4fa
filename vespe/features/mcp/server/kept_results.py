"""The results that a client was shown in part, as resources of MCP: whole, or by pages of
characters. They are read with the client's own handles alone.
"""

import re
from typing import Final

from vespe.adapters.large_results.handles import LargeResults
from vespe.errors import UnknownResult
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.lazy import pattern
from vespe.models import JsonObject

_HEAD: Final = "vespe://results/"
_URI: Final = pattern(
    r"vespe://results/(r[0-9]{1,9})(?:\?offset=([0-9]{1,9})(?:&limit=([0-9]{1,9}))?)?", re.ASCII
)
TEMPLATE: Final[JsonObject] = {
    "uriTemplate": f"{_HEAD}{{handle}}{{?offset,limit}}",
    "name": "result",
    "description": "A result that was too large to show completely, by its handle: all of it, or "
    "`limit` characters starting at `offset`.",
}


def link_to(handle: str, results: LargeResults) -> JsonObject:
    """Return the content block that links to a result that was shown in part."""
    held = results.known[handle]
    return {
        "type": "resource_link",
        "uri": _HEAD + handle,
        "name": handle,
        "description": f"The complete result: {held['characters']:,} characters.",
        "mimeType": _type_of(held.get("json") is True),
    }


def is_address(uri: str) -> bool:
    """Say whether an address is one of a result."""
    return uri.startswith(_HEAD)


def contents(uri: str, results: LargeResults) -> JsonObject:
    """Return `{"contents"}` of a result, or of a page of it; raises ProtocolError where the client
    has none of that handle.
    """
    found = _URI.fullmatch(uri)
    if found is None:
        raise ProtocolError(
            INVALID_PARAMS,
            f"there is no resource {uri[:200]!r}: a result is {_HEAD}HANDLE, "
            f"a page of it {_HEAD}HANDLE?offset=0&limit=10000",
        )
    try:
        text, is_json = results.text_of(found[1])
    except UnknownResult as error:
        raise ProtocolError(INVALID_PARAMS, str(error)) from None
    kind = _type_of(is_json)
    if found[2] is not None:
        first, kind = int(found[2]), "text/plain"  # a page of JSON is none
        if first > len(text):
            raise ProtocolError(
                INVALID_PARAMS, f"there is no character {first:,}: the result has {len(text):,}"
            )
        text = text[first : first + int(found[3])] if found[3] is not None else text[first:]
    return {"contents": [{"uri": uri, "mimeType": kind, "text": text}]}


def _type_of(is_json: bool) -> str:
    return "application/json" if is_json else "text/plain"
