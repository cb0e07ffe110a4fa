"""`vespe kit add-mcp --from FILE`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_servers import ByHand, definition

Command = Callable[..., Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    servers = {
        name: ByHand(tmp_path / name, definition(), definition(name)) for name in ("one", "two")
    }
    entries = {
        name: {"command": server.command[0], "args": list(server.command[1:])}
        for name, server in servers.items()
    }
    broken = {
        "gone": {"command": "vespe-no-such-program"},
        "off": {"command": "x", "disabled": True},
    }
    made = tmp_path / "mcp.json"
    made.write_text(json.dumps({"mcpServers": {**entries, **broken}}), encoding="utf-8")
    return made


def test_every_server_of_a_file_becomes_a_kit_and_one_that_fails_keeps_none_back(
    file: Path, command: Command
) -> None:
    made = command("kit", "add-mcp", "--from", str(file), "--yes", "--activate", "--json")
    assert [kit["kit_id"] for kit in made.document["kits"]] == ["one", "two"]
    assert [left["server"] for left in made.document["left_out"]] == ["off", "gone"]
    assert made.code == 1
    assert command("tool", "run", "two").code == 0
    again = command("kit", "add-mcp", "one", "--from", str(file), "--yes")
    assert "there is a kit called 'one' already" in again.err


def test_without_a_yes_nothing_is_started(file: Path, command: Command, home: Path) -> None:
    said = command("kit", "add-mcp", "--from", str(file))
    assert said.code == 6
    assert "as the kit one" in said.err
    assert not (home / "data/vespe/kits").exists()


def test_one_server_can_be_taken(file: Path, command: Command) -> None:
    made = command("kit", "add-mcp", "two", "--from", str(file), "--yes", "--json")
    assert (made.code, [kit["kit_id"] for kit in made.document["kits"]]) == (0, ["two"])


def test_a_variable_that_is_made_of_another_one_is_what_clients_make_it(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ByHand(tmp_path / "s", mode="environment")
    env = {"TEAM": "${TEAM_VALUE}", "URL": "x:${env:TEAM_VALUE}:${OTHER:-y}", "OTHER": "$OTHER"}
    entry = {"command": server.command[0], "args": list(server.command[1:]), "env": env}
    made = tmp_path / "mcp.json"
    made.write_text(json.dumps({"mcpServers": {"one": entry}}), encoding="utf-8")
    add = ("kit", "add-mcp", "--from", str(made), "--yes", "--activate")
    missing = command(*add)
    assert missing.code == 1 and "TEAM_VALUE" in missing.err and "secret TEAM," not in missing.err
    monkeypatch.setenv("TEAM_VALUE", "blue-team")
    monkeypatch.setenv("OTHER", "other-value")
    done = command(*add)
    assert done.code == 0 and "the default of URL is not imported" in done.err, done.err
    assert command("kit", "sync", "--locked").code == 0
    seen = json.loads(command("tool", "run", "echo").out)
    assert seen["TEAM"] == "***" and seen["URL"] == "x:***:***" and seen["OTHER"] == "***"
    assert "blue-team" not in command("tool", "run", "echo", "--dry-run").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["three", "--from", "FILE"], "it names one, two"),
        (["--from", "FILE", "--url", "https://a.example"], "cannot be combined with --url"),
        (["--from", "FILE", "--client-id", "a", "--port", "4"], "with --client-id, --port"),
        (["--from", "FILE", "--client-secret", "A"], "cannot be combined with --client-secret"),
        (["--from", "FILE", "--redirect-host", "localhost"], "combined with --redirect-host"),
        (["--from", "FILE", "--timeout", "-1"], "--timeout is a number of seconds above 0"),
        ([], "say what the kit is called"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    file: Path, command: Command, words: list[str], said: str
) -> None:
    done = command("kit", "add-mcp", *[str(file) if word == "FILE" else word for word in words])
    assert (done.code, said in done.err) == (2, True), done.err
