"""What a server knows of its project at one moment: the tools that it shows, and what their
validity rests on.

Why: a list of 10,000 tools is asked for again whenever one of them changed. Of a tool that did not
change nothing is read or made again: not its entry (`projects/kept_entries.py`), nor what a client
is told of it, which is kept as text. So the whole list after one change takes 0.1 s, where it took
0.7. Tools themselves are loaded when one is called or told of, and only the last are kept: with
10,000 of 1.5 kB a server that has listed them all has less than 100 MiB, where it had 190.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final

from vespe import defaults, features
from vespe.adapters.modes import mode_of
from vespe.calls import policy_answers
from vespe.calls.bridge import Bridge
from vespe.calls.path import CallPath
from vespe.calls.policy import CallPolicy, clients_policy
from vespe.calls.taint import Taint
from vespe.errors import VespeError
from vespe.features.mcp.server import selection as server_selection
from vespe.features.mcp.server.pages import PAGE, Ready
from vespe.features.mcp.server.selection import Candidates, Chosen, ChosenTools, Granted, Selection
from vespe.files.digests import sha256
from vespe.files.stamps import are_settled, stamp
from vespe.files.watch import Held
from vespe.models import Entry, Tool
from vespe.projects import user_config
from vespe.projects.kept_entries import KeptEntries
from vespe.projects.open_project import OpenProject
from vespe.projects.view import View
from vespe.projects.workspace import Workspace, watched_places
from vespe.records import dataclass
from vespe.tools import catalog, directory

_MOST_KEPT: Final = 256
"""So many tools are kept loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Whoever looks at one project again and again: what it is asked to show, and what it keeps
    between two looks.
    """

    live: OpenProject
    path: CallPath
    selection: Selection
    granted: Granted
    entries: KeptEntries
    taint: Taint
    loaded: dict[str, tuple[Entry, Workspace, Tool]] = field(default_factory=dict)

    def load(self, workspace: Workspace, view: View, item: Entry | Tool) -> Tool:
        """Return a tool as models see it; raises as `Workspace.load` does."""
        if isinstance(item, Tool):  # a function of the program
            return view.of(item)
        known = self.loaded.get(item.path)
        if known is not None and known[0] is item and known[1] is workspace:
            return known[2]
        tool = view.of(_read(item, self.entries.digest(item)))
        with contextlib.suppress(KeyError, StopIteration, RuntimeError):  # other threads load too
            while len(self.loaded) >= _MOST_KEPT:
                self.loaded.pop(next(iter(self.loaded)))
        self.loaded[item.path] = item, workspace, tool
        return tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The project's tools at one moment. `refusal` says why none is shown.

    `names` are those that are declared: of all `tools`, or of the `bridge` in their place;
    `at_once` those that clients must not put off. `policy` decides on calls of them, None where no
    rule is about any; `listing` on whether they are shown, whatever was read of strangers, so that
    the list stays as it is. `near` are the places that decide what is shown beside the tools, which
    had this `version`; `token` tells of changes in trust. `firm` says that each later change is
    seen. `texts` has what clients were told of each tool, by revision and name, and `pages` whole
    lists that are short.
    """

    workspace: Workspace
    path: CallPath
    view: View
    policy: CallPolicy | None
    listing: CallPolicy | None
    token: object
    near: Held
    firm: bool
    version: int
    tools: ChosenTools
    bridge: Bridge | None
    always: frozenset[str]
    names: tuple[str, ...]
    at_once: frozenset[str]
    left_out: tuple[str, ...]
    refusal: VespeError | None = None
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    pages: dict[tuple[str, int], Ready] = field(default_factory=dict)

    @property
    def declared(self) -> Mapping[str, Tool]:
        """The tools that a client is told of, by name."""
        return self.tools if self.bridge is None else self.bridge.declared

    def keep(self, revision: str, start: int, page: Ready) -> Ready:
        """Keep a page of a list that is short; of a long one the texts are enough."""
        if len(self.names) <= PAGE:
            self.pages[revision, start] = page
        return page

    def still_holds(self, looking: Looking, name: str = "") -> bool:
        """Say whether all is as it was; with a name, whether that still means the tool that it
        meant, with the same bytes, at the price of a few calls of the system.
        """
        if not self.firm or not self.near.hold():
            return False
        tools = looking.live.tools
        if not tools.refresh(exact=not name) or tools.version != self.version:
            return False
        item = self.tools.items_by_name.get(name)
        return not isinstance(item, Entry) or tools.stands(item.path)


def look(
    looking: Looking, workspace: Workspace, *, token: object, before: Snapshot | None
) -> Snapshot:
    """Look at the project: what did not change since `before` is not read again. `token` tells of
    changes in trust.
    """
    live = looking.live
    near = tuple((place, stamp(place)) for place in _places(workspace)) + watched_places(workspace)
    live.tools.refresh(exact=True)
    version = live.tools.version
    changed = looking.entries.refresh(workspace)
    firm = live.tools.firm and are_settled(found for _, found in near)
    if before is not None and changed is not None and _is_about_tools(before, workspace, token):
        patched = _patched(before, changed, looking)
        if patched is not None:
            return replace(patched, version=version, firm=firm)
    view = workspace.view
    if before is not None and before.view.rules == view.rules:
        view = before.view
    path = replace(looking.path, workspace=workspace)
    ask, refusal = looking.selection.ask, None
    listing = clients_policy(path, ask=ask)
    try:
        found = _shown(looking, workspace, view, listing)
    except VespeError as error:
        found, refusal = _nothing(error), error
    budget = workspace.config.document.get("tool_budget")
    mode = mode_of(looking.selection.mode, found.tools.values(), api="mcp", budget=budget)
    made = _bridge(mode, found.tools, found.always, path)
    snapshot = Snapshot(
        workspace=workspace,
        path=path,
        view=view,
        policy=clients_policy(path, ask=ask, taint=looking.taint),
        listing=listing,
        token=token,
        near=Held(near, live.watch),
        firm=firm,
        version=version,
        tools=found.tools,
        bridge=made,
        always=found.always,
        names=tuple(sorted(made.declared if made else found.tools)),
        at_once=found.always if mode == "native" else frozenset(),
        left_out=found.left_out,
        refusal=refusal,
    )
    if before is not None and before.view is view:
        snapshot.texts.update(_still_true(before, snapshot))
    return snapshot


def unreadable(before: Snapshot, error: VespeError) -> Snapshot:
    """Return a project that cannot be opened now: nothing of it is shown, and the next look tries
    again.
    """
    nothing = _nothing(error)
    return replace(
        before,
        firm=False,
        tools=nothing.tools,
        bridge=None,
        names=(),
        left_out=nothing.left_out,
        refusal=error,
        texts={},
        pages={},
    )


def differs(
    before: Snapshot, after: Snapshot, *, text: Callable[[Snapshot, str, str], str]
) -> bool:
    """Say whether what clients are shown is another list. `text` is what a client is told of a tool
    in a revision; of a tool that no client was told of, another file is another tool.
    """
    if (before.names, before.at_once) != (after.names, after.at_once):
        return True
    for name in after.names:
        old, new = (one.tools.items_by_name.get(name) for one in (before, after))
        if old is new and before.view is after.view:
            continue
        told = [(revision, said[name]) for revision, said in before.texts.items() if name in said]
        if (
            any(text(after, revision, name) != said for revision, said in told)
            if told
            else isinstance(new, Entry) or old != new
        ):
            return True
    return False


def _places(workspace: Workspace) -> tuple[str, ...]:
    """Name what decides on calls, and each directory of tools, where one may come."""
    scopes = (scope.directory for scope in workspace.scopes if scope.ordered)
    return (user_config.config_path(), policy_answers.directory(), *scopes)


def _is_about_tools(before: Snapshot, workspace: Workspace, token: object) -> bool:
    """Whether nothing beside the tools changed."""
    return (
        before.refusal is None
        and before.firm
        and before.workspace is workspace
        and before.token == token
        and before.near.hold()
    )


def _patched(
    before: Snapshot, changed: Mapping[str, tuple[Entry | None, Entry | None]], looking: Looking
) -> Snapshot | None:
    """Return what is shown where the tools that changed are shown as before, by the same names;
    None where there is more to it.
    """
    if not changed:
        return before
    items = dict(before.tools.items_by_name)
    view, workspace, policy = before.view, before.workspace, before.listing
    tools = _tools(looking, workspace, view, items)
    for old, new in changed.values():
        if old is None or new is None or old.name != new.name or new.problem is not None:
            return None
        name = view.name_of(new)
        if items.get(name) is not old or server_selection.unimplemented(new, looking.path.registry):
            return None
        items[name] = new
        refused = None if policy is None else lambda tool: policy.why_not(tool, {})
        if server_selection.accepts(new, view, looking.selection, tools.load, refused) is not None:
            return None
    mode = "" if before.bridge is None else "code" if before.bridge.program else "bridge"
    made = _bridge(mode, tools, before.always, before.path)
    after = replace(before, tools=tools, bridge=made, texts={}, pages={})
    after.texts.update(_still_true(before, after))
    return after


def _bridge(mode: str, tools: ChosenTools, always: frozenset[str], path: CallPath) -> Bridge | None:
    """Return what stands in the place of the tools, None where they are shown themselves."""
    if mode == "code":
        made: Bridge = features.load("programs", "code_bridge").CodeBridge(tools, always, home=path)
        return made
    return Bridge(tools, always) if mode == "bridge" else None


def _still_true(before: Snapshot, after: Snapshot) -> dict[str, dict[str, str]]:
    """Return what clients were told of those tools that did not change."""
    then, now = before.tools.items_by_name, after.tools.items_by_name
    changed = {
        name
        for name in then.keys() | now.keys()
        if then.get(name) is not now.get(name)
        or (name in before.at_once) != (name in after.at_once)
    }
    return {
        revision: {name: text for name, text in said.items() if name not in changed}
        for revision, said in before.texts.items()
    }


def _shown(looking: Looking, workspace: Workspace, view: View, policy: CallPolicy | None) -> Chosen:
    candidates = Candidates(
        rows=looking.entries.rows(workspace),
        registry=looking.path.registry,
        load=_tools(looking, workspace, view, {}).load,
    )
    return server_selection.shown(
        workspace,
        candidates,
        selection=looking.selection,
        granted=looking.granted,
        refused=None if policy is None else lambda tool: policy.why_not(tool, {}),
    )


def _tools(
    looking: Looking, workspace: Workspace, view: View, items: Mapping[str, Entry | Tool]
) -> ChosenTools:
    return ChosenTools(items, lambda item: looking.load(workspace, view, item))


def _nothing(error: VespeError) -> Chosen:
    nothing: dict[str, Tool] = {}
    return Chosen(
        tools=ChosenTools(nothing, lambda item: nothing[str(item.name)]),
        always=frozenset(),
        left_out=(str(error),),
    )


def _read(entry: Entry, digest: str) -> Tool:
    config = catalog.read_config(f"{entry.path}/{defaults.CONFIG_FILE}")
    if config is not None and sha256(config).hexdigest() == digest:  # it was judged already
        with contextlib.suppress(VespeError, KeyError):
            return directory.load_judged(
                entry.path, scope=entry.scope, kit_id=entry.kit_id, config=config
            )
    return directory.load(entry.path, scope=entry.scope, kit_id=entry.kit_id)
