"""The types of tools, a package each: what a tool of that type is, and how it runs.

`vespe/tool_types.py` has the table of them, and imports each when it is asked for.
"""
