"""Examples as tests: run in order in one fresh directory, compared as JSON compares."""

from pathlib import Path
from typing import Any

import pytest

from tests.ondisk import python_tool
from vespe.calls import CallPath
from vespe.errors import InvalidTool
from vespe.examples import mismatch, run_examples, same
from vespe.outcomes import Failure, Outcome
from vespe.registry import ToolRegistry
from vespe.workspace import open_workspace


def problems(project: Path, uid: str) -> list[str | None]:
    workspace = open_workspace(project)
    path = CallPath(workspace=workspace, registry=ToolRegistry())
    return [result.problem for result in run_examples(path, workspace.tool(uid))]


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1], [1, 2], False),
        ("1", 1, False),
        ([True], [1], False),
    ],
)
def test_values_are_the_same_as_json_says(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal


def test_a_mismatch_shows_both_sides_shortly() -> None:
    done = Outcome(tool="t", uid="tool-t", result="x" * 1000)
    failed = Outcome(tool="t", uid="tool-t", error=Failure(code="tool_error", message="no"))
    assert "(1002 characters)" in str(mismatch({"output": 1}, done))
    assert mismatch({}, done) is None and mismatch({"error": "tool_error"}, failed) is None
    assert mismatch({}, failed) == "failed with tool_error: no"
    assert "expected timed_out" in str(mismatch({"error": "timed_out"}, failed))
    assert "expected the error tool_error" in str(mismatch({"error": "tool_error"}, done))


def test_examples_share_one_directory_that_is_not_the_project(project: Path) -> None:
    body = "import os\nopen('seen', 'a').write('x')\nreturn [os.path.getsize('seen'), open('given').read(), os.path.isdir('.git')]"
    examples = [{"input": {}, "output": [1, "hi", False]}, {"input": {}, "output": [2, "hi", False]}]
    python_tool(project / ".vespe/tools/tool-e", "e", body, examples=examples, example_files={"given": "hi", "deep/er": ""})
    assert problems(project, "tool-e") == [None, None]
    assert not (project / "seen").exists()


def test_an_example_may_ask_for_a_git_repository_with_its_files_committed(project: Path) -> None:
    body = "import subprocess\nreturn subprocess.run(['git', 'status', '--short'], capture_output=True, text=True).stdout"
    python_tool(
        project / ".vespe/tools/tool-g", "g", body, examples=[{"input": {}, "output": ""}], example_files={"a": "1"}, example_git=True
    )
    assert problems(project, "tool-g") == [None]


def test_example_files_stay_inside_their_directory(project: Path, tmp_path: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-e", "e", "return 1", examples=[{"input": {}, "output": 1}], example_files={"../../escaped": "x"}
    )
    with pytest.raises(InvalidTool, match="outside the directory"):
        problems(project, "tool-e")
