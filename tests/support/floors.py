"""The floors of the package: one table, which `tests/repository/test_floors.py` holds and
`docs/architecture.svg` is drawn from.
"""

FLOORS = (
    "errors defaults models lazy records features",
    "http processes",
    "files",
    "documents git",
    "schemas",
    "tool_types",
    "tools",
    "trust",
    "kits",
    "projects",
    "calls",
    "types",
    "adapters library",
    "cli",
    "features/",
    "agents testing __init__",
    "__main__",
)
"""What stands directly in vespe/, from the ground up: each imports only from floors below its
own.
"""
