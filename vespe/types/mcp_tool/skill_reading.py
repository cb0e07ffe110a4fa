"""The tool that reads the skills of an MCP server: which file a call is about, and what the model
is given of it.
"""

import base64
from typing import Any

from vespe.errors import InvalidArguments, Refused
from vespe.models import JsonObject
from vespe.tools import mcp_skills


def request_of(pins: JsonObject, inputs: JsonObject, *, tool: str) -> JsonObject:
    """Return what a session is asked for; raises InvalidArguments for a file that was not
    approved.
    """
    asked: JsonObject = {"tool": tool, "uri": _pin(pins, inputs)["uri"]}
    if _path(inputs) == mcp_skills.MAIN:
        return asked
    skill = pins[inputs["skill"]]
    main = skill["files"][mcp_skills.MAIN] | {"frontmatter": skill["frontmatter"]}
    return asked | {"main": main}


def result_of(pins: JsonObject, inputs: JsonObject, read: JsonObject, *, kit: str) -> JsonObject:
    """Return what was read, if it is what was approved; raises Refused, which shows nothing of
    it.
    """
    pin = _pin(pins, inputs)
    name, path = str(inputs["skill"]), _path(inputs)
    is_main = path == mcp_skills.MAIN
    try:
        data = mcp_skills.check(
            mcp_skills.content_of(read, pin["uri"]),
            pin,
            frontmatter=pins[name]["frontmatter"] if is_main else "",
        )
    except Refused as error:
        error.hint = mcp_skills.changed_hint(kit)
        raise
    others: JsonObject = {}
    if is_main and (files := [one for one in pins[name]["files"] if one != path]):
        others = {"files": files}
    return {"server": kit, "skill": name, "file": path, **_content(data), **others}


def _content(data: bytes) -> JsonObject:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _path(inputs: JsonObject) -> str:
    return str(inputs.get("file") or mcp_skills.MAIN).removeprefix("./")


def _pin(pins: JsonObject, inputs: JsonObject) -> dict[str, Any]:
    name, path = str(inputs["skill"]), _path(inputs)
    pin = mcp_skills.file_of(pins, name, path)
    if pin is None:
        files = ", ".join(list(pins[name]["files"])[:20]) if name in pins else ""
        raise InvalidArguments(
            f"the skill {name} has no file {path[:200]!r}; it has {files}"
            if files
            else f"there is no skill {name[:80]!r}"
        )
    return pin
