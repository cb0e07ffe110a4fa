"""The MCP clients that `vespe mcp config` knows: where each keeps its servers, under which key, and
how an entry looks.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final

from vespe.errors import UsageError
from vespe.models import JsonObject
from vespe.records import dataclass

Places = Mapping[str, str]
_FOLDER: Final = "${workspaceFolder}"
WORKSPACES: Final = (".", _FOLDER)
"""How entries that hold on every machine name the project's directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClient:
    """One client. `key` is the member that holds the servers by name; `extra` stands in each entry
    before the command.

    `project_file` is relative to the project's root, where the client reads one; `user_file`
    returns the user's own. `workspace` is the project's directory in words that hold on every
    machine; `then` is what a person does next, and `then_anywhere` what they do after an entry in
    their own file, which holds in every directory. `shows_structured` says that the client gives
    its model the structured content of a result and not the text beside it.
    """

    name: str
    title: str
    key: str = "mcpServers"
    extra: JsonObject = field(default_factory=dict)
    project_file: str | None = None
    user_file: Callable[[Places], str] | None = None
    prefers_project: bool = True
    toml: bool = False
    shows_structured: bool = False
    workspace: str = "."
    then: str = ""
    then_anywhere: str = ""

    def path(self, root: str, *, scope: str | None, environ: Places) -> str:
        """Return the absolute path of the file: of `scope` (`project`, `user`), else of the one
        that the client prefers.

        Raises UsageError where the client has no such file.
        """
        wanted = scope or ("project" if self.project_file and self.prefers_project else "user")
        if wanted == "project" and self.project_file:
            return os.path.join(root, self.project_file)
        if wanted == "user" and self.user_file:
            return self.user_file(environ)
        raise UsageError(
            f"{self.title} has no file of its own for a {wanted}", hint="name the file with --file"
        )

    def next_step(self, path: str, root: str) -> str:
        """Return what a person does after an entry was written to that file."""
        in_project = self.project_file and path == os.path.join(root, self.project_file)
        return self.then if in_project else self.then_anywhere or self.then

    def entry(self, command: list[str], env: Mapping[str, str] | None = None) -> JsonObject:
        """Return the server's entry for a command, and for variables that the server needs."""
        made = {**self.extra, "command": command[0], "args": command[1:]}
        return made | ({"env": dict(env)} if env else {})


def _home(environ: Places) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def _config(environ: Places) -> str:
    """The directory of programs' settings: XDG's, or the one that macOS has for applications."""
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Application Support")
    return _xdg(environ)


def _xdg(environ: Places) -> str:
    named = environ.get("XDG_CONFIG_HOME", "")
    return named if os.path.isabs(named) else os.path.join(_home(environ), ".config")


CLIENTS: Final = {
    client.name: client
    for client in (
        McpClient(
            name="claude-code",
            title="Claude Code",
            extra={"type": "stdio"},
            project_file=".mcp.json",
            user_file=lambda environ: os.path.join(
                environ.get("CLAUDE_CONFIG_DIR") or _home(environ), ".claude.json"
            ),
            shows_structured=True,  # anthropics/claude-code#79944, 2.1.280
            then="start `claude` here, approve the server, and type /mcp",
            then_anywhere="start `claude` in any directory and type /mcp",
        ),
        McpClient(
            name="claude-desktop",
            title="Claude Desktop",
            user_file=lambda environ: os.path.join(
                _config(environ), "Claude", "claude_desktop_config.json"
            ),
            then="restart Claude Desktop; the tools are under the + of a chat",
        ),
        McpClient(
            name="cursor",
            title="Cursor",
            extra={"type": "stdio"},
            project_file=".cursor/mcp.json",
            user_file=lambda environ: os.path.join(_home(environ), ".cursor", "mcp.json"),
            workspace=_FOLDER,
            then="open this folder in Cursor and switch the server on in Settings, Tools & MCP",
            then_anywhere="start Cursor and switch the server on in Settings, Tools & MCP",
        ),
        McpClient(
            name="vscode",
            title="VS Code",
            key="servers",
            extra={"type": "stdio"},
            project_file=".vscode/mcp.json",
            user_file=lambda environ: os.path.join(_config(environ), "Code", "User", "mcp.json"),
            workspace=_FOLDER,
            shows_structured=True,  # microsoft/vscode#290063
            then="open this folder in VS Code and run `MCP: List Servers` to start it",
            then_anywhere="start VS Code and run `MCP: List Servers` to start it",
        ),
        McpClient(
            name="gemini",
            title="Gemini CLI",
            project_file=".gemini/settings.json",
            user_file=lambda environ: os.path.join(_home(environ), ".gemini", "settings.json"),
            then="start `gemini` here and type /mcp",
            then_anywhere="start `gemini` in any directory and type /mcp",
        ),
        McpClient(
            name="codex",
            title="Codex",
            key="mcp_servers",
            project_file=".codex/config.toml",
            user_file=lambda environ: os.path.join(
                environ.get("CODEX_HOME") or os.path.join(_home(environ), ".codex"), "config.toml"
            ),
            prefers_project=False,
            toml=True,
            shows_structured=True,  # anomalyco/opencode#32074 says so of Codex
            then="start `codex` here and type /mcp",
            then_anywhere="start `codex` in any directory and type /mcp",
        ),
        McpClient(
            name="zed",
            title="Zed",
            key="context_servers",
            extra={"source": "custom"},
            project_file=".zed/settings.json",
            user_file=lambda environ: os.path.join(
                _xdg(environ) if sys.platform != "darwin" else _home_config(environ),
                "zed",
                "settings.json",
            ),
            prefers_project=False,
            then="open the Agent Panel of this project; its settings list the server",
            then_anywhere="open the Agent Panel in Zed; its settings list the server",
        ),
        McpClient(name="generic", title="this client", extra={}),
    )
}
"""Every client by its name on the command line."""


def _home_config(environ: Places) -> str:
    return os.path.join(_home(environ), ".config")
