"""Tools that a project's user makes in it: placed and trusted in one step, or neither."""

import functools
import os
from dataclasses import replace

from vespe import defaults
from vespe.kits import pinned
from vespe.models import Entry, Tool
from vespe.projects import project
from vespe.projects.workspace import open_workspace, project_has
from vespe.tools import authoring, origins
from vespe.tools.drafts import Draft
from vespe.trust import gate


def create_tool(root: str | os.PathLike[str], draft: Draft) -> Tool:
    """Make the tool of a draft in the project at `root`, trusted: it is its user's own.

    A copied file of the project is kept in mind as `created_from`, so that its changes can be taken
    over. In a project that is trusted as a place nothing more is kept. Raises as
    `authoring.create_tool` does; where the trust cannot be kept there is no tool either.
    """
    own = _Own(root)
    if draft.origin is not None:
        path, function = draft.origin
        made_from = origins.made_from(os.fspath(root), path, function, draft.copied)
        if made_from is not None:
            draft = replace(draft, document={**draft.document, origins.KEY: made_from})
    return authoring.create_tool(
        project.tools_dir(root), draft, taken=own.has, staged=own.trust, used=own.uses
    )


def copy_tool(root: str | os.PathLike[str], entry: Entry, *, name: str | None = None) -> Tool:
    """Copy a tool into the project at `root`, as `authoring.copy_tool` does, under `name` where
    given.

    An installed kit's is copied from the bytes that were approved, or not at all. A kit's is
    trusted then, as a tool that the user makes. One of the project's own is not: where the project
    came from elsewhere, so did the code.
    """
    own = _Own(root)
    staged = None if entry.scope == defaults.PROJECT_TOOLS else own.trust
    with pinned.locate(entry.path) as verified:
        return authoring.copy_tool(
            verified,
            project.tools_dir(root),
            taken=own.has,
            name=name,
            staged=staged,
            used=own.uses,
        )


class _Own:
    """What making a tool asks about the project, and tells its trust."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._root = os.fspath(root)

    def has(self, name: str) -> bool:
        return project_has(self._root, name)

    @functools.cached_property
    def _directories(self) -> list[str]:
        return [scope.directory for scope in open_workspace(self._root).scopes]

    def uses(self, uid: str) -> bool:
        return any(os.path.lexists(os.path.join(directory, uid)) for directory in self._directories)

    def trust(self, uid: str, staged: str) -> None:
        gate.trust_created(self._root, uid, staged=staged)
