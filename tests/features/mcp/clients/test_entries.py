"""This project's entry among a client's servers: its command, its name, and finding it again."""

import os
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, UsageError
from vespe.features.mcp.clients import entries
from vespe.features.mcp.clients.table import CLIENTS, McpClient

CLAUDE, CODEX = CLIENTS["claude-code"], CLIENTS["codex"]


def entry(root: object) -> dict[str, object]:
    return CLAUDE.entry(entries.server_command(str(root)))


def test_the_command_names_an_executable_by_its_absolute_path() -> None:
    command = entries.server_command("/p", ["--read-only"])
    assert os.path.isabs(command[0]) and os.access(command[0], os.X_OK)
    assert command[-5:] == ["mcp", "serve", "--project", "/p", "--read-only"]


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_a_portable_command_has_no_path_of_this_machine_and_is_known_as_the_project_s(
    client: McpClient, tmp_path: Path
) -> None:
    command = entries.portable_command(client, str(tmp_path), ["--read-only"])
    assert command == ["vespe", "mcp", "serve", "--project", client.workspace, "--read-only"]
    assert entries.serves(client.entry(command), str(tmp_path))
    assert entries.as_started(client, command, "/p")[4] in (".", "/p")


@pytest.mark.parametrize(
    ("name", "program"),
    [("claude-code", ".venv/bin/vespe"), ("vscode", "${workspaceFolder}/.venv/bin/vespe")],
)
def test_a_program_inside_the_project_is_named_from_there(
    name: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/vespe").touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / ".venv/bin/python"))
    assert entries.portable_command(CLIENTS[name], str(tmp_path))[0] == program


def test_an_entry_is_known_by_the_project_that_it_serves_through_links_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert entries.serves(entry(tmp_path / "link"), str(tmp_path / "real"))
    for other in (
        entry(tmp_path),
        {},
        {"args": "mcp serve"},
        {"args": [1, "mcp", "serve", "--project", 7]},
        None,
    ):
        assert not entries.serves(other, str(tmp_path / "real"))


def test_the_name_comes_from_the_directory_and_stays_with_the_project() -> None:
    assert entries.entry_name({}, "/x/My  Projekt ü!", wanted=None) == "vespe-my-projekt"
    assert entries.entry_name({"mine": entry("/x/a")}, "/x/a", wanted=None) == "mine"
    assert entries.entry_name({}, "/x/日本", wanted=None) == "vespe"


def test_two_projects_of_one_name_get_two_names() -> None:
    first = entries.entry_name({}, "/x/app", wanted=None)
    second = entries.entry_name({first: entry("/x/app")}, "/y/app", wanted=None)
    assert first == "vespe-app" and second.startswith("vespe-app-") and second != first


@pytest.mark.parametrize("name", ["", "a b", "x" * 41, "a\n", "../x"])
def test_a_name_that_clients_do_not_take_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        entries.entry_name({}, "/x", wanted=name)


def test_what_a_person_added_to_the_entry_stays_when_it_is_written_again() -> None:
    text = '{"mcpServers": {"v": {"command": "old", "args": [], "env": {"KEY": "1"}}}}'
    merged = entries.merged(CLAUDE, text, "v", entry=entry("/p"), path="f")
    assert entries.servers_of(CLAUDE, merged, path="f")["v"] == {**entry("/p"), "env": {"KEY": "1"}}


@pytest.mark.parametrize("client", [CLAUDE, CODEX], ids=["json", "toml"])
def test_a_merge_is_undone_by_taking_the_entry_out(client: object) -> None:
    chosen = CLAUDE if client is CLAUDE else CODEX
    text = (
        '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n'
        if chosen is CLAUDE
        else '[mcp_servers.a]\ncommand = "a"\n'
    )
    merged = entries.merged(chosen, text, "v", entry=chosen.entry(["/v", "x"]), path="f")
    assert set(entries.servers_of(chosen, merged, path="f")) == {"a", "v"}
    assert entries.unmerged(chosen, merged, "v", path="f") == text


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', '{"mcpServers": {}'])
def test_a_file_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument):
        entries.servers_of(CLAUDE, text, path="f")


def test_an_entry_that_is_no_object_is_replaced_whole() -> None:
    merged = entries.merged(CLAUDE, '{"mcpServers": {"v": null}}', "v", entry=entry("/p"), path="f")
    assert entries.servers_of(CLAUDE, merged, path="f") == {"v": entry("/p")}


def test_a_blank_file_holds_no_servers() -> None:
    assert (
        entries.servers_of(CLAUDE, "\ufeff\n", path="f") == {}
        and entries.servers_of(CODEX, "", path="f") == {}
    )


@pytest.mark.parametrize(
    ("client", "origin"), [(CLAUDE, '{"a": 1}'), (CODEX, "a = 1")], ids=["json", "toml"]
)
def test_a_file_is_known_to_be_what_a_merge_made_until_anybody_else_changes_it(
    client: McpClient, origin: str
) -> None:
    merged = entries.merged(
        client, origin, "v", entry=client.entry(["/v", "mcp", "serve", "--project", "/p"]), path="f"
    )
    assert entries.is_made_of(client, merged, origin, name="v", root="/p")
    assert not entries.is_made_of(client, merged + "\n", origin, name="v", root="/p")
    assert not entries.is_made_of(client, merged, origin, name="v", root="/other")
    assert not entries.is_made_of(client, merged, "[", name="v", root="/p")
