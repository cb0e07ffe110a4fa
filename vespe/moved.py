"""Modules under the names that earlier versions taught: found with a DeprecationWarning that says the new name."""

import importlib.util
import warnings
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from vespe.lazy import LazyModule

NAMES: Final = {
    "vespe.confined": "vespe.files.confined",
    "vespe.conversation": "vespe.agents",
    "vespe.conversation.agents": "vespe.agents.agent",
    "vespe.conversation.call_policy": "vespe.calls.policy",
    "vespe.conversation.events": "vespe.agents.events",
    "vespe.conversation.handlers": "vespe.agents.handlers",
    "vespe.conversation.limits": "vespe.agents.limits",
    "vespe.conversation.loop": "vespe.agents.loop",
    "vespe.conversation.project_policy": "vespe.calls.policy",
    "vespe.conversation.transcripts": "vespe.agents.transcripts",
    "vespe.file_tools": "vespe.files.confined_views",
    "vespe.git_changes": "vespe.git.status",
    "vespe.git_commit": "vespe.git.commit",
    "vespe.mcp_sessions": "vespe.calls.executors.mcp.sessions",
    "vespe.providers": "vespe.agents.providers",
    "vespe.providers.anthropic": "vespe.agents.providers.anthropic",
    "vespe.providers.base": "vespe.agents.providers.base",
    "vespe.providers.ollama": "vespe.agents.providers.ollama",
    "vespe.providers.openai": "vespe.agents.providers.openai",
    "vespe.providers.retries": "vespe.agents.providers.retries",
    "vespe.providers.simulated": "vespe.agents.providers.simulated",
    "vespe.recordings": "vespe.agents.recordings",
    "vespe.registry": "vespe.calls.registry",
    "vespe.strict_mode": "vespe.adapters.openai_strict",
    "vespe.text_search": "vespe.files.confined_search",
}
"""By the old name, the new one."""


class _Loader:
    """Makes the module that stands for another; its attributes are the other's own."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        module = LazyModule(NAMES[spec.name])
        module.__path__ = []  # nothing beneath an old name is found a second time by its file
        return module

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Everything is there already."""


def spec_of(name: str) -> ModuleSpec | None:
    """Return how a module of an old name is made, and warn that it has moved; None for any other name."""
    if name not in NAMES:
        return None
    warnings.warn(f"{name} has moved: import {NAMES[name]}", DeprecationWarning, stacklevel=3)
    return importlib.util.spec_from_loader(name, _Loader(), is_package=True)  # type: ignore[arg-type]  # a loader by its two methods
