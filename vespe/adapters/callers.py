"""Who makes a call: the model itself, or a program that its vendor runs; and which tools programs
may call.

https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling,
https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling
"""

from collections.abc import Iterable
from typing import Final

from vespe.adapters.messages import BLOCKS, ITEMS, REST
from vespe.calls.bridge import CALL, OWN
from vespe.models import JsonObject, JsonValue, Tool
from vespe.tools.effects import effects_of

ALLOWED: Final = "allowed_callers"
RUNNERS: Final[dict[str, JsonObject]] = {
    "openai-responses": {"type": "programmatic_tool_calling"},
    "anthropic": {"type": "code_execution_20260120", "name": "code_execution"},
}
"""By API, its own tool that runs programs, which may call tools of ours."""
_DIRECT: Final = "direct"
_OPENAIS: Final = "programmatic"
_ANTHROPICS: Final = "code_execution_"
_BEFORE: Final = "code_execution_20250522"
"""Anthropic's tool whose programs could call nothing."""


def word_for_programs(tools: Iterable[object], api: str) -> str:
    """Return what stands for programs in `allowed_callers` where the API's own tool that runs them
    is among the `tools`, "" where it is not.
    """
    for tool in tools:
        kind = str(tool.get("type")) if isinstance(tool, dict) else ""
        if api == "openai-responses" and kind == RUNNERS[api]["type"]:
            return _OPENAIS
        if api == "anthropic" and kind.startswith(_ANTHROPICS) and kind != _BEFORE:
            return kind
    return ""


def with_callers(definition: JsonObject, tool: Tool, word: str) -> JsonObject:
    """Return a definition that says who may call the tool: the model, and programs (`word`) unless
    the tool may destroy something, or is a bridge's, which calls any; what it says already stays.

    Anthropic takes no program's calls of a tool in strict mode.
    """
    if not word or ALLOWED in definition:
        return definition
    strict = word != _OPENAIS and definition.get("strict") is True
    model_alone = strict or tool is OWN[CALL] or "destructive" in effects_of(tool)
    return definition | {ALLOWED: [_DIRECT] if model_alone else [_DIRECT, word]}


def open_to_programs(definitions: Iterable[object]) -> frozenset[str]:
    """Return the names of the tools that programs may call, by their definitions."""
    return frozenset(
        str(one.get("name"))
        for one in definitions
        if isinstance(one, dict)
        and isinstance(allowed := one.get(ALLOWED), list)
        and any(caller != _DIRECT for caller in allowed)
    )


def program_of(caller: JsonValue) -> str | None:
    """Return the id of the program that a call's `caller` says makes it, "" where it names none;
    None for a call of the model's own.
    """
    if caller is None:
        return None
    if not isinstance(caller, dict):
        return ""
    if caller.get("type") == _DIRECT:
        return None
    named = caller.get("caller_id", caller.get("tool_id"))
    return named if isinstance(named, str) else ""


def programs_among(items: Iterable[JsonValue]) -> set[str]:
    """Return the ids of the programs among items of Responses or blocks of Anthropic's."""
    found = set()
    for item in items:
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "program":
            found.add(item.get("call_id"))
        elif kind == "server_tool_use" and str(item.get("name")).endswith("code_execution"):
            found.add(item.get("id"))
    return {one for one in found if isinstance(one, str) and one}


def programs_in(message: JsonObject) -> set[str]:
    """Return the ids of the programs that a message of the model's holds."""
    return {
        one
        for key in (ITEMS, BLOCKS)
        if isinstance(kept := message.get(key), list)
        for one in programs_among(kept)
    }


def callers_in(message: JsonObject, calls: Iterable[JsonObject]) -> list[str | None]:
    """Return for each call of a message what `program_of` gives."""
    kept = message.get(ITEMS)
    entries = iter(
        [
            entry
            for entry in (kept if isinstance(kept, list) else ())
            if isinstance(entry, dict)
            and entry.get("type") in ("function_call", "custom_tool_call")
            and "call_id" not in entry
        ]
    )
    made = []
    for call in calls:
        rest = call.get(REST)
        own = rest.get("caller") if isinstance(rest, dict) else None
        made.append(program_of(next(entries, {}).get("caller") if own is None else own))
    return made
