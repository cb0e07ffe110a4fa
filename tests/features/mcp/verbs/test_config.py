"""`vespe mcp config`: what a person finds in the client's file afterwards."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe.documents import jsonc

Command = Callable[..., Any]
JSON_CLIENTS = ("claude-code", "claude-desktop", "cursor", "vscode", "gemini", "zed")
KEYS = {"vscode": "servers", "zed": "context_servers"}


@pytest.mark.parametrize("client", [*JSON_CLIENTS, "generic"])
def test_without_write_the_entry_is_printed_and_nothing_is_touched(
    client: str, command: Command, project: Path, home: Path
) -> None:
    said = command("mcp", "config", client)
    [(name, entry)] = said.document[KEYS.get(client, "mcpServers")].items()
    shared = client in ("claude-code", "cursor", "vscode", "gemini")
    assert name == "vespe-project" and os.path.isabs(entry["command"]) is not shared
    assert (
        entry["args"][:3] == ["mcp", "serve", "--project"]
        and (entry["args"][3] == str(project)) is not shared
    )
    assert os.listdir(project) == [".vespe"] and not (home / ".cursor").exists()


def test_codex_gets_toml(command: Command, project: Path, home: Path) -> None:
    assert command("mcp", "config", "codex").out.startswith(
        "[mcp_servers.vespe-project]\ncommand = "
    )
    assert command("mcp", "config", "codex", "--write").code == 0
    assert "[mcp_servers.vespe-project]" in (home / ".codex/config.toml").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("client", [*JSON_CLIENTS, "codex"])
def test_write_then_remove_brings_back_a_file_with_other_servers_byte_for_byte(
    client: str, command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "client.conf"
    key = KEYS.get(client, "mcpServers")
    before = (
        "[mcp_servers.a]\ncommand = 'a' # why\n"
        if client == "codex"
        else f'{{\n  // mine\n  "{key}": {{\n    "a": {{}},\n  }},\n}}\n'
    )
    path.write_text(before, encoding="utf-8")
    assert command("mcp", "config", client, "--write", "--file", str(path)).code == 0
    assert path.read_text(encoding="utf-8") != before
    assert Path(f"{path}.vespe-backup").read_text(encoding="utf-8") == before
    assert command("mcp", "config", client, "--remove", "--file", str(path)).code == 0
    assert path.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("before", ["", "{}", '{"a":1}', '{\n\t"a": 1\n}\n', "\ufeff{}\r\n"])
def test_remove_brings_back_a_file_without_any_servers_byte_for_byte(
    before: str, command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "client.json"
    path.write_bytes(before.encode())
    assert command("mcp", "config", "cursor", "--write", "--file", str(path)).code == 0
    assert (
        command("mcp", "config", "cursor", "--write", "--file", str(path), "--", "--read-only").code
        == 0
    )
    assert (
        command("mcp", "config", "cursor", "--remove", "--file", str(path), "--json").document[
            "backup"
        ]
        is None
    )
    assert path.read_bytes() == before.encode() and not list(tmp_path.glob("*backup"))


@pytest.mark.parametrize("client", ["cursor", "codex"])
def test_remove_takes_a_file_away_that_write_made_even_when_it_was_written_twice(
    client: str, command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "new/client.conf"
    for extra in ((), ("--", "--read-only")):
        assert command("mcp", "config", client, "--write", "--file", str(path), *extra).code == 0
    said = command("mcp", "config", client, "--remove", "--file", str(path))
    assert "the file was deleted, because it did not exist before" in said.err + said.out
    assert os.listdir(path.parent) == []


def test_remove_never_brings_back_an_older_entry_of_this_project(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "client.json"
    assert command("mcp", "config", "cursor", "--write", "--file", str(path)).code == 0
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    for action in (("--write", "--", "--read-only"), ("--remove",)):
        assert command("mcp", "config", "cursor", "--file", str(path), *action).code == 0
    assert "vespe-project" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("value", ["null", "[]", "5"])
def test_servers_that_are_no_object_are_named(value: str, command: Command, tmp_path: Path) -> None:
    path = tmp_path / "client.json"
    path.write_text(f'{{\n  "mcpServers": {value}\n}}', encoding="utf-8")
    said = command("mcp", "config", "cursor", "--write", "--file", str(path))
    assert said.code == 4 and f"{path}:2: `mcpServers` must be an object" in said.err


def test_another_programs_entry_of_the_same_name_is_kept_before_it_is_replaced(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "client.json"
    path.write_text('{"mcpServers": {"vespe-project": {"command": "theirs"}}}', encoding="utf-8")
    done = command(
        "mcp", "config", "cursor", "--write", "--yes", "--file", str(path), "--json"
    ).document
    assert "theirs" in Path(done["backup"]).read_text(encoding="utf-8")


def test_writing_twice_changes_nothing_the_second_time(command: Command) -> None:
    assert command("mcp", "config", "cursor", "--write", "--json").document["changed"] is True
    assert command("mcp", "config", "cursor", "--write", "--json").document["changed"] is False


def test_the_printed_command_starts_without_a_path(command: Command, tmp_path: Path) -> None:
    entry = command("mcp", "config", "generic", "--json").document["entry"]
    done = subprocess.run(
        [entry["command"], "--version"],
        env={"PATH": "/nonexistent"},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0


def test_options_behind_two_dashes_go_to_the_server(command: Command) -> None:
    entry = command("mcp", "config", "generic", "--json", "--", "--read-only").document["entry"]
    assert entry["args"][-1] == "--read-only"


def test_another_projects_entry_under_a_given_name_is_replaced_only_with_a_yes(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"mcpServers": {"tools": {"command": "other"}}}', encoding="utf-8")
    refused = command("mcp", "config", "cursor", "--write", "--name", "tools", "--file", str(path))
    assert refused.code == 6 and "another server called tools" in refused.err
    assert json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["tools"] == {
        "command": "other"
    }
    assert (
        command(
            "mcp", "config", "cursor", "--write", "--name", "tools", "--file", str(path), "--yes"
        ).code
        == 0
    )
    assert "serve" in path.read_text(encoding="utf-8")


def test_removing_what_does_not_serve_this_project_asks_and_what_is_not_there_is_said(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"mcpServers": {"tools": {"command": "other"}}}', encoding="utf-8")
    assert (
        "no entry for this project"
        in command("mcp", "config", "cursor", "--remove", "--file", str(path)).err
    )
    assert (
        command("mcp", "config", "cursor", "--remove", "--name", "tools", "--file", str(path)).code
        == 6
    )
    assert (
        command(
            "mcp", "config", "cursor", "--remove", "--name", "tools", "--file", str(path), "--yes"
        ).code
        == 0
    )
    assert jsonc.parse(path.read_text(encoding="utf-8")).value == {"mcpServers": {}}


def test_a_broken_file_is_named_with_its_line_and_left_as_it_is(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    path.write_text('{\n  "mcpServers": {\n', encoding="utf-8")
    said = command("mcp", "config", "cursor", "--write", "--file", str(path))
    assert said.code == 4 and f"{path}:3" in said.err
    assert path.read_text(encoding="utf-8") == '{\n  "mcpServers": {\n'


@pytest.mark.parametrize(
    "arguments",
    [
        ("generic", "--write"),
        ("cursor", "--write", "--remove"),
        ("claude-desktop", "--scope", "project"),
        ("emacs",),
        ("cursor", "--name", "a b"),
    ],
)
def test_what_cannot_be_is_a_usage_error(arguments: tuple[str, ...], command: Command) -> None:
    assert command("mcp", "config", *arguments).code == 2


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_a_link_that_leads_out_of_the_project_is_not_written_through(
    client: str, command: Command, project: Path, home: Path
) -> None:
    place = {"claude-code": ".mcp.json", "cursor": ".cursor"}[client]
    target = home / "theirs"
    target.mkdir()
    (target / "mcp.json").write_text("{}", encoding="utf-8")
    (project / place).symlink_to(target / "mcp.json" if client == "claude-code" else target)
    for verb in ("--write", "--remove"):
        said = command("mcp", "config", client, verb, "--scope", "project")
        assert (
            said.code
            and "leads out of the project" in said.err
            and str(target / "mcp.json") in said.err
        )
    assert (target / "mcp.json").read_text(encoding="utf-8") == "{}"
    assert command("mcp", "config", client, "--write", "--file", str(target / "mcp.json")).code == 0


def test_a_link_within_the_project_is_written_through(command: Command, project: Path) -> None:
    (project / "shared.json").write_text("{}", encoding="utf-8")
    (project / ".mcp.json").symlink_to("shared.json")
    assert command("mcp", "config", "claude-code", "--write", "--scope", "project").code == 0
    assert (
        "vespe" in (project / "shared.json").read_text(encoding="utf-8")
        and (project / ".mcp.json").is_symlink()
    )
