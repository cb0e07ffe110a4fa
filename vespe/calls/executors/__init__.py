"""The ways to run a tool, one literal table; an executor is imported when the first tool of its type runs."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Final

from vespe.calls.executors.base import Executor

TABLE: Final = {
    "python_script": ("vespe.calls.executors.python_script", "PythonScript"),
    "shell_command": ("vespe.calls.executors.shell_command", "ShellCommand"),
    "http_request": ("vespe.calls.executors.http_request", "HttpRequest"),
    "mcp_tool": ("vespe.calls.executors.mcp_tool", "McpTool"),
    "wasm": ("vespe.calls.executors.wasm.module", "WasmModule"),
    "rust_function": ("vespe.calls.executors.wasm.module", "RustFunction"),
}
"""The module and the class of each `type` of `implementation_details`."""


class Executors(Mapping[str, Executor]):
    """The table as executors: each is made once, at its first use, since a call needs only its own."""

    def __init__(self) -> None:
        self._made: dict[str, Executor] = {}

    def __getitem__(self, type: str) -> Executor:
        if type not in self._made:
            module, name = TABLE[type]
            self._made[type] = getattr(importlib.import_module(module), name)()
        return self._made[type]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLE)

    def __len__(self) -> int:
        return len(TABLE)


EXECUTORS: Final[Mapping[str, Executor]] = Executors()
"""Every executor by the `type` of `implementation_details`."""
