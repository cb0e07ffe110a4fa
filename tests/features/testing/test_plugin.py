"""The pytest plugin, in a pytest of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vespe import Project

MODULE = """
from vespe import tool

@tool(examples=[{"input": {"n": 2}, "output": 4}, {"input": {"n": 3}, "output": 7}])
def double(n: int) -> int:
    return 2 * n

def test_itself():
    assert double(2) == 4
"""


def run(directory: Path, *arguments: str) -> str:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "vespe.features.testing.plugin",
        "-q",
        "-rA",
        *arguments,
    ]
    # an installed Vespe registers the plugin by itself
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command,
        cwd=directory,
        env=alone,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout + done.stderr


@pytest.fixture
def directory(home: Path, tmp_path: Path) -> Path:
    (tmp_path / "test_tools.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return tmp_path


def test_the_examples_of_functions_are_items_where_that_is_asked_for(directory: Path) -> None:
    said = run(directory, "--vespe-examples")
    assert (
        "2 passed" in said
        and "1 failed" in said
        and "double[example 1]" in said
        and "Traceback" not in said
    )


def test_without_the_option_nothing_changes(directory: Path) -> None:
    assert "1 passed" in run(directory) and "example" not in run(directory)


def test_the_examples_of_tools_on_disk_are_items(directory: Path) -> None:
    project = Project.init(directory)
    wrong = {"input": {"text": "a b"}, "output": {"words": 3}}
    project.create_tool("count", type="python_script", examples=[{"input": {"text": "a"}}, wrong])
    said = run(directory, "--vespe-examples", ".vespe/tools")
    assert "1 passed" in said and "1 failed" in said and "count[example 1]" in said


def test_a_config_that_cannot_be_read_is_a_sentence(directory: Path) -> None:
    (directory / "tool-x").mkdir()
    (directory / "tool-x/config.json").write_text("{", encoding="utf-8")
    said = run(directory, "--vespe-examples", "tool-x")
    assert "1 error" in said and "INTERNALERROR" not in said
