"""A project opened: what resolves, what is the project's own, what a snapshot holds."""

import json
import os
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.errors import AmbiguousTool, InvalidDocument, InvalidTool, ProjectNotFound, ToolNotFound
from vespe.projects.project import update_config
from vespe.projects.workspace import find_root, open_workspace, project_entry, project_has
from vespe.trust.gate import trust_created


def test_the_project_is_found_from_below(project: Path) -> None:
    (project / "a/b").mkdir(parents=True)
    assert find_root(project / "a/b") == str(project)
    with pytest.raises(ProjectNotFound):
        find_root(project.parent)


def test_a_tool_is_loaded_with_its_scope(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kit = write_kit(tmp_path / "kits", "alpha")
    python_tool(kit / "tool-a", "a", "return 1")
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    (project / ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["alpha"]}), encoding="utf-8"
    )
    tool = open_workspace(project).tool("a")
    assert (tool.scope, tool.kit_id, tool.directory) == ("alpha", "alpha", str(kit / "tool-a"))


def test_missing_kits_and_restricted_keys_are_warnings(project: Path) -> None:
    (project / ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["nope"], "allow_hosts": ["x"]}), encoding="utf-8"
    )
    warnings = " ".join(open_workspace(project).warnings)
    assert "'nope'" in warnings and "/allow_hosts" in warnings


def test_only_the_projects_own_tools_are_the_projects_to_change(project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    (project / ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["file_io_with_git"]}), encoding="utf-8"
    )
    workspace = open_workspace(project)
    assert project_entry(workspace, "project_tools/a").uid == "tool-a"
    with pytest.raises(ToolNotFound, match="belongs to file_io_with_git"):
        project_entry(workspace, "read_file")
    python_tool(project / ".vespe/tools/tool-b", "a", "return 1")
    with pytest.raises(AmbiguousTool):
        project_entry(workspace, "a")
    assert project_has(str(project), "a") and not project_has(str(project), "read_file")


def test_a_tool_made_in_a_trusted_place_needs_no_approval_of_its_own(
    project: Path, home: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    before = sorted((home / "state").rglob("*"))
    trust_created(str(project), "tool-a")
    assert sorted((home / "state").rglob("*")) == before


def fifo(path: Path) -> None:
    os.mkfifo(path)


def plain_file(path: Path) -> None:
    path.write_text("no directory", encoding="utf-8")


@pytest.fixture(params=[fifo, plain_file])
def odd(request: pytest.FixtureRequest, project: Path) -> Path:
    """A project with an active kit, whose own tools cannot be listed."""
    (project / ".vespe/tools").rmdir()
    request.param(project / ".vespe/tools")
    (project / ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["file_io_without_git"]}), encoding="utf-8"
    )
    return project


def test_p48_a_scope_that_cannot_be_listed_is_a_warning_and_hides_no_other_scope(odd: Path) -> None:
    workspace = open_workspace(odd)
    assert [
        f"{odd}/.vespe/tools: Not a directory" in warning for warning in workspace.warnings
    ] == [True]
    assert "read_file" in [entry.name for entry in workspace.available()]
    assert {row.status for row in workspace.rows()} == {"available", "inactive"}


def test_p48_no_name_falls_through_a_scope_that_cannot_be_listed(odd: Path) -> None:
    workspace = open_workspace(odd)
    for name in ("read_file", "tool-uid_read_file", "project_tools/read_file", "nowhere"):
        with pytest.raises(InvalidDocument, match=r"tools: cannot be listed \(Not a directory\)"):
            workspace.resolve(name)
    assert workspace.resolve("file_io_without_git/read_file").entry.name == "read_file"


def test_p48_a_scope_behind_the_winners_that_cannot_be_listed_is_only_said(odd: Path) -> None:
    order = ["active_kits", "project_tools"]
    document = {"active_kits": ["file_io_without_git"], "tool_resolution_order": order}
    (odd / ".vespe/config.json").write_text(json.dumps(document), encoding="utf-8")
    found = open_workspace(odd).resolve("read_file")
    assert found.entry.scope == "file_io_without_git" and "cannot be listed" in found.warnings[0]
    assert open_workspace(odd).tool("read_file").name == "read_file"


def test_the_name_that_models_know_a_tool_by_leads_a_person_to_its_own(project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-greet", "greet", "return 1")
    update_config(
        str(project), lambda document: document.update({"tools": {"greet": {"as": "hello"}}})
    )
    with pytest.raises(ToolNotFound, match="models know project_tools/greet by that name"):
        open_workspace(project).resolve("hello")
    assert open_workspace(project).shown_tool("hello").name == "hello"


def test_a_name_that_only_models_know_can_be_resolved_as_theirs(project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    update_config(project, lambda document: document.update({"tools": {"a": {"as": "seen"}}}))
    workspace = open_workspace(project)
    found = workspace.resolve_seen("seen")
    assert (found.name, found.entry.uid) == ("seen", "tool-a")
    with pytest.raises(ToolNotFound):
        workspace.resolve("seen")
    with pytest.raises(ToolNotFound):
        workspace.resolve_seen("nothing")


def test_a_tool_that_was_listed_is_loaded_without_being_judged_again(project: Path) -> None:
    tool = project / ".vespe/tools/tool-a"
    python_tool(tool, "a", "return 1")
    workspace = open_workspace(project)
    (entry,) = workspace.available()
    assert workspace.load_listed(entry) == workspace.load(entry)
    (tool / "config.json").write_text('{"name": "a"}', encoding="utf-8")
    with pytest.raises(InvalidTool):
        workspace.load_listed(entry)
