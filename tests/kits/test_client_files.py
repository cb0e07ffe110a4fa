"""MCP servers in clients' own files: how each is started or reached, which secrets it wants, and
why one is left out.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import InvalidDocument, VespeError
from vespe.kits.client_files import servers_in
from vespe.models import JsonObject

RECORDED = Path(__file__).parents[4] / "shared/corpus/configs"
STDIO = {"command": "npx", "args": ["-y", "x"]}
STARTED = {"command": ["npx", "-y", "x"]}


@pytest.mark.parametrize(
    "document",
    [
        {"mcpServers": {"a": STDIO}},
        {"servers": {"a": {"type": "stdio", **STDIO}}},
        {"mcp": {"servers": {"a": STDIO}}},
        {"context_servers": {"a": {"source": "custom", **STDIO}}},
        {"context_servers": {"a": {"command": {"path": "npx", "args": ["-y", "x"]}}}},
        {"mcp": {"a": {"type": "local", "command": ["npx", "-y", "x"], "enabled": True}}},
        {"mcpServers": [{"name": "a", **STDIO}]},
        {"extensions": {"a": {"type": "stdio", "cmd": "npx", "args": ["-y", "x"]}}},
        {"a": STDIO},
        {"manifest_version": "0.3", "name": "a", "server": {"mcp_config": STDIO}},
    ],
)
def test_every_clients_shape_is_read(document: JsonObject) -> None:
    (found,) = servers_in(json.dumps(document).encode(), path="x.json")
    assert (found.name, found.server, found.problem) == ("a", STARTED, "")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("config.toml", '[mcp_servers.a]\ncommand = "npx"\nargs = ["-y", "x"]\n'),
        (
            "settings.json",
            '// mine\n{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x",],},},}',
        ),
        ("config.yaml", "mcpServers:\n  a:\n    command: npx\n    args: [-y, x]\n"),
    ],
)
def test_every_clients_format_is_read(path: str, text: str) -> None:
    (found,) = servers_in(text.encode(), path=path)
    assert found.server == STARTED


ENTRIES: list[tuple[JsonObject, JsonObject]] = [
    ({**STDIO, "env": {"LOG": "debug"}}, {"command": ["env", "LOG=debug", "npx", "-y", "x"]}),
    (
        {**STDIO, "env": {"API_KEY": "sk-abc"}},
        {"command": ["npx", "-y", "x"], "secrets": ["API_KEY"]},
    ),
    (
        {**STDIO, "env": {"X": "${input:x}", "Y": "$Y", "Z": ""}},
        {"command": ["npx", "-y", "x"], "secrets": ["X", "Y", "Z"]},
    ),
    ({**STDIO, "env_vars": ["TOKEN"]}, {"command": ["npx", "-y", "x"], "secrets": ["TOKEN"]}),
    ({"command": "npx", "args": ["${PWD}"]}, {"command": ["npx", "."]}),
    ({"url": "https://a.example/mcp"}, {"url": "https://a.example/mcp"}),
    ({"httpUrl": "https://a.example/mcp"}, {"url": "https://a.example/mcp"}),
    (
        {"url": "https://a.example", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        {
            "url": "https://a.example",
            "headers": {"Authorization": "Bearer ${env:TOKEN}"},
            "secrets": ["TOKEN"],
        },
    ),
    (
        {"url": "https://a.example", "headers": {"Authorization": "Bearer abc"}},
        {
            "url": "https://a.example",
            "headers": {"Authorization": "Bearer ${env:A_AUTHORIZATION}"},
            "secrets": ["A_AUTHORIZATION"],
        },
    ),
    (
        {"url": "https://a.example", "headers": {"X-Mode": "fast"}},
        {"url": "https://a.example", "headers": {"X-Mode": "fast"}},
    ),
    (
        {"url": "https://a.example", "bearer_token_env_var": "T"},
        {
            "url": "https://a.example",
            "headers": {"Authorization": "Bearer ${env:T}"},
            "secrets": ["T"],
        },
    ),
]


@pytest.mark.parametrize(("entry", "server"), ENTRIES)
def test_a_secret_is_declared_and_its_value_left_where_it_is(
    entry: JsonObject, server: JsonObject
) -> None:
    (found,) = servers_in(json.dumps({"mcpServers": {"a": entry}}).encode(), path="x.json")
    assert (found.server, found.problem) == (server, "")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "neither a command nor a URL"),
        ({**STDIO, "disabled": True}, "disabled"),
        ({"type": "sse", "url": "https://a.example/sse"}, "SSE"),
        ({"command": "npx", "args": ["--api-key", "abc"]}, "its command contains a secret"),
        (
            {"command": "npx", "args": ["ghp_abcdefghijklmnopqrstuvwxyz0123456789"]},
            "its command contains a secret",
        ),
        ({"command": "npx", "args": ["${input:dir}"]}, "contains the variable"),
        ({"url": "https://a.example?api_key=abc"}, "contains a secret"),
        ({"url": "https://user:pw@a.example"}, "a variable or a user"),
        ({"url": "ftp://a.example"}, "not an http"),
        ({"command": {"no": "path"}}, "neither"),
        ({"command": ["a", {"b": 1}]}, "not a list of strings"),
    ],
)
def test_what_cannot_be_started_is_a_reason_without_the_secret(
    entry: JsonObject, said: str
) -> None:
    (found,) = servers_in(json.dumps({"mcpServers": {"a": entry}}).encode(), path="x.json")
    assert said in found.problem
    assert "ghp_" not in found.problem


@pytest.mark.parametrize("text", ["{}", "[]", "7", '{"mcpServers": {}}', '{"a": 1}', "{", ""])
def test_a_file_without_servers_is_a_sentence(text: str) -> None:
    with pytest.raises(InvalidDocument):
        servers_in(text.encode(), path="x.json")


def test_recorded_files_are_read_or_refused_in_a_sentence() -> None:
    if not RECORDED.is_dir():
        pytest.skip(f"NOT RUN: the recorded files are not in {RECORDED}")
    found: list[Any] = []
    for file in sorted(RECORDED.rglob("*.json*")):
        try:
            found += servers_in(file.read_bytes(), path=str(file))
        except VespeError as error:
            assert "contains no MCP server" in str(error), file
    assert sum(not one.problem for one in found) >= 20
