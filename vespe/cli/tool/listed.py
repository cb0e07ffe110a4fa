"""Which tools `vespe tool list` lists, and what is known of each."""

from collections.abc import Callable

from vespe import errors
from vespe.documents.near import near
from vespe.models import JsonObject, Tool
from vespe.projects.resolver import Row
from vespe.projects.workspace import Workspace
from vespe.records import json_of


def listing(workspace: Workspace, *, scope: str | None, everything: bool) -> tuple[list[Row], int]:
    """Return the available tools of a scope (None: of all that are active), or `everything` there;
    and how many broken tools are not among them.

    Raises KitNotFound for a scope that does not exist.
    """
    names = [known.name for known in workspace.scopes]
    if scope is not None and scope not in names:
        raise errors.KitNotFound(scope, close=near(scope, names))
    found = workspace.rows() if everything else workspace.ordered_rows()
    rows = [
        row
        for row in found
        if scope in (None, row.entry.scope) and (everything or row.status == "available")
    ]
    broken = 0 if everything else sum(row.status == "broken" for row in found)
    return rows, broken


def is_active(workspace: Workspace, scope: str) -> bool:
    """Whether the tools of a scope that there is are among those that are found."""
    return next(known for known in workspace.scopes if known.name == scope).active


def asking(workspace: Workspace) -> Callable[[Tool], bool]:
    """Return a function that says whether a model's call of a tool needs a person's approval
    here.
    """
    from vespe.calls.path import CallPath
    from vespe.calls.policy import policy_of
    from vespe.calls.registry import ToolRegistry

    policy = policy_of(CallPath(workspace=workspace, registry=ToolRegistry()))
    return lambda tool: bool(policy.why_not(tool, {}))


def document_of(row: Row) -> JsonObject:
    """Return a row as `tool list --json` prints it."""
    return (
        json_of(row.entry, "name", "uid", "scope", "kit_id", "type", "description")
        | json_of(row, "status", "shadowed_by")
        | {"problem": row.entry.problem}
    )
