"""The types of tools: one literal table, and the protocol of the ways to run a tool: a plan to
show, and one call with checked inputs.

What runs a type is imported when the first tool of that type runs.
"""

import importlib
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Protocol

from vespe.models import Execution, JsonObject, Tool
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.processes.sandbox.held import Policy
    from vespe.processes.workers import Workers

TABLE: Final = {
    "python_script": ("vespe.types.python_script.execution", "PythonScript"),
    "shell_command": ("vespe.types.shell_command.execution", "ShellCommand"),
    "http_request": ("vespe.types.http_request.execution", "HttpRequest"),
    "mcp_tool": ("vespe.types.mcp_tool.execution", "McpTool"),
    "wasm": ("vespe.types.wasm.execution", "WasmModule"),
    "rust_function": ("vespe.types.wasm.execution", "RustFunction"),
}
"""The module and the class of each `type` of `implementation_details`."""


class Sessions(Protocol):
    """Sessions with MCP servers that are kept between calls (`vespe.types.mcp_tool.sessions`)."""

    def ask(
        self, server: Any, request: JsonObject, surroundings: Any, *, name: str, kit: str
    ) -> Any:
        """Make a call in the session with a server."""
        ...

    def enter(self, key: Hashable, make: Callable[[], AbstractContextManager[str]]) -> str:
        """Return what the context of a key gave: entered once, and left with the sessions."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a call gives to an executor besides the tool and its inputs.

    `directory` is where the tool's approved bytes are: its own directory, or a private copy of it.
    `home` is the project itself, where `project_root` is another directory that the tool is to
    start in. `environment` is the whole environment of the child: the allow-list and the declared
    secrets. `secrets` holds the same secrets by name, for `${env:NAME}` in `args`. `timeout_s` is
    the deadline in seconds from now. `allow_hosts` are the private hosts that the user's own
    configuration lets HTTP tools reach. `progress` is told what takes long; `sessions` are those
    with MCP servers that are kept between calls, and `workers` the interpreters; None where each
    call has its own. `sandbox` is what the tool's process is held to, and whatever else it starts.
    """

    project_root: str
    directory: str
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float
    allow_hosts: tuple[str, ...] = ()
    cancel: threading.Event | None = None
    progress: Callable[[str], None] | None = None
    sessions: "Sessions | None" = None
    sandbox: "Policy | None" = None
    home: str = ""
    workers: "Workers | None" = None


class Executor(Protocol):
    """One way to run a tool; members are modules-worth of code in one class without state between
    calls.
    """

    type: str

    def plan(self, tool: Tool, inputs: JsonObject, context: Context) -> JsonObject:
        """Say what would run, as data for `--dry-run` and `vespe trust`: argv, method and URL, or
        script and function.

        Raises InvalidArguments where a value does not fit its slot. Secrets stand as `${env:NAME}`.
        """
        ...

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Run the tool once with inputs that its schema has accepted and whose defaults are filled
        in.

        Raises InvalidArguments (before anything starts), ToolExecutionError, OutputTooLarge,
        TimedOut, Interrupted, AddressRefused. Returns the raw result: its schema and its size are
        the caller's to check.
        """
        ...


def wants_to_be_kept(tool: Tool, context: Context) -> bool:
    """Whether a tool asks for a process that lives on from call to call, and somebody here can keep
    one.
    """
    return context.workers is not None and bool(tool.document.get("limits", {}).get("worker"))


class Executors(Mapping[str, Executor]):
    """The table as executors: each is made once, at its first use, since a call needs only its
    own.
    """

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
