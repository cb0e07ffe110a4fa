"""The tools that a model is shown in one conversation: chosen from a project, one for each name, in
strict mode where it can be.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from vespe import defaults, features
from vespe.adapters.definition_parts import own_fields, strictly
from vespe.adapters.modes import defer, mode_of, require_few
from vespe.calls.bridge import Bridge
from vespe.calls.path import CallPath
from vespe.calls.policy_answers import digest_of
from vespe.calls.registry import ToolRegistry
from vespe.errors import InvalidDocument, KitNotFound, UsageError
from vespe.kits import roots
from vespe.models import JsonObject, Tool
from vespe.projects.workspace import Workspace
from vespe.records import dataclass
from vespe.tools import catalog, directory
from vespe.tools.listed_tool import listed_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """Tools by name, `shown` as a provider takes them, and the names of those that are shown in
    strict mode.

    With a `bridge` only its tools are shown, and the others are found and called through them.
    """

    tools: dict[str, Tool]
    shown: list[Tool | JsonObject]
    strict: frozenset[str] = frozenset()
    bridge: Bridge | None = None


def chosen(
    workspace: Workspace,
    *,
    names: Sequence[str] | None = None,
    kit: str | None = None,
    registry: ToolRegistry | None = None,
) -> list[Tool]:
    """Load the tools of these names, those of one scope (a kit's id, or `project_tools`), or all
    that are available, as models see them.

    A name is the tool's own, or the one that models know it by. `registry` has the program's own
    functions, whose scope is `program`. Raises ToolNotFound, AmbiguousTool and InvalidTool for a
    name, KitNotFound for a kit without available tools.
    """
    read = workspace.read_available()
    available = [one.entry for one in read]
    own = {} if registry is None else registry.own_tools(beside={entry.name for entry in available})
    if names is not None:
        seen = workspace.shown(own.values()).tools
        return [seen[name] if name in seen else workspace.shown_tool(name) for name in names]
    entries = [one for one in read if kit in (None, one.entry.scope) and one.entry.name not in own]
    functions = own.values() if kit in (None, defaults.PROGRAM) else ()
    if kit is not None and not entries and not functions:
        raise KitNotFound(kit, close=sorted({entry.scope for entry in available}))
    loaded = (
        workspace.load_listed(one.entry)
        if one.judged is None
        else listed_tool(one.entry, one.judged)
        for one in entries
    )
    every = (*loaded, *functions)
    return list(workspace.shown(sorted(every, key=lambda tool: tool.name)).tools.values())


def tool_set(
    tools: Iterable[Tool],
    *,
    strict: bool = False,
    mode: str = "all",
    always: Collection[str] = (),
    api: str = "openai",
    budget: object = None,
) -> ToolSet:
    """Return the tools as a model is shown them; with `strict` in OpenAI's strict mode, but for
    those that cannot be said in it.

    `mode` is one of `modes.MODES`, where `always` are declared in each; `api` and `budget` are what
    `mode_of` takes. Raises UsageError where two different ones have one name, where they are
    more than `api` takes, and as `mode_of` does.
    """
    found: dict[str, Tool] = {}
    for tool in tools:
        require_same(found.setdefault(tool.name, tool), tool)
    mode = mode_of(mode, found.values(), api=api, budget=budget)
    if mode == "native":
        return ToolSet(tools=found, shown=list(defer(found.values(), always=always, api=api)))
    bridge = bridge_of(mode, found, frozenset(always))
    declared = found if bridge is None else bridge.declared
    require_few(len(declared), api=api)
    shown = {name: _shown(tool, strict) for name, tool in declared.items()}
    strictly = frozenset(name for name, one in shown.items() if _is_strict(one))
    return ToolSet(tools=found, shown=list(shown.values()), strict=strictly, bridge=bridge)


def bridge_of(
    mode: str, tools: Mapping[str, Tool], always: frozenset[str], *, home: CallPath | None = None
) -> Bridge | None:
    """Return what stands in the place of tools in a mode, None where they are shown themselves.

    `home` is the call path on which programs are logged. Raises MissingExtra for `code`.
    """
    if mode == "code":
        made: Bridge = features.load("programs", "code_bridge").CodeBridge(tools, always, home=home)
        return made
    return Bridge(tools, always) if mode == "bridge" else None


def kit_tools(named: str, *, project: str) -> list[Tool]:
    """Load the tools of a kit, by its id or its directory; `project` is a root whose kits count, or
    "". Raises KitNotFound, UsageError, InvalidDocument for a kit that cannot be used.
    """
    found = roots.find_kit(named, project=project or None) if os.sep not in named else None
    if found is not None and found.problem is not None:
        raise InvalidDocument(found.problem, path=found.path)
    where = os.path.abspath(named) if found is None else found.path
    kit_id = os.path.basename(where) if found is None else found.kit_id
    entries = catalog.scan(where, scope=kit_id, kit_id=kit_id)
    if found is None and not os.path.isfile(os.path.join(where, defaults.KIT_CONFIG_FILE)):
        raise UsageError(
            f"{named} is not a kit: it has no {defaults.KIT_CONFIG_FILE}",
            hint="use a kit's id or its directory",
        )
    return [directory.load(entry.path, scope=kit_id, kit_id=kit_id) for entry in entries.values()]


def require_same(first: Tool, second: Tool) -> None:
    """Raise UsageError where two tools of one name are not one and the same: the same object, or
    the same uid with the same bytes.
    """
    if first is second:
        return
    one, other = first.itself, second.itself
    if (
        one.uid
        and one.uid == other.uid
        and one.directory
        and other.directory
        and digest_of(one) == digest_of(other)
    ):
        return
    raise UsageError(
        f"two tools are called {first.name!r}, but a model can only tell tools apart by name: "
        f"{_whose(one)}, and {_whose(other)}",
        hint="leave out one of them, or rename one: `as` of `tools` in the project's config.json "
        "for a tool on disk, `@tool(name=…)` for a function",
    )


def _whose(tool: Tool) -> str:
    return (
        f"{tool.scope or 'a tool'}'s in {tool.directory}"
        if tool.directory
        else "a function of the program"
    )


def _shown(tool: Tool, strict: bool) -> Tool:
    from vespe.adapters import openai_strict

    if not strict:
        return tool
    schema, refusals = openai_strict.rewrite(tool.input_schema)
    if refusals:
        return tool
    return strictly(tool, schema)


def _is_strict(shown: Tool) -> bool:
    function = own_fields(shown, "openai").get("function")
    return isinstance(function, dict) and function.get("strict") is True
