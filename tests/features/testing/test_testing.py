"""Tools called in tests as a model would call them."""

import asyncio
import shutil
from pathlib import Path

import pytest

from vespe import NotTrusted, Project, VespeError, tool
from vespe.features.testing import acall, call, example_results


@tool(
    examples=[
        {"input": {"n": 2}, "output": 4},
        {"input": {"n": 3}, "output": 7},
        {"input": {"n": "x"}, "error": "invalid_arguments"},
    ]
)
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def test_a_function_is_called_with_its_arguments_checked(home: Path) -> None:
    assert call(double, n=2).unwrap() == 4 == asyncio.run(acall(double, n=2)).unwrap()
    error = call(lambda_like, text=3).error
    assert error is not None and error.code == "invalid_arguments"


def lambda_like(text: str) -> str:
    return text


def test_the_examples_of_a_function_say_what_they_expect(home: Path) -> None:
    assert [result.passed for result in example_results(double)] == [True, False, True]


def test_the_examples_of_a_projects_tool_run_in_the_project(home: Path, tmp_path: Path) -> None:
    project = Project.init(tmp_path / "mine")
    made = project.create_tool(
        "count",
        type="python_script",
        examples=[{"input": {"text": "a b"}, "output_schema": {"type": "object"}}],
    )
    assert made.directory is not None
    assert [result.passed for result in example_results(made.directory)] == [True]


def test_a_project_that_is_not_trusted_runs_nothing(home: Path, tmp_path: Path) -> None:
    project = Project.init(tmp_path / "mine")
    made = project.create_tool("count", type="python_script", examples=[{"input": {}}])
    (tmp_path / "mine").rename(tmp_path / "other")
    shutil.copytree(tmp_path / "other", tmp_path / "copy")
    with pytest.raises(NotTrusted):
        example_results(tmp_path / "copy/.vespe/tools" / made.uid)


def test_what_is_no_tools_directory_is_said(home: Path, tmp_path: Path) -> None:
    with pytest.raises(VespeError):
        example_results(tmp_path)
