"""A project opened: what resolves, what is the project's own, what a snapshot holds."""

import json
from pathlib import Path

import pytest

from tests.ondisk import python_tool, write_kit
from vespe.errors import AmbiguousTool, ProjectNotFound, ToolNotFound
from vespe.trust import trust_created
from vespe.workspace import find_root, open_workspace, project_entry, project_has


def test_the_project_is_found_from_below(project: Path) -> None:
    (project / "a/b").mkdir(parents=True)
    assert find_root(project / "a/b") == str(project)
    with pytest.raises(ProjectNotFound):
        find_root(project.parent)


def test_a_tool_is_loaded_with_its_scope(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kit = write_kit(tmp_path / "kits", "alpha")
    python_tool(kit / "tool-a", "a", "return 1")
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    (project / ".vespe/config.json").write_text(json.dumps({"active_kits": ["alpha"]}), encoding="utf-8")
    tool = open_workspace(project).tool("a")
    assert (tool.scope, tool.kit_id, tool.directory) == ("alpha", "alpha", str(kit / "tool-a"))


def test_missing_kits_and_restricted_keys_are_warnings(project: Path) -> None:
    (project / ".vespe/config.json").write_text(json.dumps({"active_kits": ["nope"], "allow_hosts": ["x"]}), encoding="utf-8")
    warnings = " ".join(open_workspace(project).warnings)
    assert "'nope'" in warnings and "/allow_hosts" in warnings


def test_only_the_projects_own_tools_are_the_projects_to_change(project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    (project / ".vespe/config.json").write_text(json.dumps({"active_kits": ["file_io_with_git"]}), encoding="utf-8")
    workspace = open_workspace(project)
    assert project_entry(workspace, "project_tools/a").uid == "tool-a"
    with pytest.raises(ToolNotFound, match="file_io_with_git's"):
        project_entry(workspace, "read_file")
    python_tool(project / ".vespe/tools/tool-b", "a", "return 1")
    with pytest.raises(AmbiguousTool):
        project_entry(workspace, "a")
    assert project_has(str(project), "a") and not project_has(str(project), "read_file")


def test_a_tool_made_in_a_trusted_place_needs_no_approval_of_its_own(project: Path, home: Path) -> None:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    before = sorted((home / "state").rglob("*"))
    trust_created(str(project), "tool-a")
    assert sorted((home / "state").rglob("*")) == before
