"""What an MCP server changed since it was recorded: its tools now beside those that it listed
then.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vespe.documents.pointers import pointer_to
from vespe.features.mcp.recordings import server_recording
from vespe.http.addresses import parse_url
from vespe.kits import compared_versions, mcp_kits
from vespe.kits.compared_versions import Comparison
from vespe.models import JsonObject, Tool
from vespe.schemas.comparison import contracts
from vespe.schemas.comparison.contracts import Change
from vespe.types.mcp_tool import server_kits

_KIT: Final = "server"
_WORDS: Final = ("title", "description", "examples", "$comment")
_NAMES: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_STEPS: Final = len(("schema", "input"))


def compare(
    path: str,
    reach: JsonObject,
    *,
    secrets: Sequence[str] = (),
    login: str = "",
    root: str | None = None,
) -> list[Comparison]:
    """Ask a server for its tools, and compare them with those of the recording at `path`. `reach`
    is its `command`, or its `url` and `headers`; `secrets` are variables that a command may see,
    `login` is the kit whose login a server that listens is sent. `root` is the project that a
    command may write; None outside of projects.

    Raises as `server_recording.read` and `server_kits.list_tools` do.
    """
    then, _ = server_recording.read(path).definitions()
    server = mcp_kits.describe_server(reach, secrets=secrets, timeout_s=None)
    now = server_kits.list_tools(server, name=_name(reach), login=login, root=root)
    before, after = _by_name(then), _by_name(now)
    old, new = _tools(then), _tools(now)
    both = [name for name in before if name in old and name in new]
    found = compared_versions.compare_sets(
        [old[name] for name in both],
        [new[name] for name in both],
        changes=lambda one, other: [
            *contracts.changes(_contract(one), _contract(other)),
            *_beside(before[one.uid], after[other.uid]),
        ],
    )
    return [*_others(before, after, frozenset(both)), *found]


def breaks(comparison: Comparison) -> bool:
    """Say whether more than words changed: a tool is gone, or what it takes, gives or says that it
    does is other than it was.
    """
    return any(
        change.verdict == "breaking"
        or change.part == "annotations"
        or (change.part in ("input", "output") and not _is_about_words(change))
        for change in comparison.changes
    )


def _name(reach: JsonObject) -> str:
    if "url" in reach:
        return parse_url(reach["url"]).authority
    return os.path.basename(str(reach["command"][0]))


def _is_about_words(change: Change) -> bool:
    steps = change.pointer.split("/")[1:]
    return (
        change.verdict == "compatible"
        and len(steps) > _STEPS
        and steps[-1] in _WORDS
        and (len(steps) == _STEPS + 1 or steps[-2] not in _NAMES)
    )


def _by_name(definitions: Sequence[JsonObject]) -> dict[str, JsonObject]:
    return {str(one.get("name")): one for one in definitions}


def _tools(definitions: Sequence[JsonObject]) -> dict[str, Tool]:
    """Return the tools whose schemas can be compared, by their names at the server."""
    made = mcp_kits.draft(_KIT, {"command": ["server"]}, definitions, about={})
    configs = {one["implementation_details"]["entrypoint"]: one for one in made.tools.values()}
    return {
        name: Tool(
            uid=name,
            name=name,
            description=config["description"],
            input_schema=config["schema"]["input"],
            output_schema=config["schema"].get("output"),
        )
        for name, config in configs.items()
    }


def _contract(tool: Tool) -> contracts.Contract:
    return contracts.Contract(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
    )


def _beside(before: JsonObject, after: JsonObject) -> Iterator[Change]:
    if before.get("title") != after.get("title"):
        yield Change(
            part="description",
            verdict="compatible",
            message="the title is different",
            pointer="/title",
        )
    old, new = (one.get("annotations") or {} for one in (before, after))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) == new.get(key):
            continue
        is_title = key == "title"
        yield Change(
            part="description" if is_title else "annotations",
            verdict="compatible" if is_title else "unknown",
            message="the title is different"
            if is_title
            else f"was {old.get(key)!r}, is {new.get(key)!r}: the tool says that it does other "
            "things than before",
            pointer=pointer_to(("annotations", key)),
            side="new" if key in new else "old",
        )


def _others(
    before: Mapping[str, JsonObject], after: Mapping[str, JsonObject], compared: frozenset[str]
) -> Iterator[Comparison]:
    """The tools that are gone or new, and those whose schemas Vespe does not take: of these only
    that they changed can be said.
    """
    for name in dict.fromkeys((*before, *after)):
        if name in compared or before.get(name) == after.get(name):
            continue
        change = Change(
            part="input",
            verdict="unknown",
            message="its definition changed, and Vespe cannot use its schema",
        )
        if name not in after:
            message = "was removed: calls of it fail"
            change = Change(part="tool", verdict="breaking", message=message, side="old")
        elif name not in before:
            change = Change(part="tool", verdict="compatible", message="is new")
        yield Comparison(tool=name, uid=name, changes=(change,))
