"""Each tool's description.md as a resource of MCP."""

import os
from collections.abc import Mapping
from typing import Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import VespeError
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.files import atomic
from vespe.models import JsonObject, Tool

_TYPE: Final = "text/markdown"
_HEAD: Final = "vespe://tools/"
_TAIL: Final = f"/{defaults.DESCRIPTION_FILE}"
TEMPLATE: Final[JsonObject] = {
    "uriTemplate": f"{_HEAD}{{name}}{_TAIL}",
    "name": "description",
    "description": "The documentation of a tool, for people.",
    "mimeType": _TYPE,
}


def resource_of(tool: Tool) -> JsonObject | None:
    """Return the entry of `resources/list` for a tool that has a description.md, else None."""
    if tool.directory is None or not os.path.isfile(
        f"{tool.directory}/{defaults.DESCRIPTION_FILE}"
    ):
        return None
    return {"uri": f"{_HEAD}{tool.name}{_TAIL}", "name": f"{tool.name}{_TAIL}", "mimeType": _TYPE}


def contents(uri: str, tools: Mapping[str, Tool]) -> JsonObject:
    """Return `{"contents"}` of a resource; raises ProtocolError where it is none, or cannot be
    read.
    """
    name = uri[len(_HEAD) : -len(_TAIL)] if uri.startswith(_HEAD) and uri.endswith(_TAIL) else ""
    tool = tools.get(name)
    if tool is None or tool.directory is None:
        raise ProtocolError(INVALID_PARAMS, f"there is no resource {uri[:200]!r}")
    try:
        data = atomic.read_bytes(f"{tool.directory}/{defaults.DESCRIPTION_FILE}")
    except VespeError as error:
        raise ProtocolError(INVALID_PARAMS, strict_json.repair_surrogates(str(error))) from None
    return {"contents": [{"uri": uri, "mimeType": _TYPE, "text": data.decode("utf-8", "replace")}]}
