"""What a server knows of its project at one moment: the tools that it shows, and what their
validity rests on.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import cast

from vespe import defaults
from vespe.adapters.modes import mode_of
from vespe.calls.bridge import Bridge
from vespe.calls.path import CallPath
from vespe.calls.policy import CallPolicy, clients_policy
from vespe.errors import VespeError
from vespe.features.mcp.server import marks as server_marks
from vespe.features.mcp.server import selection as server_selection
from vespe.features.mcp.server.marks import Marks
from vespe.features.mcp.server.pages import Ready
from vespe.features.mcp.server.selection import Granted, Selection
from vespe.files.stamps import Stamp, are_settled, stamp
from vespe.files.watch import Held
from vespe.models import Entry, JsonObject, Tool
from vespe.projects.open_project import OpenProject
from vespe.projects.view import Shown
from vespe.projects.workspace import Workspace
from vespe.records import dataclass
from vespe.tools import directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A tool as it was read, with the stamps that it had then; `firm` where those tell of every
    later change.
    """

    tool: Tool
    stamps: tuple[Stamp, Stamp]
    firm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The project's tools at one moment. `refusal` says why none is shown; `pages` keeps what was
    listed already.

    `names` are those that are declared: of all `tools`, or of the `bridge` in their place;
    `at_once` those that clients must not put off. `policy` decides on calls of them, None where no
    rule is about any. `firm` says that equal marks mean equal tools; `near` are the places that
    decide which tool a name means, and whether it may be called.
    """

    workspace: Workspace
    path: CallPath
    policy: CallPolicy | None
    marks: tuple[Marks, object]
    firm: bool
    near: Held
    tools: Mapping[str, Tool]
    bridge: Bridge | None
    names: tuple[str, ...]
    at_once: frozenset[str]
    left_out: tuple[str, ...]
    loaded: Mapping[str, Loaded]
    refusal: VespeError | None = None
    pages: dict[tuple[str, int], Ready] = field(default_factory=dict)

    @property
    def declared(self) -> Mapping[str, Tool]:
        """The tools that a client is told of, by name."""
        return self.tools if self.bridge is None else self.bridge.declared

    def still_holds(self, name: str) -> bool:
        """Say whether a name still means the tool that it meant, with the same bytes, at the price
        of a few calls of the system.
        """
        tool = self.tools[name]
        if not self.near.hold():
            return False
        if tool.directory is None:  # a function of the program
            return True
        known = self.loaded[tool.directory]
        return known.firm and stamp(f"{tool.directory}/{defaults.CONFIG_FILE}") == known.stamps[1]


def look(
    workspace: Workspace,
    path: CallPath,
    *,
    selection: Selection,
    granted: Granted,
    token: object,
    before: Snapshot | None,
) -> Snapshot:
    """Look at the project: what did not change since `before` is not read again. `token` tells of
    changes in trust.
    """
    seen = server_marks.marks(workspace)
    near = tuple((place, stamp(place)) for place in server_marks.places(workspace))
    load = _Loading(before.loaded if before else {}, server_marks.by_path(workspace, seen))
    refusal = None
    policy = clients_policy(path, ask=selection.ask)
    try:
        found = server_selection.shown(
            workspace,
            selection=selection,
            granted=granted,
            load=load,
            registry=path.registry,
            refused=lambda tool: policy.why_not(tool, {}) if policy else "",
        )
    except VespeError as error:
        found, refusal = Shown(tools={}, always=frozenset(), left_out=(str(error),)), error
    budget = workspace.config.document.get("tool_budget")
    mode = mode_of(selection.mode, found.tools.values(), api="mcp", budget=budget)
    made = Bridge(found.tools, found.always) if mode == "bridge" else None
    return Snapshot(
        workspace=workspace,
        path=path,
        policy=policy,
        marks=(seen, token),
        firm=are_settled((*(found for _, found in near), *server_marks.stamps_in(seen))),
        near=Held(near, cast(OpenProject, path.live).watch),
        tools=found.tools,
        bridge=made,
        names=tuple(sorted(made.declared if made else found.tools)),
        at_once=found.always if mode == "native" else frozenset(),
        left_out=found.left_out,
        loaded=load.loaded,
        refusal=refusal,
    )


class _Loading:
    """Loads tools, each once as long as its directory and its config.json stay as they are.

    `seen` are the stamps from before the project was scanned: what still has them has been judged
    by the scan.
    """

    def __init__(
        self, known: Mapping[str, Loaded], seen: Mapping[str, tuple[Stamp, Stamp]]
    ) -> None:
        self._known, self._seen = known, seen
        self.loaded: dict[str, Loaded] = {}

    def __call__(self, entry: Entry) -> Tool:
        stamps = server_marks.tool_stamps(entry)
        known = self._known.get(entry.path)
        if (
            known is None
            or not known.firm
            or known.stamps != stamps
            or known.tool.scope != entry.scope
        ):
            firm = are_settled(stamps)
            judged = firm and self._seen.get(entry.path) == stamps
            known = Loaded(tool=_read(entry, judged=judged), stamps=stamps, firm=firm)
        self.loaded[entry.path] = known
        return known.tool


def _read(entry: Entry, *, judged: bool) -> Tool:
    if judged:
        with contextlib.suppress(VespeError, KeyError):
            return directory.load_judged(entry.path, scope=entry.scope, kit_id=entry.kit_id)
    return directory.load(entry.path, scope=entry.scope, kit_id=entry.kit_id)


def unreadable(before: Snapshot, error: VespeError) -> Snapshot:
    """Return a project that cannot be opened now: nothing of it is shown, and the next look tries
    again.
    """
    return replace(
        before,
        firm=False,
        tools={},
        bridge=None,
        names=(),
        left_out=(str(error),),
        refusal=error,
        pages={},
    )


def differs(before: Snapshot, after: Snapshot, *, definition: Callable[[Tool], JsonObject]) -> bool:
    """Say whether what clients are shown is another list; tools that were not read again are the
    same.
    """
    if (before.names, before.at_once) != (after.names, after.at_once):
        return True
    pairs = ((before.declared[name], after.declared[name]) for name in after.names)
    return any(old is not new and definition(old) != definition(new) for old, new in pairs)
