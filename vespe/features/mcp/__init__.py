"""MCP: the project's tools served to clients, and the clients set up.

Uses the core; no other feature. Begin with `server/protocol.py`.
"""
