"""Render docs/api.md from the docstrings of what `vespe` promises;
`python -m tests.support.render_api` writes it.
"""

import importlib
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vespe
import vespe.testing

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
HEAD = """# Python API

This page is generated from the docstrings (`./dev docs`); a test compares the two, and every example runs as a test.

The public API is:

- `vespe`: the names in `vespe.__all__`
- `vespe.errors`, `vespe.models`, `vespe.testing` and `vespe.agents.recordings`
- `vespe.adapters`, and its module for each vendor: `vespe.adapters.anthropic`, `vespe.adapters.gemini`,
  `vespe.adapters.mcp`, `vespe.adapters.ollama`, `vespe.adapters.openai` and `vespe.adapters.openai_responses`
- the pytest plug-in `vespe`, with its option `--vespe-examples` and its setting `vespe_examples`

Nothing else is public: any other module, and every name that begins with `_`, may change in any version.

Importing `vespe` costs nothing until a name is used, and a wrong name is an error for type checkers.
[Python](python.md) explains how the parts work together.
"""
GROUPS: dict[str, tuple[str, ...]] = {
    "Functions as tools": ("tool", "Toolset", "FunctionTool", "ToolFunction", "ToolOptions"),
    "Projects": (
        "Project",
        "create_tool",
        "load_tool",
        "resolve_tool",
        "list_available_tools",
        "execute_tool",
    ),
    "In this process": (
        "ToolRegistry",
        "ToolImplementation",
        "report_progress",
        "report_message",
        "ask",
        "aask",
        "answered_by",
        "ToolQuestion",
        "PersonReply",
        "serve_stdio",
        "serve_http",
    ),
    "Agents": (
        "Agent",
        "AgentOptions",
        "Limits",
        "RunResult",
        "run_loop",
        "Transcript",
        "CallPolicy",
        "Question",
        "Answer",
        "EventSystem",
    ),
    "Providers": (
        "LLMProvider",
        "AnthropicProvider",
        "OpenAIProvider",
        "OpenAIResponsesProvider",
        "GeminiProvider",
        "OllamaProvider",
        "SimulatedProvider",
        "RecordingProvider",
        "ReplayProvider",
        "Patience",
    ),
    "Handlers and streams": (
        "ToolHandler",
        "ClaudeHandler",
        "GptHandler",
        "InteractionsHandler",
        "OllamaHandler",
        "ResponsesHandler",
        "StreamContext",
        "StreamingRequest",
        "StreamResult",
        "StreamEvent",
        "ClaudeStreamingProcessor",
        "GptStreamingProcessor",
        "InteractionsStreamingProcessor",
        "OllamaStreamingProcessor",
        "ResponsesStreamingProcessor",
    ),
    "Values": (
        "Outcome",
        "Failure",
        "Call",
        "Tool",
        "Implementation",
        "Kit",
        "ProjectConfig",
        "Resolution",
    ),
}
LAST = "Errors"
"""Every other name: the exceptions."""


def grouped() -> Iterator[tuple[str, list[str]]]:
    """Yield each group with its names; what no group has is an exception, or stands under
    `More`.
    """
    told = {name for names in GROUPS.values() for name in names} | {"__version__"}
    for title, names in GROUPS.items():
        yield title, [name for name in names if name in vespe.__all__]
    rest = [name for name in vespe.__all__ if name not in told]
    yield LAST, [name for name in rest if _is_error(getattr(vespe, name))]
    if more := [name for name in rest if not _is_error(getattr(vespe, name))]:
        yield "More", more


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def signature(value: Any) -> str:
    """Return a signature without the modules of its types, "" where there is none."""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    text = text.replace("'Unpack[ToolDraft]'", "vespe.library.new_tools.ToolDraft")
    text = re.sub(r"\*\*\w+: \*?(?:<class ')?(\w+\.[\w.]+)(?:'>)?", _keywords, text)
    text = re.sub(r"<[^>]*>", "...", text.replace("~", ""))
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    text = re.sub(r"(?<![\w./])(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text)
    text = re.sub(r"\b_(?:T|Given)\b", "T", text).replace("NoneType", "None")
    text = re.sub(r"Union\[((?:[^][]|\[[^]]*\])*)\]", lambda m: m[1].replace(", ", " | "), text)
    return re.sub(r"^\((?:self|cls)(?:: \w+)?(?:, )?(?:/, )?", "(", text)


def _keywords(found: re.Match[str]) -> str:
    """Return the keywords of a TypedDict in the place of `**options: Unpack[...]`."""
    module, _, name = found[1].rpartition(".")
    hints = typing.get_type_hints(getattr(importlib.import_module(module), name))
    shown = (f"{key}: {inspect.formatannotation(hint)} = ..." for key, hint in hints.items())
    star = "" if " *, " in found.string[: found.start()] else "*, "
    return star + ", ".join(shown)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield a class's own public methods and properties that say what they do, in the order of its
    text.
    """
    for name, value in vars(kind).items():
        inner = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if (
            not name.startswith("_")
            and (inspect.isroutine(inner) or isinstance(inner, property))
            and inspect.getdoc(inner)
        ):
            yield name, inner


def _entry(name: str, value: Any) -> Iterator[str]:
    plain = isinstance(value, type) and (
        _is_error(value) or issubclass(value, dict) or getattr(value, "_is_protocol", False)
    )
    yield f"### {name}\n"
    if said := "" if plain else signature(value):
        yield f"`{_async(value)}{name}{said}`\n"
    yield f"{inspect.getdoc(value) or ''}\n"
    if isinstance(value, type) and not _is_error(value):
        for own, member in members(value):
            described = inspect.getdoc(member) or ""
            if isinstance(member, property) or not signature(member):
                yield f"**{name}.{own}**: {described}\n"
            else:
                yield f"**{name}.{own}**`{_async(member)}{signature(member)}`\n\n{described}\n"


def _async(value: Any) -> str:
    return "async " if inspect.iscoroutinefunction(value) else ""


def render() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for title, names in grouped():
        parts.append(f"## {title}\n")
        for name in names:
            parts += _entry(name, getattr(vespe, name))
    parts.append("## vespe.testing\n")
    for name in vespe.testing.__all__:
        parts += _entry(name, getattr(vespe.testing, name))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
