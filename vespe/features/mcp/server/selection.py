"""What a server shows of a project's tools, and why it leaves the others out."""

from collections.abc import Callable, Iterator, Mapping

from vespe import defaults
from vespe.calls.registry import ToolRegistry
from vespe.errors import NotTrusted, VespeError
from vespe.models import Entry, Row, Tool
from vespe.projects.view import Shown, View
from vespe.projects.workspace import Workspace
from vespe.records import dataclass
from vespe.trust.gate import Grant


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the one who serves asks for: tools of these kits (`project_tools` too), of these names,
    and read-only ones.

    An empty `kits` or `names` asks for all; `read_only` for those whose annotations say
    `readOnlyHint: true`. `ask` is what becomes of calls that a rule of the configuration asks for,
    `deny` or `allow`: nobody can be asked. `mode` is one of `modes.MODES`; `auto` is decided once,
    when the serving begins, since a client keeps what it was told.
    """

    kits: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    read_only: bool = False
    ask: str = "deny"
    mode: str = "auto"

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
Load = Callable[[Entry], Tool]
Refused = Callable[[Tool], str]


def shown(
    workspace: Workspace,
    *,
    selection: Selection,
    granted: Granted,
    load: Load,
    registry: ToolRegistry,
    refused: Refused,
) -> Shown:
    """Return what is shown now. `granted` says whether a tool directory is trusted, `load` reads
    one, `refused` why a tool may not run.

    `registry` has the program's own functions: those that are tools themselves are shown too.
    Raises NotTrusted where nothing of the project is trusted; what one tool lacks never hides
    another.
    """
    gate, view = _Gate(granted), workspace.view
    tools: dict[str, Tool] = {}
    left_out: list[str] = []
    winners: dict[str | None, str] = {}
    rows = workspace.ordered_rows()
    own = registry.own_tools(beside={row.entry.name for row in rows if row.status == "available"})
    for row in rows:
        first = winners.setdefault(row.entry.name, row.entry.scope)
        if row.status == "broken":
            left_out.append(broken(row))
        if row.status == "shadowed" and selection.means(row.entry, view):
            left_out.append(
                f"{row.entry.name} of {row.entry.scope} is left out: {first} has one of that name "
                "and comes before"
            )
        if row.status == "available" and row.entry.name in own and selection.means(row.entry, view):
            left_out.append(
                f"{row.entry.name} of {row.entry.scope} is left out: "
                "the program has a function of that name"
            )
        if row.status != "available" or row.entry.name in own:
            continue
        try:
            gate.admit(row.entry)
            tool = load(row.entry)
        except VespeError as error:
            left_out.append(f"{row.entry.name} is left out: {error}")
            continue
        if tool.implementation is None and tool.name not in registry:
            left_out.append(
                f"{tool.name} is left out: nothing implements it; "
                f"{tool.directory}/{defaults.CONFIG_FILE} says no type"
            )
        else:
            tools[tool.name] = tool
    tools = {name: tool for name, tool in (tools | own).items() if selection.takes(tool, view)}
    whys = {name: refused(tool) for name, tool in tools.items()}
    left_out += (f"{name} is left out: {why}" for name, why in whys.items() if why)
    tools = {name: tool for name, tool in tools.items() if not whys[name]}
    gate.refuse_if_all_shut()
    seen = view.shown(tools.values())
    left_out += _unknown(selection, workspace, {**tools, **seen.tools})
    return Shown(
        tools=dict(sorted(seen.tools.items())),
        always=seen.always,
        left_out=(*left_out, *seen.left_out),
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
    selection: Selection, workspace: Workspace, tools: Mapping[str, Tool]
) -> Iterator[str]:
    """What was asked for by name, and is not shown."""
    scopes = {scope.name for scope in workspace.scopes if scope.active}
    yield from (
        f"there is no active kit {kit!r}, so none of its tools is shown"
        for kit in selection.kits
        if kit not in scopes
    )
    known = {*tools, *(tool.uid for tool in tools.values())}
    yield from (f"no tool {name!r} is shown" for name in selection.names if name not in known)


def broken(row: Row) -> str:
    """Say that a tool is left out because it is broken, and what is wrong with it."""
    return f"{row.entry.name or row.entry.uid} is left out: {row.entry.path}: {row.entry.problem}"
