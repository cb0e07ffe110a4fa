"""Examples as tests: run in order in one fresh directory, compared as JSON compares."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.errors import InvalidDocument, InvalidTool, NotTrusted
from vespe.features.examples.examples import record, run_all, run_examples
from vespe.projects.workspace import open_workspace


def problems(project: Path, uid: str) -> list[str | None]:
    workspace = open_workspace(project)
    path = CallPath(workspace=workspace, registry=ToolRegistry())
    return [result.problem for result in run_examples(path, workspace.tool(uid))]


def test_examples_share_one_directory_that_is_not_the_project(project: Path) -> None:
    body = (
        "import os\nopen('seen', 'a').write('x')\nreturn [os.path.getsize('seen'), "
        "open('given').read(), os.path.isdir('.git')]"
    )
    examples = [
        {"input": {}, "output": [1, "hi", False]},
        {"input": {}, "output": [2, "hi", False]},
    ]
    python_tool(
        project / ".vespe/tools/tool-e",
        "e",
        body,
        examples=examples,
        example_files={"given": "hi", "deep/er": ""},
    )
    assert problems(project, "tool-e") == [None, None]
    assert not (project / "seen").exists()


@pytest.mark.parametrize("files", [5, ["a.txt"], {"a.txt": 5}])
def test_example_files_that_are_none_are_told(project: Path, files: Any) -> None:
    python_tool(
        project / ".vespe/tools/tool-e",
        "e",
        "return 1",
        examples=[{"input": {}, "output": 1}],
        example_files=files,
    )
    with pytest.raises(InvalidTool, match="`example_files` must be an object"):
        problems(project, "tool-e")


def test_an_example_may_ask_for_a_git_repository_with_its_files_committed(project: Path) -> None:
    body = (
        "import subprocess\nreturn subprocess.run(['git', 'status', '--short'], "
        "capture_output=True, text=True).stdout"
    )
    python_tool(
        project / ".vespe/tools/tool-g",
        "g",
        body,
        examples=[{"input": {}, "output": ""}],
        example_files={"a": "1"},
        example_git=True,
    )
    assert problems(project, "tool-g") == [None]


def test_example_files_stay_inside_their_directory(project: Path, tmp_path: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-e",
        "e",
        "return 1",
        examples=[{"input": {}, "output": 1}],
        example_files={"../../escaped": "x"},
    )
    with pytest.raises(InvalidTool, match="leads out of the directory"):
        problems(project, "tool-e")


EVIL = "sh -c 'touch {0}; cat'"
CONFIG = '[core]\n\tfsmonitor = "{0}"\n\thooksPath = hooks\n[filter "x"]\n\tclean = "{0}"\n'


def hostile(project: Path, marker: Path, *names: str) -> None:
    """Write a tool whose example files are git's own, or what git goes by."""
    evil = EVIL.format(marker)
    every = {
        ".git/config": CONFIG.format(evil),
        ".gitattributes": "* filter=x\n",
        "hooks/pre-commit": f"#!/bin/sh\n{evil}\n",
        "a": "b",
    }
    files = {name: every[name] for name in names}
    python_tool(
        project / ".vespe/tools/tool-e",
        "e",
        "return 1",
        examples=[{"input": {}}],
        example_files=files,
        example_git=True,
    )


def test_p1_example_files_run_nothing_where_the_tool_may_not_run(
    project: Path, tmp_path: Path
) -> None:
    hostile(project, tmp_path / "ran", ".git/config", ".gitattributes", "hooks/pre-commit", "a")
    shutil.copytree(project, tmp_path / "clone")
    with pytest.raises(NotTrusted):
        problems(tmp_path / "clone", "tool-e")
    assert not (tmp_path / "ran").exists()


def test_example_files_make_no_repository_and_what_git_goes_by_runs_nothing(
    project: Path, tmp_path: Path
) -> None:
    hostile(project, tmp_path / "ran", ".git/config")
    with pytest.raises(InvalidTool, match=r"\.git"):
        problems(project, "tool-e")
    shutil.rmtree(project / ".vespe/tools/tool-e")
    hostile(project, tmp_path / "ran", ".gitattributes", "hooks/pre-commit", "a")
    assert problems(project, "tool-e") == [None] and not (tmp_path / "ran").exists()


def test_tools_are_tested_at_the_same_time_and_told_in_their_order(project: Path) -> None:
    body = "import time\nopen(given, 'w').close()\nend = time.monotonic() + 20\nimport os\n"
    body += (
        "while not os.path.exists(wanted) and time.monotonic() < end:\n    time.sleep(0.01)\n"
        "return os.path.exists(wanted)"
    )
    for one, other in (("a", "b"), ("b", "a")):
        given = {"given": str(project / one), "wanted": str(project / other)}
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in given}}
        examples = [{"input": given, "output": True}]
        more: dict[str, Any] = {
            "schema": schema,
            "examples": examples,
            "permissions": {"write": [str(project)]},
        }
        python_tool(project / f".vespe/tools/tool-{one}", one, body, params="given, wanted", **more)
    workspace = open_workspace(project)
    tools = [workspace.tool("tool-b"), workspace.tool("tool-a")]
    found = list(run_all(CallPath(workspace=workspace, registry=ToolRegistry()), tools, jobs=2))
    assert [[(one.tool, one.problem) for one in results] for results in found] == [
        [("b", None)],
        [("a", None)],
    ]


def test_only_outputs_that_differ_or_that_nothing_expects_are_recorded(project: Path) -> None:
    examples = [
        {"input": {}, "output": 1},
        {"input": {}},
        {"input": {}, "output_schema": False},
        {"input": {}, "error": "tool_error"},
    ]
    python_tool(project / ".vespe/tools/tool-e", "e", "return {'n': 2}", examples=examples)
    workspace = open_workspace(project)
    tool = workspace.tool("e")
    results = list(run_examples(CallPath(workspace=workspace, registry=ToolRegistry()), tool))
    assert record(tool, results) == 2
    written = open_workspace(project).tool("e").examples
    assert written == (
        {"input": {}, "output": {"n": 2}},
        {"input": {}, "output": {"n": 2}},
        *examples[2:],
    )


def test_nothing_is_recorded_over_a_file_that_changed_meanwhile(project: Path) -> None:
    directory = python_tool(
        project / ".vespe/tools/tool-e", "e", "return 2", examples=[{"input": {}}]
    )
    workspace = open_workspace(project)
    tool = workspace.tool("e")
    results = list(run_examples(CallPath(workspace=workspace, registry=ToolRegistry()), tool))
    text = (
        (directory / "config.json")
        .read_text(encoding="utf-8")
        .replace("by hand", "by another hand")
    )
    (directory / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDocument, match="changed in the meantime"):
        record(tool, results)
    assert (directory / "config.json").read_text(encoding="utf-8") == text
