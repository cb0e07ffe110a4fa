"""A project: `.vespe/`, the user's configuration, scopes, and the resolver from a name to one tool.

Uses `kits`, `trust` and what lies below them.
Begin with `resolver.py`; `workspace.py` is a project that stays open.
"""
