"""The types of tools: one literal table, and the protocol that says what a type is.

Every question about a type is a member of ToolType, and `type_of` is how to ask it: nothing else is
decided by a type's name. `vespe/types/` has the types themselves.
"""

import functools
import importlib
import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Protocol

from vespe.models import Execution, JsonObject, Tool
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.processes.sandbox.held import Policy
    from vespe.processes.workers import Workers

TYPES: Final = {
    "python_script": "vespe.types.python_script.PYTHON_SCRIPT",
    "shell_command": "vespe.types.shell_command.SHELL_COMMAND",
    "http_request": "vespe.types.http_request.HTTP_REQUEST",
    "mcp_tool": "vespe.types.mcp_tool.MCP_TOOL",
    "wasm": "vespe.types.wasm.WASM",
    "rust_function": "vespe.types.wasm.RUST_FUNCTION",
}
"""Where the ToolType of each `type` of `implementation_details` stands: a module, and a name in it.
This table is the only way from here up to `vespe/types/`.
"""


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
    """The way to run the tools of a type: no state of a call outlives it."""

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


class ToolType(Protocol):
    """All that Vespe knows of one type of tools: a type is the class that has these members, and
    its row in TYPES.

    No member has a default, so that mypy names what a type leaves out. The module that TYPES names
    is imported by every listing: it imports at its top only what is loaded then anyway, and the
    rest inside the members that need it.
    """

    def executor(self) -> Executor:
        """Return what runs and plans the calls; what it needs is imported here."""
        ...


@functools.cache
def type_of(name: str) -> ToolType:
    """Return the type of that name; raises KeyError where there is none."""
    module, _, attribute = TYPES[name].rpartition(".")
    found: ToolType = getattr(importlib.import_module(module), attribute)
    return found
