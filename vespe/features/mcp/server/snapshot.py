"""What a server knows of its project at one moment: the tools that it shows, and what their
validity rests on.

Why: a list of 10,000 tools is asked for again whenever one of them changed. Of a tool that did not
change nothing is read or made again: not its entry (`projects/kept_entries.py`), nor what a client
is told of it, which is kept as text. So the whole list after one change takes 0.1 s, where it took
0.7. Tools themselves are loaded when one is called or told of, and only the last are kept: with
10,000 of 1.5 kB a server that has listed them all has less than 100 MiB, where it had 190.
"""

import bisect
import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from vespe import defaults, features
from vespe.adapters.large_results import reading
from vespe.adapters.modes import mode_of
from vespe.calls import policy_answers
from vespe.calls.path import CallPath
from vespe.calls.policy import Answer, CallPolicy, Question, clients_policy
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

if TYPE_CHECKING:
    from vespe.calls.bridge import Bridge

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


class ApprovalWanted(Exception):
    """A person has to allow a call first: the `question`. It is raised out of the policy, since the
    policy asks one question at a time, and other calls would wait for the answer.
    """

    def __init__(self, question: Question) -> None:
        super().__init__(question.why)
        self.question = question


def _want(question: Question) -> Answer:
    raise ApprovalWanted(question)


class ListingPolicy:
    """Decides which tools are shown: why one is not, and whether all of its calls are asked for."""

    def __init__(self, path: CallPath, ask: str) -> None:
        self._shows = clients_policy(path, ask="allow" if ask == "client" else ask)
        self._runs = clients_policy(path) if ask == "client" and self._shows else None

    @property
    def shows_all(self) -> bool:
        """Whether no rule and no answer is about any tool."""
        return self._shows is None

    def why_not(self, tool: Tool) -> str:
        """Say why a tool is not shown to anybody, "" where it is."""
        return "" if self._shows is None else self._shows.why_not(tool, {})

    def asks(self, tool: Tool) -> bool:
        """Say whether a person has to allow every call of a tool."""
        return self._runs is not None and bool(self._runs.why_not(tool, {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The project's tools at one moment. `refusal` says why none is shown.

    `names` are those that are declared: of all `tools`, or of the `bridge` in their place, and
    `read_result`; `at_once` those that clients must not put off. `policy` decides on calls of them,
    None where no rule is about any; `listing` on whether they are shown, whatever was read of
    strangers, so that the list stays as it is. Only clients that can ask their user are shown the
    tools that are `asked` for at every call; `unasked` is what the others see. `near` are the
    places that decide what is shown beside the tools, which had this `version`; `token` tells of
    changes in trust. `firm` says that each later change is seen. `texts` has what clients were told
    of each tool, by revision and name, and `pages` whole lists that are short.
    """

    workspace: Workspace
    path: CallPath
    view: View
    policy: CallPolicy | None
    listing: "ListingPolicy"
    token: object
    near: Held
    firm: bool
    version: int
    tools: ChosenTools
    bridge: "Bridge | None"
    always: frozenset[str]
    names: tuple[str, ...]
    at_once: frozenset[str]
    left_out: tuple[str, ...]
    asked: frozenset[str] = frozenset()
    unasked: "Snapshot | None" = None
    refusal: VespeError | None = None
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    pages: dict[tuple[str, int], Ready] = field(default_factory=dict)

    def seen(self, *, elicits: bool) -> "Snapshot":
        """Return what a client sees that can ask its user, or that cannot."""
        return self if elicits or self.unasked is None else self.unasked

    def reads_results(self, name: str) -> bool:
        """Say whether a name is that of Vespe's own `read_result`: a project's tool of that name is
        the project's.
        """
        return name == reading.READ and name not in self.tools

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
        tools, seen = looking.live.tools, looking.live.watch.number()
        if not self.firm or not self.near.hold(seen):
            return False
        if not tools.refresh(exact=not name, seen=seen) or tools.version != self.version:
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
    listing, asked = ListingPolicy(path, ask), set[str]()
    try:
        found = _shown(looking, workspace, view, listing, asked)
    except VespeError as error:
        found, refusal = _nothing(error), error
    budget = workspace.config.document.get("tool_budget")
    mode = mode_of(looking.selection.mode, found.tools.values(), api="mcp", budget=budget)
    made = _bridge(mode, found.tools, found.always, path)
    snapshot = Snapshot(
        workspace=workspace,
        path=path,
        view=view,
        policy=clients_policy(path, ask=_want if ask == "client" else ask, taint=looking.taint),
        listing=listing,
        token=token,
        near=Held(near, live.watch),
        firm=firm,
        version=version,
        tools=found.tools,
        bridge=made,
        always=found.always,
        names=_names(made.declared if made else found.tools),
        at_once=found.always | {reading.READ} if mode == "native" else frozenset(),
        left_out=(*found.left_out, *(name + server_selection.ONLY_ASKED for name in sorted(asked))),
        asked=frozenset(asked),
        refusal=refusal,
    )
    if before is not None and before.view is view:
        snapshot.texts.update(_still_true(before, snapshot))
    return _with_unasked(snapshot)


def _with_unasked(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot with what clients see that cannot ask their user."""
    if not snapshot.asked:
        return snapshot
    items = snapshot.tools.items_by_name
    tools = ChosenTools(
        {name: item for name, item in items.items() if name not in snapshot.asked},
        snapshot.tools.load,
    )
    made = _bridge_like(snapshot, tools, snapshot.always - snapshot.asked)
    names = _names(made.declared if made else tools)
    unasked = replace(snapshot, tools=tools, bridge=made, names=names, pages={})
    return replace(snapshot, unasked=unasked)


def _names(declared: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are listed: `read_result` beside others, and never alone."""
    names = sorted(declared)
    if names and reading.READ not in names:
        bisect.insort(names, reading.READ)
    return tuple(names)


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
        asked=frozenset(),
        unasked=None,
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
    lists = [(one.names, one.at_once, one.asked) for one in (before, after)]
    if lists[0] != lists[1]:
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
    view, workspace, listing = before.view, before.workspace, before.listing
    tools = _tools(looking, workspace, view, items)
    for old, new in changed.values():
        if old is None or new is None or old.name != new.name or new.problem is not None:
            return None
        name = view.name_of(new)
        if items.get(name) is not old or server_selection.unimplemented(new, looking.path.registry):
            return None
        items[name] = new
        refused = None if listing.shows_all else listing.why_not
        if server_selection.accepts(new, view, looking.selection, tools.load, refused) is not None:
            return None
        asks = not listing.shows_all and listing.asks(tools.load(new).itself)
        if asks != (name in before.asked):
            return None
    made = _bridge_like(before, tools, before.always)
    after = replace(before, tools=tools, bridge=made, texts={}, pages={})
    after.texts.update(_still_true(before, after))
    return _with_unasked(after)


def _bridge_like(snapshot: Snapshot, tools: ChosenTools, always: frozenset[str]) -> "Bridge | None":
    """Return what stands in the place of other tools as it does in a snapshot."""
    before = snapshot.bridge
    mode = "" if before is None else "code" if before.program else "bridge"
    return _bridge(mode, tools, always, snapshot.path)


def _bridge(
    mode: str, tools: ChosenTools, always: frozenset[str], path: CallPath
) -> "Bridge | None":
    """Return what stands in the place of the tools, None where they are shown themselves."""
    if mode not in ("code", "bridge"):
        return None
    from vespe.calls.bridge import Bridge  # it searches, which few servers offer

    if mode == "bridge":
        return Bridge(tools, always)
    made: Bridge = features.load("programs", "code_bridge").CodeBridge(tools, always, home=path)
    return made


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


def _shown(
    looking: Looking, workspace: Workspace, view: View, listing: ListingPolicy, asked: set[str]
) -> Chosen:
    """Return what is shown; the names of tools of which every call is asked for are added to
    `asked`.
    """

    def refused(tool: Tool) -> str:
        why = listing.why_not(tool)
        if not why and listing.asks(tool):
            asked.add(view.name_of(tool))
        return why

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
        refused=None if listing.shows_all else refused,
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
