"""The features of Vespe: one literal table, which is all that start-up reads of them.

A feature is a folder beside this file with its verbs, settings, data and pages next to its code. It
uses the core (everything outside this folder) and the features that it needs. The core reaches a
feature only by the names in this table, so that a copy of the package without the folder still
lists, resolves and runs tools: the feature's verbs are then unknown words, and its public names
raise MissingFeature.

To read a feature, begin with the module that its row calls `begin`.
"""

import importlib
import os
from typing import Any, Final

_HERE: Final = os.path.dirname(os.path.abspath(__file__))

FEATURES: Final[dict[str, dict[str, Any]]] = {
    "lint": {
        "begin": "audit.py",
        "needs": (),
        "settings": {},
        "verbs": {
            "lint": {
                "module": "vespe.features.lint.verbs.lint",
                "help": "Check tool definitions for problems.",
                "heading": "Tools and kits",
                "after": "prepare",
            },
        },
        "aliases": {},
    },
    "agents": {
        "begin": "loop.py",
        "needs": (),
        "settings": {"agent": "settings", "providers": "settings"},
        "schemas": ("script",),
        "verbs": {
            "agent": {
                "help": "Run a model that can call the project's tools.",
                "heading": "Models and clients",
            },
            "agent run": {
                "module": "vespe.features.agents.verbs.run",
                "help": "Send a model one prompt and run the tools it calls.",
            },
            "agent chat": {
                "module": "vespe.features.agents.verbs.chat",
                "help": "Chat with a model that can call the project's tools.",
            },
            "agent calls": {
                "module": "vespe.features.agents.verbs.calls",
                "help": "List, approve or deny the pending calls of a saved conversation.",
            },
            "agent answers": {
                "module": "vespe.features.agents.verbs.answers",
                "help": "List or forget your earlier approvals and denials in this project.",
            },
        },
        "aliases": {"": {"chat": "agent chat", "ask": "agent run"}, "agent": {"ask": "run"}},
    },
    "mcp": {
        "begin": "server/protocol.py",
        "needs": (),
        "checks": "vespe.features.mcp.doctor",
        "settings": {},
        "verbs": {
            "mcp": {
                "help": "Serve tools to MCP clients and configure the clients.",
                "heading": "Models and clients",
                "after": "agent",
            },
            "mcp serve": {
                "module": "vespe.features.mcp.verbs.serve",
                "help": "Serve the project's tools to MCP clients.",
            },
            "mcp config": {
                "module": "vespe.features.mcp.verbs.config",
                "help": "Print or write an MCP client's entry for this project.",
            },
            "mcp wrap": {
                "module": "vespe.features.mcp.verbs.wrap",
                "help": "Run an MCP server in Vespe's sandbox.",
            },
            "connect": {
                "module": "vespe.features.mcp.verbs.connect",
                "help": "Connect an MCP client to this project's tools, and test the connection.",
                "heading": "Start",
                "after": "demo",
            },
        },
        "aliases": {"": {"serve": "mcp serve"}, "mcp": {"run": "serve", "start": "serve"}},
    },
    "imports": {
        "begin": "made.py",
        "needs": (),
        "settings": {},
        "verbs": {
            "tool import": {
                "module": "vespe.features.imports.verbs.import_tools",
                "help": "Create project tools from definitions in another format.",
                "after": "create",
            },
            "kit import": {
                "module": "vespe.features.imports.verbs.import_kit",
                "help": "Create a kit from an API description, a manual or a directory of tools.",
                "after": "remove",
            },
        },
        "aliases": {"": {"import": "tool import"}},
    },
    "examples": {
        "begin": "examples.py",
        "needs": (),
        "settings": {},
        "verbs": {
            "tool test": {
                "module": "vespe.features.examples.verbs.test",
                "help": "Run the examples of tools as tests.",
                "after": "run",
            },
            "tool observe": {
                "module": "vespe.features.examples.verbs.observe",
                "help": "Find the minimal permissions that a tool's examples need.",
                "after": "test",
            },
            "tool fuzz": {
                "module": "vespe.features.examples.verbs.fuzz",
                "help": "Run a tool with generated arguments to find failures.",
                "after": "observe",
            },
        },
        "aliases": {"": {"test": "tool test"}},
    },
    "batch": {
        "begin": "local.py",
        "needs": (),
        "settings": {},
        "verbs": {
            "batch": {
                "module": "vespe.features.batch.verbs.run",
                "help": "Run one tool on many inputs.",
                "heading": "Tools and kits",
                "after": "kit",
            },
        },
        "aliases": {},
    },
    "tasks": {
        "begin": "store.py",
        "needs": (),
        "settings": {},
        "verbs": {
            "task": {
                "help": "List, show and cancel calls that run in the background.",
                "heading": "Tools and kits",
                "after": "batch",
            },
            "task list": {
                "module": "vespe.features.tasks.verbs.list",
                "help": "List the tasks of this project.",
            },
            "task show": {
                "module": "vespe.features.tasks.verbs.show",
                "help": "Show a task and, when it is finished, its result.",
            },
            "task cancel": {
                "module": "vespe.features.tasks.verbs.cancel",
                "help": "Cancel a task and end its call.",
            },
        },
        "aliases": {
            "": {"tasks": "task list"},
            "task": {"ls": "list", "get": "show", "stop": "cancel", "kill": "cancel"},
        },
    },
    "packing": {
        "begin": "forms.py",
        "needs": ("lint",),
        "settings": {},
        "verbs": {
            "kit pack": {
                "module": "vespe.features.packing.verbs.pack",
                "help": "Package a kit as one file, a skill, a plugin or a bundle.",
                "after": "create",
            },
        },
        "aliases": {},
    },
    "releases": {
        "begin": "release.py",
        "needs": ("lint", "examples"),
        "settings": {},
        "verbs": {
            "kit release": {
                "module": "vespe.features.releases.verbs.release",
                "help": "Release a new version of your own kit.",
                "after": "create",
            },
        },
        "aliases": {},
    },
    "inspector": {
        "begin": "site.py",
        "needs": ("agents", "lint"),
        "settings": {},
        "verbs": {
            "inspect": {
                "module": "vespe.features.inspector.verbs.inspect",
                "help": "Open the project in a browser.",
                "heading": "What may run",
                "after": "log",
            },
        },
        "aliases": {},
    },
    "secrets": {
        "begin": "references.py",
        "needs": (),
        "checks": "vespe.features.secrets.doctor",
        "settings": {},
        "verbs": {
            "secret": {
                "help": "Store, list and check secrets.",
                "example": "vespe secret set GITHUB_TOKEN && vespe secret check",
                "heading": "Settings",
                "after": "config",
            },
            "secret set": {
                "module": "vespe.features.secrets.verbs.set",
                "help": "Store a secret in the keyring or a private file.",
            },
            "secret get": {
                "module": "vespe.features.secrets.verbs.get",
                "help": "Print the value of one secret.",
            },
            "secret list": {
                "module": "vespe.features.secrets.verbs.list",
                "help": "List the secrets of your configuration and of the tools here.",
            },
            "secret check": {
                "module": "vespe.features.secrets.verbs.check",
                "help": "Check that every secret the tools need is available.",
            },
            "secret move": {
                "module": "vespe.features.secrets.verbs.move",
                "help": "Move secrets from your configuration to another store.",
            },
            "secret remove": {
                "module": "vespe.features.secrets.verbs.remove",
                "help": "Remove a secret from your configuration and its store.",
            },
        },
        "aliases": {
            "": {"secrets": "secret list"},
            "secret": {
                "ls": "list",
                "add": "set",
                "show": "get",
                "rm": "remove",
                "delete": "remove",
            },
        },
    },
    "programs": {
        "begin": "running.py",
        "needs": (),
        "settings": {},
        "verbs": {
            "program": {
                "help": "Run Python programs whose functions are the project's tools.",
                "heading": "Tools and kits",
                "after": "batch",
            },
            "program run": {
                "module": "vespe.features.programs.verbs.run",
                "help": "Check a program, then run it. Its functions are the project's tools.",
            },
            "program check": {
                "module": "vespe.features.programs.verbs.check",
                "help": "Check a program without running it.",
            },
        },
        "aliases": {},
    },
    "oauth": {
        "begin": "tokens.py",
        "needs": ("mcp", "secrets"),
        "checks": "vespe.features.oauth.doctor",
        "settings": {"mcp": "settings"},
        "verbs": {
            "mcp login": {
                "module": "vespe.features.oauth.verbs.login",
                "help": "Log in to the remote MCP server of a kit.",
            },
            "mcp logout": {
                "module": "vespe.features.oauth.verbs.logout",
                "help": "Remove the tokens of a login to an MCP server.",
            },
            "mcp status": {
                "module": "vespe.features.oauth.verbs.status",
                "help": "List your logins to MCP servers.",
            },
        },
        "aliases": {},
    },
    "escapes": {
        "begin": "rows.py",
        "needs": (),
        "settings": {},
        "verbs": {},
        "aliases": {},
    },
    "testing": {
        "begin": "plugin.py",
        "needs": ("agents", "examples"),
        "settings": {},
        "verbs": {},
        "aliases": {},
    },
}
"""Each feature by the name of its folder.

`begin` is the module to read first; `needs` are other features that it imports; `settings` are keys
of the user's configuration, each with the module that checks its value; `schemas` are the published
schemas in its folder `data`; `checks` is the module whose CHECKS `vespe doctor` runs; `verbs` are
commands by the words that people type, each with its module (a group has none), its one-line help,
and, for the help page, its heading and the command that it follows; `aliases` are other words for
them, by the group in which they are typed.
"""


def settings() -> dict[str, tuple[str, str]]:
    """Return the keys of the user's configuration that features own, with who checks each."""
    return {
        key: (name, module)
        for name, feature in FEATURES.items()
        if feature["settings"] and is_present(name)
        for key, module in feature["settings"].items()
    }


def is_present(name: str) -> bool:
    """Say whether a feature's folder is there, and those of the features that it needs."""
    is_here = os.path.isfile(os.path.join(_HERE, name, "__init__.py"))
    return is_here and all(map(is_present, FEATURES[name]["needs"]))


def missing(name: str) -> str:
    """Return the feature whose folder is missing where `name` is asked for: its own or a need's."""
    return next((need for need in FEATURES[name]["needs"] if not is_present(need)), name)


def load(name: str, module: str = "") -> Any:
    """Import a module of a feature. Raises MissingFeature where its folder is not there."""
    if not is_present(name):
        from vespe.errors import MissingFeature

        raise MissingFeature(missing(name))
    return importlib.import_module(f"vespe.features.{name}{module and '.'}{module}")
