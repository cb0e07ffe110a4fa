"""What a server shows of a project's tools, and why it leaves the others out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from vespe import defaults
from vespe.calls.registry import ToolRegistry
from vespe.errors import NotTrusted, VespeError
from vespe.models import Entry, Row, Tool
from vespe.projects.view import View
from vespe.projects.workspace import Workspace
from vespe.records import dataclass
from vespe.trust.gate import Grant

ASKS: Final = ("client", "deny", "allow")
ONLY_ASKED: Final = (
    " is only shown to clients that can ask their user, because its calls need approval"
)
"""What follows the name of a tool that a client without elicitation does not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the one who serves asks for: tools of these kits (`project_tools` too), of these names,
    and read-only ones.

    An empty `kits` or `names` asks for all; `read_only` for those whose annotations say
    `readOnlyHint: true`. `ask` is what becomes of calls that a rule of the configuration asks for,
    `client` (its user is asked where it declares elicitation, and otherwise the call is denied),
    `deny` or `allow`. `mode` is one of `modes.MODES`; `auto` is decided once,
    when the serving begins, since a client keeps what it was told. `results` is `whole` where
    structured content stays whole for clients that check it against the output schema, or `bounded`
    where clients are told of no output schema, so that all of a result is bounded.
    """

    kits: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    read_only: bool = False
    ask: str = "client"
    mode: str = "auto"
    results: str = "whole"

    def means(self, tool: Tool | Entry, view: View) -> bool:
        """Say whether a tool's kit and name, its own or the one that models know, are asked for."""
        if self.kits and tool.scope not in self.kits:
            return False
        return not self.names or not {tool.name, tool.uid, view.name_of(tool)}.isdisjoint(
            self.names
        )

    def takes(self, tool: Tool, view: View) -> bool:
        """Say whether a tool is asked for."""
        return self.means(tool, view) and (
            not self.read_only or tool.annotations.get("readOnlyHint") is True
        )


Granted = Callable[[str | None], Grant]
Load = Callable[[Entry | Tool], Tool]
Refused = Callable[[Tool], str]


class ChosenTools(Mapping[str, Tool]):
    """Tools by the names that models know, each loaded when it is asked for; `items_by_name` are
    what they are loaded from: entries of the disk, and functions of the program.
    """

    def __init__(self, items: Mapping[str, Entry | Tool], load: Load) -> None:
        self.items_by_name, self.load = items, load

    def __getitem__(self, name: str) -> Tool:
        return self.load(self.items_by_name[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_by_name)

    def __len__(self) -> int:
        return len(self.items_by_name)

    def __contains__(self, name: object) -> bool:
        return name in self.items_by_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is shown: the tools, those that are `always` declared, and a sentence on each that is
    left out.
    """

    tools: ChosenTools
    always: frozenset[str]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What there is to choose from: the `rows` of the scopes that plain names are looked for in,
    and the program's own functions, of which those that are tools themselves are shown too. `load`
    reads a tool as models see it.
    """

    rows: Iterable[Row]
    registry: ToolRegistry
    load: Load


def shown(
    workspace: Workspace,
    candidates: Candidates,
    *,
    selection: Selection,
    granted: Granted,
    refused: Refused | None,
) -> Chosen:
    """Return what is shown now. `granted` says whether a tool directory is trusted, `refused` why a
    tool may not run; without it all may.

    A tool is only loaded where its entry does not say enough. Raises NotTrusted where nothing of
    the project is trusted; what one tool lacks never hides another.
    """
    gate, view = _Gate(granted), workspace.view
    items: dict[str, Entry | Tool] = {}
    left_out: list[str] = []
    winners: dict[str | None, str] = {}
    rows, registry, load = list(candidates.rows), candidates.registry, candidates.load
    own = registry.own_tools(beside={row.entry.name for row in rows if row.status == "available"})
    for row in rows:
        first = winners.setdefault(row.entry.name, row.entry.scope)
        if row.status != "available" or row.entry.name in own:
            left_out += _passed_over(row, first, own, asked=selection.means(row.entry, view))
            continue
        try:
            gate.admit(row.entry)
        except VespeError as error:
            left_out.append(f"{row.entry.name} is left out: {error}")
            continue
        if why := unimplemented(row.entry, registry):
            left_out.append(why)
        else:
            items[str(row.entry.name)] = row.entry
    chosen = items | own
    if selection.kits or selection.names:
        chosen = {name: item for name, item in chosen.items() if selection.means(item, view)}
    if selection.read_only or refused is not None:
        chosen, whys = _accepted(chosen, view, selection, load, refused)
        left_out += whys
    gate.refuse_if_all_shut()
    seen = view.named_items(chosen.values())
    left_out += _unknown(selection, workspace, (chosen, seen.items))
    return Chosen(
        tools=ChosenTools(dict(sorted(seen.items.items())), load),
        always=seen.always,
        left_out=(*left_out, *seen.left_out),
    )


def unimplemented(entry: Entry, registry: ToolRegistry) -> str:
    """Say that a tool is left out because nothing implements it, or "" where something does."""
    if entry.type is not None or str(entry.name) in registry:
        return ""
    return (
        f"{entry.name} is left out: it has no implementation; {entry.path}/{defaults.CONFIG_FILE} "
        "states no type"
    )


def accepts(
    item: Entry | Tool,
    view: View,
    selection: Selection,
    load: Load,
    refused: Refused | None,
) -> str | None:
    """Say whether a tool that is asked for is shown: None where it is, else a sentence, "" where
    there is nothing to say.
    """
    if not selection.read_only and refused is None:
        return None
    try:
        tool = load(item).itself
    except VespeError as error:
        return f"{item.name} is left out: {error}"
    if not selection.takes(tool, view):
        return ""
    why = refused(tool) if refused is not None else ""
    return f"{item.name} is left out: {why}" if why else None


def _accepted(
    items: Mapping[str, Entry | Tool],
    view: View,
    selection: Selection,
    load: Load,
    refused: Refused | None,
) -> tuple[dict[str, Entry | Tool], list[str]]:
    found: dict[str, Entry | Tool] = {}
    left_out = []
    for name, item in items.items():
        if (why := accepts(item, view, selection, load, refused)) is None:
            found[name] = item
        elif why:
            left_out.append(why)
    return found, left_out


def _passed_over(row: Row, first: str, own: Mapping[str, Tool], *, asked: bool) -> Iterator[str]:
    """Say why a tool that is broken, shadowed, or a function's by its name is left out."""
    if row.status == "broken":
        yield broken(row)
    if row.status == "shadowed" and asked:
        yield (
            f"{row.entry.name} of {row.entry.scope} is left out: {first} has a tool of the same "
            "name and comes first"
        )
    if row.status == "available" and row.entry.name in own and asked:
        yield (
            f"{row.entry.name} of {row.entry.scope} is left out: the program has a function of the "
            "same name"
        )


class _Gate:
    """Asks for trust: once for the project, and where that has none, for each of its own tools."""

    def __init__(self, granted: Granted) -> None:
        self._granted = granted
        self._opened = False
        self._refusal: NotTrusted | None = None
        try:
            granted(None)
        except NotTrusted as error:
            self._refusal = error

    def admit(self, entry: Entry) -> None:
        """Raise NotTrusted where the tool may not run."""
        if self._refusal is None:
            return
        if entry.kit_id is not None:
            raise self._refusal
        self._granted(entry.path)
        self._opened = True

    def refuse_if_all_shut(self) -> None:
        """Raise NotTrusted where neither the project nor any tool of its own is trusted."""
        if self._refusal is not None and not self._opened:
            raise self._refusal


def _unknown(
    selection: Selection, workspace: Workspace, tools: Iterable[Mapping[str, Entry | Tool]]
) -> Iterator[str]:
    """What was asked for by name, and is not shown."""
    scopes = {scope.name for scope in workspace.scopes if scope.active}
    yield from (
        f"there is no active kit {kit!r}, so none of its tools is shown"
        for kit in selection.kits
        if kit not in scopes
    )
    if not selection.names:
        return
    known = {known for some in tools for name, tool in some.items() for known in (name, tool.uid)}
    yield from (f"no tool {name!r} is shown" for name in selection.names if name not in known)


def broken(row: Row) -> str:
    """Say that a tool is left out because it is broken, and what is wrong with it."""
    return f"{row.entry.name or row.entry.uid} is left out: {row.entry.path}: {row.entry.problem}"
