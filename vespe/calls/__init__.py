"""The one call path: resolve, trust, check, run, check. Every door (command, library, agent, MCP) goes through it.

Uses `projects` and what lies below it.
Begin with `path.py`; `executors/` has one file for each type of tool.
"""
