"""What `vespe kit import` says of the kit that it made, and what its definitions cost a model; and
how it fetches a description.
"""

import os
from typing import Final

from vespe.adapters import SHAPES, cost
from vespe.errors import UsageError, VespeError
from vespe.features.imports import writing
from vespe.features.imports.made import Imported
from vespe.features.imports.openapi.documents import MAX_BYTES
from vespe.features.imports.writing import Written
from vespe.http import client
from vespe.kits import compared_versions, roots
from vespe.lazy import shlex
from vespe.models import JsonObject, Tool
from vespe.projects import user_config
from vespe.tools.secret_items import names_in

_FETCH_S: Final = 60.0


def fetch(address: str) -> bytes:
    """Return what an address answers with; private hosts are those that the user allows.

    Raises UsageError where that is not status 200, and as `client.exchange` does.
    """
    request = client.Request(
        method="GET",
        url=address,
        headers=(("Accept", "application/json, application/yaml, */*"),),
    )
    allowed = user_config.load_user_config().allow_hosts
    answer = client.exchange(
        request,
        timeout_s=_FETCH_S,
        max_bytes=MAX_BYTES,
        allow_hosts=allowed,
        redirects=client.MAX_REDIRECTS,
    )
    if answer.status != 200:
        raise UsageError(f"{address} answered with status {answer.status}")
    return answer.body


def report_of(
    imported: Imported, made: Written, *, target: str, changes: list[compared_versions.Comparison]
) -> JsonObject:
    """Return the kit that was made as `kit import --json` prints it."""
    return {
        "kit_id": made.kit_id,
        "path": target,
        "kind": imported.kind,
        "tools": [
            {
                "uid": uid,
                "name": tool["name"],
                "from": tool[writing.MARK]["from"],
                "notes": list(made.notes.get(str(tool["name"]), ())),
            }
            for uid, tool in made.tools.items()
        ],
        "left_out": [{"from": one.what, "reason": one.reason} for one in made.left_out],
        "not_selected": imported.unselected,
        "notes": list(imported.notes),
        "hosts": list(imported.hosts),
        "secrets": sorted(
            {name for tool in made.tools.values() for name in names_in(tool.get("secrets"))}
        ),
        "tokens": size(made).to_json(),
        "changes": [one.to_json() for one in changes],
    }


def size(made: Written) -> cost.Size:
    """Measure the definitions as a request to OpenAI holds them, all at once."""
    return cost.total(
        cost.size_of(SHAPES["openai"].definition(_tool(tool))) for tool in made.tools.values()
    )


def next_step(kit_id: str, target: str) -> str:
    """Say what makes the kit available; one that was made elsewhere than among the user's own is
    not found by its id.
    """
    activate = f"`vespe kit activate {kit_id}` makes it available in a project"
    try:
        is_found = os.path.realpath(roots.find_kit(kit_id).path) == os.path.realpath(target)
    except VespeError:
        is_found = False
    link = f"`vespe kit link {shlex.quote(os.path.relpath(target))}` makes your projects find it"
    return activate if is_found else f"{link}, then {activate}"


def tokens_by_tag(made: Written) -> list[tuple[str, int]]:
    """Return what the tools of each first tag cost, the dearest tag first."""
    tags: dict[str, int] = {}
    for tool in made.tools.values():
        for tag in tool.get("tags", ())[:1]:
            tokens = cost.size_of(SHAPES["openai"].definition(_tool(tool))).tokens
            tags[tag] = tags.get(tag, 0) + tokens
    return sorted(tags.items(), key=lambda one: -one[1])


def _tool(document: JsonObject) -> Tool:
    return Tool(
        uid=document["uid"],
        name=document["name"],
        description=document.get("description", ""),
        input_schema=document["schema"]["input"],
    )
