"""The clients: each one's file, key and entry."""

import sys

import click
import pytest

from vespe.errors import UsageError
from vespe.features.mcp.clients.table import CLIENTS
from vespe.features.mcp.verbs import config, connect

HOME = {"HOME": "/home/me"}


@pytest.mark.parametrize("verb", [connect.command, config.command])
def test_the_help_of_a_verb_names_every_client(verb: click.Command) -> None:
    taken = next(one.type for one in verb.params if isinstance(one.type, click.Choice))
    assert len(taken.choices) >= len(CLIENTS) - 1
    assert [name for name in taken.choices if name not in (verb.help or "")] == []


@pytest.mark.parametrize(
    ("name", "scope", "path"),
    [
        ("claude-code", None, "/p/.mcp.json"),
        ("claude-code", "user", "/home/me/.claude.json"),
        ("cursor", None, "/p/.cursor/mcp.json"),
        ("cursor", "user", "/home/me/.cursor/mcp.json"),
        ("vscode", None, "/p/.vscode/mcp.json"),
        ("gemini", None, "/p/.gemini/settings.json"),
        ("gemini", "user", "/home/me/.gemini/settings.json"),
        ("codex", None, "/home/me/.codex/config.toml"),
        ("codex", "project", "/p/.codex/config.toml"),
        ("zed", None, "/home/me/.config/zed/settings.json"),
        ("zed", "project", "/p/.zed/settings.json"),
    ],
)
def test_each_client_has_its_own_file(name: str, scope: str | None, path: str) -> None:
    assert CLIENTS[name].path("/p", scope=scope, environ=HOME) == path


@pytest.mark.parametrize(
    ("platform", "name", "path"),
    [
        ("linux", "claude-desktop", "/home/me/.config/Claude/claude_desktop_config.json"),
        (
            "darwin",
            "claude-desktop",
            "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("linux", "vscode", "/home/me/.config/Code/User/mcp.json"),
        ("darwin", "vscode", "/home/me/Library/Application Support/Code/User/mcp.json"),
        ("darwin", "zed", "/home/me/.config/zed/settings.json"),
    ],
)
def test_macos_keeps_some_of_them_elsewhere(
    monkeypatch: pytest.MonkeyPatch, platform: str, name: str, path: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert CLIENTS[name].path("/p", scope="user", environ=HOME) == path


@pytest.mark.parametrize(
    ("name", "variable", "path"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/x/.claude.json"),
        ("codex", "CODEX_HOME", "/x/config.toml"),
        ("claude-desktop", "XDG_CONFIG_HOME", "/x/Claude/claude_desktop_config.json"),
    ],
)
def test_a_clients_own_variable_moves_its_file(name: str, variable: str, path: str) -> None:
    assert CLIENTS[name].path("/p", scope="user", environ={**HOME, variable: "/x"}) == path


@pytest.mark.parametrize(
    ("name", "scope"), [("generic", None), ("claude-desktop", "project"), ("generic", "project")]
)
def test_a_file_that_a_client_does_not_have_is_refused_with_a_hint(
    name: str, scope: str | None
) -> None:
    with pytest.raises(UsageError) as caught:
        CLIENTS[name].path("/p", scope=scope, environ=HOME)
    assert "--file" in caught.value.hint


def test_an_entry_is_a_command_and_its_arguments_and_what_the_client_wants_beside() -> None:
    assert CLIENTS["vscode"].key == "servers" and CLIENTS["zed"].key == "context_servers"
    assert CLIENTS["zed"].entry(["/v", "mcp"]) == {
        "source": "custom",
        "command": "/v",
        "args": ["mcp"],
    }
