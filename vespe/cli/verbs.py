"""The table of verbs: each one's module and one-line help, so that a help page imports none of
them.

The core's own verbs are here; those of the features come from their table, where a feature is
there.
"""

from typing import Any, Final

from vespe import features

TOOL: Final[dict[str, Any]] = {
    "create": (
        "vespe.cli.tool.create",
        "Create a tool that already runs, from a template or a Python function.",
    ),
    "list": ("vespe.cli.tool.list", "List the tools that a model would see here."),
    "search": ("vespe.cli.tool.search", "Search tools by what you want to do."),
    "show": ("vespe.cli.tool.show", "Show one tool, in Vespe's or a model API's format."),
    "resolve": ("vespe.cli.tool.resolve", "Show which tool a name resolves to, and why."),
    "expose": ("vespe.cli.tool.expose", "Set which tools models see, and how."),
    "run": ("vespe.cli.tool.run", "Check the arguments and run a tool."),
    "diff": ("vespe.cli.tool.diff", "Find breaking changes between two versions of a tool."),
    "build": ("vespe.cli.tool.build", "Compile a tool's source to WebAssembly."),
    "lock": ("vespe.cli.tool.lock", "Lock the dependencies of a Python tool."),
    "sync": ("vespe.cli.tool.sync", "Update a Python tool from its function."),
    "set": ("vespe.cli.tool.set", "Set keys of a tool's config.json, and show what changed."),
    "edit": ("vespe.cli.tool.edit", "Open a tool's files in your editor, then check them."),
    "rename": ("vespe.cli.tool.rename", "Rename a project tool."),
    "copy": ("vespe.cli.tool.copy", "Copy any tool into the project."),
    "remove": ("vespe.cli.tool.remove", "Remove a project tool."),
}
KIT: Final[dict[str, Any]] = {
    "list": ("vespe.cli.kit.list", "List every kit, its root and whether it is active."),
    "show": ("vespe.cli.kit.show", "Show one kit and its tools."),
    "create": ("vespe.cli.kit.create", "Make a new kit, ready to push."),
    "link": ("vespe.cli.kit.link", "Use a kit directly from the directory where you edit it."),
    "unlink": ("vespe.cli.kit.unlink", "Remove the link to a kit."),
    "install": (
        "vespe.cli.kit.install",
        "Install kits from git, a folder or a file, and pin them.",
    ),
    "sync": ("vespe.cli.kit.sync", "Install exactly what the lock says."),
    "update": (
        "vespe.cli.kit.update",
        "Update installed kits after showing what changes.",
    ),
    "verify": ("vespe.cli.kit.verify", "Compare every installed byte with its digest."),
    "remove": ("vespe.cli.kit.remove", "Remove installed kits."),
    "add-mcp": (
        "vespe.cli.kit.add_mcp",
        "Add the tools of an MCP server as a kit.",
    ),
    "skill": ("vespe.cli.kit.skill", "Read a skill of an MCP server, or list its skills."),
    "activate": ("vespe.cli.kit.activate", "Make a kit's tools available in this project."),
    "deactivate": ("vespe.cli.kit.deactivate", "Deactivate a kit in this project."),
}
CACHE: Final[dict[str, Any]] = {
    "list": (
        "vespe.cli.cache.list",
        "List the kits in the store, the projects that use them, and the environments.",
    ),
    "clean": (
        "vespe.cli.cache.clean",
        "Remove unused kits and environments.",
    ),
}
CONFIG: Final[dict[str, Any]] = {
    "get": ("vespe.cli.config.get", "Print one setting."),
    "set": ("vespe.cli.config.set", "Set one of your own settings."),
    "list": ("vespe.cli.config.list", "List the settings."),
}
VERBS: Final[dict[str, Any]] = {
    "init": ("vespe.cli.init", "Make this directory a project."),
    "tool": ("Create, list, resolve, run and test tools.", TOOL),
    "kit": ("Install, list, create and activate kits.", KIT),
    "cache": ("List and clean installed kits, and environments of Python tools.", CACHE),
    "prepare": (
        "vespe.cli.tool.prepare",
        "Create the Python environments that this project's tools need.",
    ),
    "schema": ("vespe.cli.schema", "Print the JSON Schema of one of Vespe's files."),
    "export": ("vespe.cli.export", "Print tools in a model API's format."),
    "trust": ("vespe.cli.trust", "Review what a project can run, and approve it."),
    "untrust": ("vespe.cli.untrust", "Withdraw all approvals of a project."),
    "config": ("Read and change your own settings.", CONFIG),
    "log": ("vespe.cli.log", "Show the log of this project's calls."),
    "doctor": ("vespe.cli.doctor", "Check the installation and the project."),
    "demo": ("vespe.cli.demo", "Watch Vespe work in a fresh temporary project."),
    "completion": ("vespe.cli.completion", "Print the completion script of a shell."),
    "help": ("vespe.cli.help", "Show help for a command or a topic."),
}
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "Start": ("init", "demo", "doctor"),
    "Tools and kits": ("tool", "kit", "prepare", "export", "schema"),
    "Models and clients": (),
    "What may run": ("trust", "untrust", "log"),
    "Settings": ("config", "cache", "completion", "help"),
}
"""The headings of the first help page; a verb that is in none of them comes last, under one of its
own.
"""
EXAMPLES: Final[dict[str, str]] = {}
"""The last line of a group's help page, where its feature gives one."""
ALIASES: Final[dict[str, dict[str, str]]] = {
    "": {
        "run": "tool run",
        "ls": "tool list",
        "list": "tool list",
        "info": "tool show",
        "show": "tool show",
        "new": "tool create",
        "create": "tool create",
        "rm": "tool remove",
        "remove": "tool remove",
        "add": "kit install",
        "kits": "kit list",
        "version": "--version",
    },
    "tool": {
        "ls": "list",
        "info": "show",
        "new": "create",
        "add": "create",
        "rm": "remove",
        "delete": "remove",
        "mv": "rename",
        "cp": "copy",
    },
    "kit": {
        "ls": "list",
        "info": "show",
        "new": "create",
        "add": "install",
        "rm": "remove",
        "uninstall": "remove",
        "upgrade": "update",
    },
    "cache": {"ls": "list", "rm": "clean", "prune": "clean"},
    "config": {"ls": "list", "show": "get", "unset": "set --unset"},
}
"""Words that people type, by the group in which they type them, and the command that each one
is.
"""
NEVER_SUGGESTED: Final = frozenset({"trust", "untrust", "install", "sync", "update", "add-mcp"})
"""Commands that approve or bring code: nobody who mistypes another word is led to them."""
ABSENT: Final[dict[str, str]] = {}
"""The verbs of features that this copy of Vespe does not have, each with the feature's name."""


def _add(words: str, row: dict[str, str]) -> None:
    """Put a feature's verb into its table, behind the one that it follows."""
    group, _, name = words.rpartition(" ")
    table = VERBS[group][1] if group else VERBS
    entry = (row["module"], row["help"]) if "module" in row else (row["help"], {})
    if example := row.get("example"):
        EXAMPLES[words] = example
    if heading := row.get("heading"):
        GROUPS[heading] = _behind(GROUPS[heading], row.get("after", ""), name)
    before = dict(table)
    table.clear()
    order = _behind(tuple(before), row.get("after", ""), name)
    table.update((known, before.get(known, entry)) for known in order)


def _behind(names: tuple[str, ...], other: str, name: str) -> tuple[str, ...]:
    place = names.index(other) + 1 if other in names else len(names)
    return (*names[:place], name, *names[place:])


def _add_features() -> None:
    for name, feature in features.FEATURES.items():
        if not features.is_present(name):
            ABSENT.update(dict.fromkeys(feature["verbs"], features.missing(name)))
            continue
        for words, row in feature["verbs"].items():
            _add(words, row)
        for group, words in feature["aliases"].items():
            ALIASES.setdefault(group, {}).update(words)


_add_features()
