"""What tells that a project's tools may have changed."""

from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from vespe.features.mcp.server.marks import marks, places, stamps_in, still_hold
from vespe.projects.init import found_project
from vespe.projects.workspace import Workspace, open_workspace


@pytest.fixture
def workspace(home: Path, tmp_path: Path) -> Workspace:
    found_project(tmp_path)
    python_tool(tmp_path / ".vespe/tools/tool-a", "a", "return 1")
    return open_workspace(tmp_path)


def test_marks_stay_while_nothing_changes(workspace: Workspace) -> None:
    assert (
        marks(workspace) == marks(workspace)
        and still_hold(workspace, marks(workspace))
        and len(list(stamps_in(marks(workspace)))) == 2
    )


@pytest.mark.parametrize("change", ["config.json", "main.py", "new", "gone", "kit"])
def test_marks_change_with_a_tool_and_with_the_configuration(
    workspace: Workspace, change: str
) -> None:
    before, tools = marks(workspace), Path(workspace.root) / ".vespe/tools"
    if change == "new":
        python_tool(tools / "tool-b", "b", "return 1")
    elif change == "gone":
        (tools / "tool-a/main.py").unlink()
    elif change == "kit":
        Path(workspace.root, ".vespe/config.json").write_text(
            '{"active_kits": ["file_io_without_git"]}', encoding="utf-8"
        )
    else:
        (tools / "tool-a" / change).rename(tools / "tool-a" / "aside")
    assert marks(workspace) != before and not still_hold(workspace, before)


def test_the_places_that_decide_are_the_configuration_and_each_scope(workspace: Workspace) -> None:
    assert [Path(place).name for place in places(workspace)] == [
        "config.json",
        "config.json",
        "answers",
        "tools",
    ]
