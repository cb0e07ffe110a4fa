"""`mcp_tool`: a tool of an MCP server whose definition a kit has pinned; the client's side of MCP.

Begin with `execution.py`, then `exchange.py`; `sessions.py` keeps sessions open in processes that
live.
"""
