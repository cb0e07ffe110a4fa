"""What changed for models: the tools that a project shows them, in a git revision and now, or in
two revisions.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from vespe import defaults
from vespe.git import revisions
from vespe.kits import compared_versions
from vespe.kits.compared_versions import Comparison
from vespe.models import Facade, Tool
from vespe.projects.view import View
from vespe.projects.workspace import Workspace, open_workspace
from vespe.schemas.comparison import contracts
from vespe.schemas.comparison.contracts import Change
from vespe.schemas.explain import short

_SAID_BY: Final = {"name": "as", "description": "description"}
"""By part of a change, what `tools` of the project may say in the place of the tool's own
config.json.
"""


@contextmanager
def opened_at(revision: str, *, root: str) -> Iterator[Workspace]:
    """Open the project at `root` as a git revision has it: its configuration and its own tools;
    kits are those of this machine.

    Raises as `revisions.checked_out` and `open_workspace` do.
    """
    with revisions.checked_out(f"{revision}:./{defaults.PROJECT_DIR}", cwd=root) as directory:
        yield open_workspace(os.path.dirname(directory))


def compare_views(old: Workspace, new: Workspace) -> list[Comparison]:
    """Compare what two states of a project show to models, tool by tool; what models see no change
    of is not listed.

    Raises InvalidTool where a tool of either cannot be loaded.
    """

    def changes(before: Tool, after: Tool) -> Sequence[Change]:
        seen = contracts.changes(
            *(contracts.contract_of(tool, command="") for tool in (before, after))
        )
        placed = (_placed(change, new.view, after) for change in seen)
        return [
            *placed,
            *_presets(before.behind, after.behind),
            *_exposure(old.view, before, new.view, after),
        ]

    return compared_versions.compare_sets(
        [*old.shown().tools.values()], [*new.shown().tools.values()], changes=changes
    )


def _placed(change: Change, view: View, tool: Tool) -> Change:
    """Return the change with the place in the project's config.json, where that is what says it."""
    place = view.said(tool.itself, _SAID_BY[change.part])[1] if change.part in _SAID_BY else ""
    return replace(change, pointer=place) if place else change


def _presets(old: Facade | None, new: Facade | None) -> Iterator[Change]:
    """What is filled in otherwise at each call: a model sees it in neither version."""
    before, after = (facade.preset if facade else {} for facade in (old, new))
    for name in sorted(before.keys() | after.keys()):
        was, said = (
            f"preset to {short(values[name])}" if name in values else "no preset"
            for values in (before, after)
        )
        if was != said:
            gone = name not in after
            place = _place_in((old if gone else new), name)
            message = f"{name} is {said}, and was {was}"
            yield Change(
                part="preset",
                verdict="unknown",
                message=message,
                pointer=place,
                side="old" if gone else "new",
            )


def _place_in(facade: Facade | None, name: str) -> str:
    return facade.places[name].partition("#")[2] if facade else ""


def _exposure(old: View, before: Tool, new: View, after: Tool) -> Iterator[Change]:
    (was, place), (said, now) = old.said(before.itself, "expose"), new.said(after.itself, "expose")
    if was != said:
        message = f"expose is {said or 'not said'}, and was {was or 'not said'}"
        yield Change(
            part="expose",
            verdict="compatible",
            message=message,
            pointer=now or place,
            side="new" if now else "old",
        )
