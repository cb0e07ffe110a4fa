"""How models are told of their tools: of all, of a bridge in their place, or of all with the
vendor's own search over most of them.
"""

from collections.abc import Collection, Iterable
from typing import Final

from vespe.adapters import SHAPES, cost
from vespe.adapters.limits import Limit, limits_on
from vespe.errors import UsageError
from vespe.models import JsonObject, Tool, ToolsMode

MODES: Final[tuple[ToolsMode, ...]] = ("all", "bridge", "code", "native", "auto")
"""`all` declares every tool; `bridge` those that are always exposed, and three that search,
describe and call the others; `code` three that search, describe, and run programs whose functions
are the tools; `native` defers the others, and the vendor's API searches them; `auto`
is `all` until the definitions cost more than the project's `tool_budget`, or are more than the API
takes, then `bridge`.
"""
_LOADED_AT_ONCE: Final = "anthropic/alwaysLoad"
"""The key of a tool's `_meta` by which a client of MCP that searches tools itself tells those that
it must not put off.

https://code.claude.com/docs/en/mcp#scale-with-mcp-tool-search
"""
_SEARCH: Final[dict[str, JsonObject]] = {
    "anthropic": {"name": "tool_search_tool_bm25", "type": "tool_search_tool_bm25_20251119"},
    "openai-responses": {"type": "tool_search"},
}
"""The tools with which an API searches those that are deferred.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
"""
_CALLED: Final = {
    "anthropic": "Anthropic's Messages API",
    "openai-responses": "OpenAI's Responses API",
    "openai": "an API of chat completions",
    "ollama": "Ollama",
    "gemini": "Gemini",
}


def mode_of(mode: str, tools: Iterable[Tool], *, api: str, budget: object) -> str:
    """Return `all`, `bridge`, `code` or `native`; raises UsageError for what is not one of MODES,
    and where an API has no search of its own.

    `auto` asks whether the definitions, as `api` takes them, cost more tokens than the `budget`
    (without one they never do), and whether they are more than `api` takes at once.
    """
    if mode not in MODES:
        raise UsageError(f"{mode!r} is not a way to show tools: it is one of {', '.join(MODES)}")
    if mode == "native" and api not in (*_SEARCH, "mcp"):
        raise UsageError(
            f"{_CALLED.get(api, api)} does not search tools itself: "
            f"`native` is for {' and '.join(_CALLED[one] for one in _SEARCH)}",
            hint="`bridge` and `auto` are for every API; "
            "agents have `native` with the providers anthropic and openai-responses",
        )
    if mode != "auto":
        return mode
    shape, most = SHAPES[api if api in SHAPES else "openai"], most_tools(api)
    if most is None and not isinstance(budget, int):
        return "all"  # without loading any
    tools = list(tools)
    if most is not None and len(tools) > most.value:
        return "bridge"
    dear = (
        isinstance(budget, int)
        and cost.total(cost.size_of(shape.definition(tool)) for tool in tools).tokens > budget
    )
    return "bridge" if dear else "all"


def most_tools(api: str) -> Limit | None:
    """Return how many tools an API takes in one request, None where no bound is known."""
    return next(iter(limits_on("tools-count", api=api.removesuffix("-responses"))), None)


def require_few(count: int, *, api: str) -> None:
    """Raise UsageError where so many definitions are more than an API takes in one request."""
    most = most_tools(api)
    if most is not None and count > most.value:
        raise UsageError(
            f"{count} tools are more than {_CALLED.get(api, api)} takes: {most.words}",
            hint="`--tools-mode auto` and `bridge` (`tools_mode` in Python) let the model search "
            "for tools; or choose fewer",
        )


def defer(
    tools: Iterable[Tool], *, always: Collection[str], api: str, search: Tool | None = None
) -> list[JsonObject]:
    """Return definitions in the shape of `api`, all but those of `always` deferred, and behind them
    the API's own search, or `search`.

    For MCP, whose clients search if anybody does, those of `always` are marked instead. Raises
    UsageError for an API without a search.
    """
    mode_of("native", (), api=api, budget=None)
    if api == "mcp":
        return [mark(SHAPES[api].definition(tool), always=tool.name in always) for tool in tools]
    shown = [
        SHAPES[api].definition(tool) | ({} if tool.name in always else {"defer_loading": True})
        for tool in tools
    ]
    own = dict(_SEARCH[api]) if search is None else SHAPES[api].definition(search)
    return [*shown, *([own] if any(one.get("defer_loading") for one in shown) else [])]


def mark(entry: JsonObject, *, always: bool) -> JsonObject:
    """Return an entry of MCP's `tools/list`, with the mark of one that clients must not put off
    where it is `always` exposed.
    """
    held = entry.get("_meta")
    return (
        entry | {"_meta": {**(held if isinstance(held, dict) else {}), _LOADED_AT_ONCE: True}}
        if always
        else entry
    )
