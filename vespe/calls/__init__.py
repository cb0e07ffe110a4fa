"""The one call path: resolve, trust, check, run, check. Every door (command, library, agent, MCP)
goes through it.

Uses `projects` and what lies below it.
Begin with `path.py`; `vespe/types/` has a package for each type of tool.
"""
