"""Recordings of MCP servers: what a server answered once, served again without it."""
