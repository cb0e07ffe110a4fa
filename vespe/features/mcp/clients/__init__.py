"""The files in which MCP clients keep their servers: which there are, and how an entry is written
into one.

Begin with `table.py`.
"""
