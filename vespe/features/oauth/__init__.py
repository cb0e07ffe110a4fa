"""Logins to remote MCP servers by OAuth: made by a person once, kept in the store of secrets, and
renewed without one.

It uses the core, the feature `secrets`, which has the stores, and `mcp`, among whose commands its
own are. Calls ask `tokens.py` alone, where to begin reading; `flow.py` speaks the protocol, by the
official SDK.
"""
