"""The floors of the package: one table, which `tests/test_floors.py` holds and `docs/architecture.svg` is drawn from."""

FLOORS = (
    "errors defaults models lazy moved records",
    "http processes",
    "files",
    "documents git",
    "schemas",
    "tools",
    "trust",
    "kits",
    "projects",
    "calls",
    "adapters library",
    "agents lint mcp_server",
    "cli testing __init__",
    "__main__",
)
"""What stands directly in vespe/, from the ground up: each imports only from floors below its
own.
"""
