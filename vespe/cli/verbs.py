"""The table of verbs: each one's module and one-line help, so that a help page imports none of them."""

from typing import Any, Final

TOOL: Final = {
    "create": ("tool_create", "Make a tool that runs at once, from a template or from a Python function."),
    "import": ("tool_import", "Make tools from a file of another API's definitions."),
    "list": ("tool_list", "List the tools that a model would see here."),
    "show": ("tool_show", "Show one tool, in Vespe's or a model API's shape."),
    "resolve": ("tool_resolve", "Say which tool a name means here, and why."),
    "run": ("tool_run", "Check the arguments and run a tool."),
    "test": ("tool_test", "Run the examples of tools as tests."),
    "fuzz": ("tool_fuzz", "Run a tool with generated arguments, to find what breaks it."),
    "diff": ("tool_diff", "Say whether a tool's next version breaks its callers."),
    "edit": ("tool_edit", "Open a tool's files in your editor, then check them."),
    "rename": ("tool_rename", "Give a project tool another name."),
    "copy": ("tool_copy", "Copy any tool into the project."),
    "remove": ("tool_remove", "Remove a project tool."),
}
KIT: Final = {
    "list": ("kit_list", "List every kit, its root and whether it is active."),
    "show": ("kit_show", "Show one kit and its tools."),
    "create": ("kit_create", "Make a new kit, ready to push."),
    "pack": ("kit_pack", "Write a kit as one file."),
    "link": ("kit_link", "Find a kit where its author edits it."),
    "unlink": ("kit_unlink", "Take such a link back."),
    "install": ("kit_install", "Install kits from git, a folder or a file, and pin them."),
    "sync": ("kit_sync", "Install exactly what the lock says."),
    "update": ("kit_update", "Move installed kits to another version, once it is shown what changes."),
    "verify": ("kit_verify", "Compare every installed byte with its digest."),
    "remove": ("kit_remove", "Take installed kits out of the lock."),
    "add-mcp": ("kit_add_mcp", "Make a kit of an MCP server's tools, pinned to what you approved."),
    "activate": ("kit_activate", "Make a kit's tools available in this project."),
    "deactivate": ("kit_deactivate", "Take a kit's tools away from this project."),
}
CACHE: Final = {
    "list": ("cache_list", "List the kits in the store and who needs them."),
    "clean": ("cache_clean", "Remove the kits that nobody needs."),
}
AGENT: Final = {
    "run": ("agent_run", "Ask a model once, and run the tools that it calls."),
    "chat": ("agent_chat", "Talk with a model that uses the project's tools."),
    "calls": ("agent_calls", "List, run or deny the calls that wait in a kept conversation."),
    "answers": ("agent_answers", "List or forget your answers on calls in this project."),
}
CONFIG: Final = {
    "get": ("config_get", "Print one setting."),
    "set": ("config_set", "Set one of your own settings."),
    "list": ("config_list", "List the settings."),
}
MCP: Final = {
    "serve": ("mcp_serve", "Show the project's tools to every MCP client."),
    "config": ("mcp_config", "Print or write an MCP client's entry for this project."),
}
VERBS: Final[dict[str, Any]] = {
    "init": ("init", "Make this directory a project."),
    "tool": ("Make, list, resolve, run and test tools.", TOOL),
    "kit": ("Install, list, make and activate kits.", KIT),
    "cache": ("List and clean the store of installed kits.", CACHE),
    "lint": ("lint", "Find what a model's API, a model, or Vespe would stumble over."),
    "agent": ("Let a model use the project's tools.", AGENT),
    "export": ("export", "Print tools in a model API's shape."),
    "mcp": ("Serve tools to MCP clients, and set those up.", MCP),
    "trust": ("trust", "Show what a project would run, then approve it."),
    "untrust": ("untrust", "Take back every approval of a project."),
    "config": ("Read and change your own settings.", CONFIG),
    "log": ("log", "Show this project's calls."),
    "doctor": ("doctor", "Check the installation and the project."),
    "demo": ("demo", "Watch Vespe work in a fresh temporary project."),
    "completion": ("completion", "Print the completion script of a shell."),
}
