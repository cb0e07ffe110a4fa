"""Manage the tools that LLM agents call: one definition, resolved, checked, bounded, for every model API.

`__all__` is the public promise; a name's module is imported when the name is first used (PEP 562).
"""

import importlib
from typing import TYPE_CHECKING, Any

from vespe.defaults import VERSION as __version__

if TYPE_CHECKING:
    from vespe.errors import VespeError
    from vespe.library import Project, create_tool, execute_tool, list_available_tools, load_tool, resolve_tool
    from vespe.models import Implementation, Kit, ProjectConfig, Resolution, Tool
    from vespe.outcomes import Call, Failure, Outcome
    from vespe.registry import ToolImplementation, ToolRegistry
    from vespe.serving import serve_stdio
    from vespe.steps import report_message, report_progress

__all__ = [
    "Call",
    "Failure",
    "Implementation",
    "Kit",
    "Outcome",
    "Project",
    "ProjectConfig",
    "Resolution",
    "Tool",
    "ToolImplementation",
    "ToolRegistry",
    "VespeError",
    "__version__",
    "create_tool",
    "execute_tool",
    "list_available_tools",
    "load_tool",
    "report_message",
    "report_progress",
    "resolve_tool",
    "serve_stdio",
]

_MODULES = {
    **dict.fromkeys(("Implementation", "Kit", "ProjectConfig", "Resolution", "Tool"), "vespe.models"),
    **dict.fromkeys(("Call", "Failure", "Outcome"), "vespe.outcomes"),
    **dict.fromkeys(("Project", "create_tool", "execute_tool", "list_available_tools", "load_tool", "resolve_tool"), "vespe.library"),
    **dict.fromkeys(("ToolImplementation", "ToolRegistry"), "vespe.registry"),
    **dict.fromkeys(("report_message", "report_progress"), "vespe.steps"),
    "VespeError": "vespe.errors",
    "serve_stdio": "vespe.serving",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'vespe' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
