"""Which tools are tested, and what is recorded and told of them."""

import json
from pathlib import Path

import pytest

from tests.support.ondisk import write_tool
from vespe.errors import UsageError
from vespe.features.examples import tested
from vespe.features.examples.examples import ExampleResult
from vespe.projects.workspace import open_workspace

SHELL = {"type": "shell_command", "entrypoint": "echo", "args": {"argv": ["hi"]}}
EXAMPLES = [{"input": {}}, {"input": {}, "error": "x"}]


@pytest.fixture
def tools(project: Path) -> Path:
    directory = project / ".vespe/tools"
    write_tool(directory / "tool-a", "a", implementation=SHELL, examples=EXAMPLES)
    write_tool(directory / "tool-b", "b", implementation=SHELL)
    write_tool(directory / "tool-c", "c", implementation={"type": "x"})
    return directory


def test_every_available_tool_is_chosen_and_each_broken_one_has_failed(tools: Path) -> None:
    workspace = open_workspace(tools.parents[1])
    found, failed = tested.chosen(workspace, ())
    assert {"a", "b"} <= {tool.name for tool in found}
    assert [(one.tool, one.pointer, one.passed) for one in failed] == [("c", "", False)]
    assert [tool.name for tool in tested.chosen(workspace, ("b", "b"))[0]] == ["b"]


def test_another_tool_s_examples_are_run_and_never_its_own(tools: Path) -> None:
    workspace = open_workspace(tools.parents[1])
    ((tool,), failed) = tested.chosen(workspace, ("b",), against="a")
    assert (tool.name, list(tool.examples), failed) == ("b", EXAMPLES, [])
    with pytest.raises(UsageError, match="against itself"):
        tested.chosen(workspace, ("a",), against="a")


def test_what_an_example_gave_is_recorded_and_said(tools: Path) -> None:
    tool = open_workspace(tools.parents[1]).tool("a")
    results = [
        ExampleResult(tool="a", uid="tool-a", index=0, problem=None, result="hi"),
        ExampleResult(tool="a", uid="tool-a", index=1, problem="gave no error", place="/error"),
    ]
    left, said = tested.recorded(tool, results)
    assert left == results and said.startswith("recorded 1 output of a in ")
    assert json.loads((tools / "tool-a/config.json").read_text(encoding="utf-8"))["examples"] == [
        {"input": {}, "output": "hi"},
        EXAMPLES[1],
    ]


def test_the_report_counts_and_points_to_what_failed(tools: Path) -> None:
    workspace = open_workspace(tools.parents[1])
    results = [
        ExampleResult(tool="a", uid="tool-a", index=0, problem=None),
        ExampleResult(tool="a", uid="tool-a", index=1, problem="no", place="/error"),
    ]
    said = tested.report_of([workspace.tool("a"), workspace.tool("b")], results)
    assert said["summary"] == {"passed": 1, "failed": 1, "tools": 2, "without_examples": ["b"]}
    assert [one["at"] for one in said["results"]] == [None, "/examples/1/error"]
