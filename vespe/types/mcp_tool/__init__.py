"""`mcp_tool`: a tool of an MCP server whose definition a kit has pinned; the client's side of MCP.

Begin with `execution.py`, then `exchange.py`; `sessions.py` keeps sessions open in processes that
live.
"""

import sys
from typing import TYPE_CHECKING, Any, Final, Literal

from vespe.errors import UsageError
from vespe.tool_types import Executor, ToolType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vespe.models import Implementation, JsonObject, JsonValue
    from vespe.schemas.forms import DetailsForm
    from vespe.tool_types import Compiled, NewTool, Remark


class McpTool:
    """`mcp_tool` as a type of tools."""

    files: tuple[tuple[str, str], ...] = ()
    runs_own_file: bool = False
    is_python: bool = False
    compiled: "Compiled | None" = None
    in_allow_types: bool = False
    network: Literal["none", "process", "own"] = "own"
    keeps_session: bool = True
    slots: tuple[str, ...] = ()
    has_template: bool = False
    secret_keys: tuple[str, ...] = ("args",)

    def form(self) -> "DetailsForm":
        """Return what they may be."""
        from vespe.types.mcp_tool import form

        return form.FORM

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.mcp_tool import execution

        return execution.EXECUTOR

    def runs(self, details: "JsonObject") -> "list[JsonValue]":
        """Return what starts the server, or where it listens, and the tool of it."""
        args = details.get("args")
        args = args if isinstance(args, dict) else {}
        command = args.get("command")
        server = command if isinstance(command, list) else [args.get("url")]
        return [*server, details.get("entrypoint")]

    def address(self, details: "JsonObject") -> tuple[str, str] | None:
        """Return where the server listens."""
        args = details.get("args")
        url = args.get("url") if isinstance(args, dict) else None
        return ("/args/url", url) if isinstance(url, str) else None

    def effects(self, implementation: "Implementation") -> list[tuple[str, str]]:
        """Return none: what it does, it says itself."""
        return []

    def starts_process(self, args: "JsonObject") -> bool:
        """Say whether the server is a process that is started here."""
        return bool(args.get("command"))

    def destroys(self, details: "JsonObject") -> str | None:
        """Return none: nothing says it."""
        return None

    def lint(self, document: "JsonObject", inputs: "JsonValue") -> "Iterable[Remark]":
        """Return what is to be said of this type alone: nothing."""
        return ()

    def begin(
        self, type: str, name: str, *, given: "Mapping[str, Any]", directory: str
    ) -> "NewTool":
        """Refuse: `vespe kit add-mcp` makes these."""
        raise UsageError(f"no tool of type {type} begins with a template")

    def programs(self, implementation: "Implementation", directory: str) -> tuple[str, ...]:
        """Return the interpreter, which starts the server, and what the server is started with."""
        command = implementation.args.get("command")
        return (sys.executable, *(command[:1] if isinstance(command, list) else ()))


MCP_TOOL: Final[ToolType] = McpTool()
