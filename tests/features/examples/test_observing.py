"""What a tool needs, by taking away what it does not: the least that its examples pass under."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.calls.sandboxing import machine
from vespe.errors import UsageError
from vespe.features.examples import observing
from vespe.projects.workspace import open_workspace

pytestmark = pytest.mark.skipif(
    machine().level == "off", reason="nothing can be observed without a sandbox"
)


def observed(project: Path) -> observing.Observation:
    workspace = open_workspace(project)
    return observing.observe(
        CallPath(workspace=workspace, registry=ToolRegistry()), workspace.tool("t")
    )


def make(project: Path, body: str, **extra: Any) -> None:
    extra = {"examples": [{"input": {}, "output": 1}], **extra}
    python_tool(project / ".vespe/tools/tool-t", "t", body, **extra)


def test_a_tool_that_touches_nothing_needs_nothing(project: Path) -> None:
    make(project, "return 1", permissions={"read": ["."], "network": []})
    found = observed(project)
    assert found.permissions == {"read": [], "write": [], "network": [], "programs": []}
    assert found.spare == ("read",) and found.needed_by == {}


def test_what_the_examples_need_stays_with_the_example_that_needs_it(project: Path) -> None:
    body = (
        "import subprocess\nsubprocess.run(['git', '--version'], check=True)\nopen('a', "
        "'w').close()\nreturn 1"
    )
    make(project, body)
    found = observed(project)
    assert found.permissions == {"read": [], "write": ["."], "network": [], "programs": ["git"]}
    assert found.needed_by == {"write": 0, "programs": 0}


def test_a_program_of_a_shell_tool_need_not_be_stated(project: Path) -> None:
    implementation = {"type": "shell_command", "entrypoint": "cat", "args": {"argv": ["a"]}}
    write_tool(
        project / ".vespe/tools/tool-t",
        "t",
        implementation=implementation,
        examples=[{"input": {}, "output": "x"}],
        example_files={"a": "x"},
    )
    assert observed(project).permissions == {
        "read": ["."],
        "write": [],
        "network": [],
        "programs": [],
    }


def test_examples_that_need_the_project_run_in_a_copy_of_it(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs/a").write_text("1", encoding="utf-8")
    body = "text = open('docs/a').read()\nopen('docs/a', 'a').write('0')\nreturn int(text)"
    make(project, body)
    found = observed(project)
    assert found.in_copy and found.permissions["write"] == ["."]
    assert (project / "docs/a").read_text("utf-8") == "1"


@pytest.mark.parametrize("extra", [{"examples": []}, {"examples": [{"input": {}, "output": 2}]}])
def test_without_examples_that_pass_nothing_is_observed(project: Path, extra: Any) -> None:
    make(project, "return 1", **extra)
    with pytest.raises(UsageError):
        observed(project)
