"""A project's entry in a client's own file."""

import json
from pathlib import Path

import pytest

from vespe.errors import UsageError
from vespe.features.mcp.clients import entry_files
from vespe.features.mcp.clients.table import CLIENTS

GENERIC, CURSOR = CLIENTS["generic"], CLIENTS["cursor"]


def test_the_file_is_the_named_one_the_clients_own_or_none(project: Path) -> None:
    root = str(project)
    own = entry_files.path_of(CURSOR, root, named=None, scope=None, needed=True)
    assert own is not None and own.startswith(root)
    named = entry_files.path_of(GENERIC, root, named="a.json", scope=None, needed=True)
    assert named == str(Path.cwd() / "a.json")
    assert entry_files.path_of(GENERIC, root, named=None, scope=None, needed=False) is None
    with pytest.raises(UsageError):
        entry_files.path_of(GENERIC, root, named=None, scope=None, needed=True)


def test_only_a_file_inside_the_project_has_no_path_of_this_machine(
    project: Path, tmp_path: Path
) -> None:
    root = str(project)
    inside = entry_files.command_for(CURSOR, root, f"{root}/.cursor/mcp.json")
    outside = entry_files.command_for(CURSOR, root, str(tmp_path / "mcp.json"))
    assert inside[0] == "vespe" and Path(outside[0]).is_absolute()
    assert entry_files.command_for(CURSOR, root, f"{root}/a.json", absolute=True) == outside


def test_an_entry_is_merged_found_by_its_project_and_taken_out_again(
    project: Path, tmp_path: Path
) -> None:
    root, path = str(project), str(tmp_path / "mcp.json")
    before = json.dumps({GENERIC.key: {"other": {"command": "echo"}}})
    Path(path).write_text(before, encoding="utf-8")
    entry = GENERIC.entry(entry_files.command_for(GENERIC, root, path))
    assert entry_files.merge(GENERIC, path, entry, name="mine", root=root).changed
    servers = entry_files.read_servers(GENERIC, path)
    assert entry_files.names_of_project(servers, root, wanted=None) == ["mine"]
    assert entry_files.names_of_project(servers, root, wanted="other") == ["other"]
    assert entry_files.names_of_project(servers, root, wanted="nothing") == []
    done = entry_files.remove(GENERIC, path, ["mine"], root=root)
    assert done.restored and Path(path).read_text(encoding="utf-8") == before
    assert not entry_files.remove(GENERIC, path, [], root=root).changed
