import sys


def own_python() -> bool:
    """Say whether this runs in the project's own environment."""
    return sys.prefix.endswith(".venv")
