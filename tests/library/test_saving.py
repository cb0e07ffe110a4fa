"""A function becomes a folder."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from vespe import Project, UsageError, tool

SOURCE = '''
"""Notes."""

from vespe import tool


@tool(read_only=True, timeout_s=9, tags=["notes"])
def shout(text: str, times: int = 1) -> str:
    """Say it loud."""
    return text.upper() * times
'''


@pytest.fixture
def shout(home: Path, tmp_path: Path) -> Any:
    (tmp_path / "notes.py").write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("notes_of_a_test", tmp_path / "notes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.shout


def test_a_saved_function_is_a_tool_of_the_project_that_runs_at_once(
    shout: Any, tmp_path: Path
) -> None:
    project = Project.init(tmp_path / "mine")
    saved = shout.save(tmp_path / "mine/.vespe/tools")
    assert project.call("shout", text="a", times=2).unwrap() == "AA"
    assert (saved.annotations, saved.timeout_s, saved.tags) == (
        {"readOnlyHint": True},
        9,
        ("notes",),
    )
    assert saved.input_schema == shout.tool.input_schema and saved.description == "Say it loud."


def test_a_saved_function_may_stand_in_any_directory_once(shout: Any, tmp_path: Path) -> None:
    saved = shout.save(tmp_path / "kit")
    assert saved.directory is not None
    assert (
        json.loads((Path(saved.directory) / "config.json").read_text(encoding="utf-8"))["name"]
        == "shout"
    )
    with pytest.raises(UsageError, match="already a tool called 'shout'"):
        shout.save(tmp_path / "kit")


def test_a_function_inside_another_cannot_be_saved(home: Path, tmp_path: Path) -> None:
    @tool
    def inner() -> None: ...

    with pytest.raises(UsageError, match="not a top-level function of a file"):
        inner.save(tmp_path)
