"""What a client lets the server that it starts see of its environment, and what the server needs of
it.

Some clients pass on all of their own environment, some a short list, and a program that is started
from a desktop never had what a shell sets. So the short list is what an entry is checked with.
"""

import os
from collections.abc import Mapping
from typing import Final

from vespe import defaults
from vespe.files import locations
from vespe.models import JsonObject

PASSED: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""What every client passes on: the default of the MCP SDKs."""


def passed(environ: Mapping[str, str], entry: JsonObject) -> dict[str, str]:
    """Return the environment that a server has at the least: the short list, and what its entry
    says.
    """
    said = entry.get("env")
    return {name: environ[name] for name in PASSED if name in environ} | (
        {name: value for name, value in said.items() if isinstance(value, str)}
        if isinstance(said, dict)
        else {}
    )


def needed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that say where this user's Vespe has its files and its kits, where that
    is another place than without them.
    """
    found = locations.moved_by(environ)
    if any(os.path.isabs(path) for path in environ.get(defaults.ENV_KITS_PATH, "").split(":")):
        found[defaults.ENV_KITS_PATH] = environ[defaults.ENV_KITS_PATH]
    return found


def granted(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that trusts projects: it is for one environment, and never written."""
    named = environ.get(defaults.ENV_TRUSTED_PATHS)
    return {defaults.ENV_TRUSTED_PATHS: named} if named else {}
