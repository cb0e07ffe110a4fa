"""Which tools are listed, and what is known of each."""

from pathlib import Path

import pytest

from tests.support.ondisk import write_tool
from vespe.cli.tool import listed
from vespe.errors import KitNotFound
from vespe.projects.workspace import Workspace, open_workspace

SHELL = {"type": "shell_command", "entrypoint": "echo", "args": {"argv": ["hi"]}}


@pytest.fixture
def workspace(project: Path) -> Workspace:
    tools = project / ".vespe/tools"
    write_tool(tools / "tool-a", "a", implementation=SHELL)
    write_tool(tools / "tool-b", "b", implementation={"type": "x"})
    return open_workspace(project)


def test_the_available_tools_are_listed_and_the_broken_ones_counted(workspace: Workspace) -> None:
    rows, broken = listed.listing(workspace, scope="project_tools", everything=False)
    assert ([row.entry.name for row in rows], broken) == (["a"], 1)
    whole, left_out = listed.listing(workspace, scope="project_tools", everything=True)
    assert ([row.status for row in whole], left_out) == (["available", "broken"], 0)
    assert listed.is_active(workspace, "project_tools")
    document = listed.document_of(rows[0])
    assert (document["name"], document["status"], document["problem"]) == ("a", "available", None)
    with pytest.raises(KitNotFound):
        listed.listing(workspace, scope="nowhere", everything=False)
