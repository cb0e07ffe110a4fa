"""The verbs as functions, on a project however the caller has it, and on a configuration as it is
given.
"""

import dataclasses
from pathlib import Path

import pytest

from vespe import Project, ProjectConfig, ToolNotFound, list_available_tools, resolve_tool
from vespe.library.verbs import project_of


@pytest.fixture
def made(home: Path, tmp_path: Path) -> Project:
    project = Project.init(tmp_path / "mine")
    project.create_tool("read_file", type="python_script")
    return project


def test_the_given_configuration_decides_and_not_the_disks(made: Project) -> None:
    config = dataclasses.replace(made.config, active_kits=("git_and_programs",))
    assert "git_log" in [tool.name for tool in list_available_tools(config)]
    assert resolve_tool(config, "git_log").entry.kit_id == "git_and_programs"
    assert [tool.name for tool in list_available_tools(made)] == ["read_file"]
    with pytest.raises(ToolNotFound):
        resolve_tool(made, "git_log")


@pytest.mark.parametrize(
    ("order", "scope"),
    [(("active_kits", "project_tools"), "file_io_with_git"), (("project_tools",), "project_tools")],
)
def test_the_given_order_decides(made: Project, order: tuple[str, ...], scope: str) -> None:
    config = dataclasses.replace(
        made.config, active_kits=("file_io_with_git",), tool_resolution_order=order
    )
    assert resolve_tool(config, "read_file").entry.scope == scope


def test_a_configuration_without_a_root_has_its_kits_alone(
    made: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made.root)
    config = ProjectConfig(active_kits=("git_and_programs",))
    names = [tool.name for tool in list_available_tools(config)]
    assert "git_log" in names and "read_file" not in names
    assert list_available_tools(ProjectConfig()) == []


def test_a_project_is_meant_by_itself_a_path_or_a_configuration(made: Project) -> None:
    assert project_of(made) is made
    assert project_of(made.root).root == project_of(made.config).root == made.root
