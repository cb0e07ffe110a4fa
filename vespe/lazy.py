"""The third lazy table: modules that are imported at first use, so that start-up does not pay."""

import importlib
from types import ModuleType
from typing import Any, Final

HEAVY: Final = (
    "jsonschema",
    "jsonschema_rs",
    "referencing",
    "yaml",
    "platformdirs",
    "httpcore2",
    "asyncio",
    "concurrent",
    "ctypes",
    "email",
    "difflib",
    "readline",
    "rich",
    "shutil",
    "tempfile",
    "ipaddress",
    "socket",
    "ssl",
    "traceback",
    "urllib",
    "tomllib",
    "hypothesis",
    "hypothesis_jsonschema",
    "tiktoken",
    "vespe.cli.report",
    "vespe.cli.tool.size",
    "vespe.calls.executors.mcp.channel",
    "vespe.documents.redaction",
    "vespe.kits.lock",
    "vespe.kits.review",
    "vespe.kits.store",
    "vespe.kits.sync",
    "vespe.mcp_server.http_gate",
    "vespe.mcp_server.http_server",
    "vespe.adapters.openai_strict",
    "vespe.kits.archives",
    "vespe.kits.review",
    "vespe.cli.kit.activation",
)
"""What may be deferred; the floors test reads this table and `deferred(...)` calls as imports of their owner."""


FIRST: Final = {"jsonschema_rs": ("decimal", "email.utils")}
"""What a module written in Rust imports by itself: there Ctrl-C would be a panic, here it is a KeyboardInterrupt."""


class DeferredModule(ModuleType):
    """Stands for a module and imports it when its first attribute is read."""

    def __getattr__(self, name: str) -> Any:
        for needed in FIRST.get(self.__name__, ()):
            importlib.import_module(needed)
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value


def deferred(name: str) -> Any:
    """Give a stand-in for the module `name`, one of HEAVY (or a submodule of one), imported at first use."""
    if name not in HEAVY and name.partition(".")[0] not in HEAVY:
        raise ValueError(f"{name} is not in the table of deferred modules")
    return DeferredModule(name)
