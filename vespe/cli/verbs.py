"""The table of verbs: each one's module and one-line help, so that a help page imports none of them."""

from typing import Any, Final

TOOL: Final = {
    "create": (
        "tool.create",
        "Make a tool that runs at once, from a template or from a Python function.",
    ),
    "import": ("tool.import_tools", "Make tools from a file of another API's definitions."),
    "list": ("tool.list", "List the tools that a model would see here."),
    "search": ("tool.search", "Find the tools that fit what somebody wants to do."),
    "show": ("tool.show", "Show one tool, in Vespe's or a model API's shape."),
    "resolve": ("tool.resolve", "Say which tool a name means here, and why."),
    "expose": ("tool.expose", "Say what models see of a tool here, and when."),
    "run": ("tool.run", "Check the arguments and run a tool."),
    "test": ("tool.test", "Run the examples of tools as tests."),
    "observe": ("tool.observe", "Find the least that a tool's examples need, and state it."),
    "fuzz": ("tool.fuzz", "Run a tool with generated arguments, to find what breaks it."),
    "diff": ("tool.diff", "Say whether a tool's next version breaks its callers."),
    "build": ("tool.build", "Compile the source of tools to the modules that run."),
    "lock": ("tool.lock", "Write down which files a Python tool's packages are."),
    "sync": ("tool.sync", "Derive the schema of a Python tool again from its function."),
    "edit": ("tool.edit", "Open a tool's files in your editor, then check them."),
    "rename": ("tool.rename", "Rename a project tool."),
    "copy": ("tool.copy", "Copy any tool into the project."),
    "remove": ("tool.remove", "Remove a project tool."),
}
KIT: Final = {
    "list": ("kit.list", "List every kit, its root and whether it is active."),
    "show": ("kit.show", "Show one kit and its tools."),
    "create": ("kit.create", "Make a new kit, ready to push."),
    "pack": ("kit.pack", "Write a kit as one file."),
    "link": ("kit.link", "Find a kit where its author edits it."),
    "unlink": ("kit.unlink", "Take such a link back."),
    "install": ("kit.install", "Install kits from git, a folder or a file, and pin them."),
    "sync": ("kit.sync", "Install exactly what the lock says."),
    "update": (
        "kit.update",
        "Move installed kits to another version, once it is shown what changes.",
    ),
    "verify": ("kit.verify", "Compare every installed byte with its digest."),
    "remove": ("kit.remove", "Take installed kits out of the lock."),
    "import": (
        "kit.import_kit",
        "Make a kit of an API's description, a manual or a directory of tools.",
    ),
    "add-mcp": ("kit.add_mcp", "Make a kit of an MCP server's tools, pinned to what you approved."),
    "activate": ("kit.activate", "Make a kit's tools available in this project."),
    "deactivate": ("kit.deactivate", "Take a kit's tools away from this project."),
}
CACHE: Final = {
    "list": ("cache.list", "List the kits in the store with who needs them, and the environments."),
    "clean": ("cache.clean", "Remove kits that nobody needs, and environments that nobody used."),
}
AGENT: Final = {
    "run": ("agent.run", "Ask a model once, and run the tools that it calls."),
    "chat": ("agent.chat", "Talk with a model that uses the project's tools."),
    "calls": ("agent.calls", "List, run or deny the calls that wait in a kept conversation."),
    "answers": ("agent.answers", "List or forget your answers on calls in this project."),
}
CONFIG: Final = {
    "get": ("config.get", "Print one setting."),
    "set": ("config.set", "Set one of your own settings."),
    "list": ("config.list", "List the settings."),
}
MCP: Final = {
    "serve": ("mcp.serve", "Show the project's tools to every MCP client."),
    "config": ("mcp.config", "Print or write an MCP client's entry for this project."),
    "wrap": ("mcp.wrap", "Run anyone's MCP server within Vespe's bounds and sandbox."),
}
VERBS: Final[dict[str, Any]] = {
    "init": ("init", "Make this directory a project."),
    "tool": ("Make, list, resolve, run and test tools.", TOOL),
    "kit": ("Install, list, make and activate kits.", KIT),
    "cache": ("List and clean installed kits, and environments of Python tools.", CACHE),
    "batch": ("batch.run", "Call one tool with many inputs, from a file to a file."),
    "prepare": ("tool.prepare", "Make every environment that the tools here need."),
    "lint": ("lint", "Find what a model's API, a model, or Vespe would stumble over."),
    "agent": ("Let a model use the project's tools.", AGENT),
    "schema": ("schema", "Print the JSON Schema of one of Vespe's files."),
    "export": ("export", "Print tools in a model API's shape."),
    "mcp": ("Serve tools to MCP clients, and set those up.", MCP),
    "connect": ("connect", "Give an MCP client this project's tools, and try it."),
    "trust": ("trust", "Show what a project would run, then approve it."),
    "untrust": ("untrust", "Take back every approval of a project."),
    "config": ("Read and change your own settings.", CONFIG),
    "log": ("log", "Show this project's calls."),
    "inspect": ("inspect.serve", "Look at the project in a browser."),
    "doctor": ("doctor", "Check the installation and the project."),
    "demo": ("demo", "Watch Vespe work in a fresh temporary project."),
    "completion": ("completion", "Print the completion script of a shell."),
    "help": ("help", "Show the help of a command, or of a topic."),
}
GROUPS: Final = {
    "Start": ("init", "demo", "connect", "doctor"),
    "Tools and kits": ("tool", "kit", "batch", "prepare", "lint", "export", "schema"),
    "Models and clients": ("agent", "mcp"),
    "What may run": ("trust", "untrust", "log", "inspect"),
    "Settings": ("config", "cache", "completion", "help"),
}
"""The headings of the first help page; a verb that is in none of them comes last, under one of its
own.
"""
ALIASES: Final = {
    "": {
        "run": "tool run",
        "ls": "tool list",
        "list": "tool list",
        "info": "tool show",
        "show": "tool show",
        "new": "tool create",
        "create": "tool create",
        "import": "tool import",
        "test": "tool test",
        "rm": "tool remove",
        "remove": "tool remove",
        "add": "kit install",
        "kits": "kit list",
        "serve": "mcp serve",
        "chat": "agent chat",
        "ask": "agent run",
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
    "config": {"ls": "list", "show": "get"},
    "agent": {"ask": "run"},
    "mcp": {"run": "serve", "start": "serve"},
}
"""Words that people type, by the group in which they type them, and the command that each one
is.
"""
NEVER_SUGGESTED: Final = frozenset({"trust", "untrust", "install", "sync", "update", "add-mcp"})
"""Commands that approve or bring code: nobody who mistypes another word is led to them."""
