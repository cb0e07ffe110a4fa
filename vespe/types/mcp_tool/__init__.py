"""`mcp_tool`: a tool of an MCP server whose definition a kit has pinned; the client's side of MCP.

Begin with `execution.py`, then `exchange.py`; `sessions.py` keeps sessions open in processes that
live.
"""

from typing import Final

from vespe.tool_types import Executor, ToolType


class McpTool:
    """`mcp_tool` as a type of tools."""

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.mcp_tool import execution

        return execution.EXECUTOR


MCP_TOOL: Final[ToolType] = McpTool()
