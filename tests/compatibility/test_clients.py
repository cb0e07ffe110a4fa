"""What 0.2 wrote for MCP clients: entries, backups of their files, and the token of a server."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.compatibility.world import FILES, World, edit, read
from tests.support.stdio_client import served

CLIENTS = {
    "claude-code": "shop/.mcp.json",
    "cursor": "shop/.cursor/mcp.json",
    "vscode": "shop/.vscode/mcp.json",
    "gemini": "shop/.gemini/settings.json",
    "codex": "home/.codex/config.toml",
    "zed": "home/config/zed/settings.json",
    "claude-desktop": "home/config/Claude/claude_desktop_config.json",
}
SHARED = ("claude-code", "cursor", "vscode", "gemini")
BOUNDED = ("claude-code", "vscode")
"""Their entries are written with `--results bounded` by now."""


@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_is_known_again_and_its_file_becomes_what_it_was(
    client: str, world: World
) -> None:
    path = world.root / CLIENTS[client]
    before = FILES / f"{CLIENTS[client]}.vespe-backup"
    if client in SHARED:
        assert world.run(
            "mcp", "config", client, "--write", "--json", "--", "--read-only"
        ).document["changed"] is (client in BOUNDED)
    done = world.json("mcp", "config", client, "--remove")
    assert (done["name"], done["changed"]) == ("vespe-shop", True)
    if before.exists():
        assert (
            path.read_bytes() == before.read_bytes()
            and not path.with_name(path.name + ".vespe-backup").exists()
        )
    else:
        assert not path.exists()


def test_a_file_in_a_repository_becomes_what_it_was_too(world: World) -> None:
    world.add("studio")
    world.git("init", "--quiet", cwd="studio")
    done = world.run("mcp", "config", "claude-code", "--remove", cwd="studio")
    assert "as it was before" in done.err
    assert (world.root / "studio/.mcp.json").read_text(encoding="utf-8") == '{"mcpServers": {}}\n'


def test_an_entry_is_brought_up_to_date_in_its_place_and_others_stay(world: World) -> None:
    path = world.shop / ".mcp.json"
    edit(
        path,
        lambda file: file["mcpServers"]["vespe-shop"].update(
            env={"A": "b"}, args=["mcp", "serve", "--project", "."]
        ),
    )
    world.run("mcp", "config", "claude-code", "--write", "--", "--read-only")
    servers = read(path)["mcpServers"]
    assert list(servers) == ["other", "vespe-shop"] and servers["vespe-shop"]["env"] == {"A": "b"}
    assert servers["vespe-shop"]["args"][-1] == "--read-only"


def test_the_server_that_an_entry_names_starts_with_the_tools_of_the_project(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = read(world.shop / ".mcp.json")["mcpServers"]["vespe-shop"]
    assert entry["command"] == "vespe"
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    assert entry["args"][:2] == ["mcp", "serve"]
    with served(world.shop, *entry["args"][2:]) as client:
        client.hello("2025-06-18")
        names = set(client.names())
        assert {"calculate", "shout", "stock"} <= names
        assert not {"note", "new_name", "read_file"} & names
        answer = client.call("calculate", a=6, b=7)
    assert answer["content"] == [{"type": "text", "text": "42"}]


def test_a_server_over_http_takes_the_token_that_was_kept(world: World) -> None:
    token = (world.home / "server.token").read_text(encoding="utf-8")
    words = [
        "-m",
        "vespe",
        "mcp",
        "serve",
        "--http",
        "127.0.0.1:0",
        "--token-file",
        str(world.home / "server.token"),
    ]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")
    } | world.environment
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=world.shop,
        env=environment,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        assert server.stderr is not None
        try:
            port = next(
                found[1]
                for line in server.stderr
                if (found := re.search(r"http://127\.0\.0\.1:([0-9]+)", line))
            )
            assert (asked(port, token.strip()), asked(port, token.strip()[::-1])) == (200, 401)
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate()
    assert (world.home / "server.token").read_text(encoding="utf-8") == token


def asked(port: str, token: str) -> int:
    """Say hello to the server with a token, and return the status of its answer."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).encode()
    head = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body, head), timeout=60
        ) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
