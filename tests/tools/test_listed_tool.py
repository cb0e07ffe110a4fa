import copy
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from vespe.models import Tool
from vespe.records import json_of
from vespe.tools import catalog, directory
from vespe.tools.directory import Judged
from vespe.tools.listed_tool import ListedTool, listed_tool


@pytest.fixture
def listed(tmp_path: Path) -> tuple[Tool, Tool]:
    """Return a tool that was listed, and the same tool loaded from its directory."""
    python_tool(tmp_path / "tool-a", "a", "return text", params="text", tags=["x"])
    judged: dict[str, Judged] = {}
    found = catalog.scan(tmp_path, scope="s", kit_id=None, judged=judged)
    whole = directory.load(tmp_path / "tool-a", scope="s")
    return listed_tool(found["tool-a"], judged["tool-a"]), whole


def test_a_listed_tool_is_the_tool_of_its_directory(listed: tuple[Tool, Tool]) -> None:
    tool, whole = listed
    assert tool == whole and whole == tool and tool != replace(whole, name="b")
    assert json_of(tool) == json_of(whole)
    assert repr(tool).partition("(")[2] == repr(whole).partition("(")[2]


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda tool: pickle.loads(pickle.dumps(tool)), replace]
)
def test_a_copy_of_a_listed_tool_is_the_same_tool(listed: tuple[Tool, Tool], copied: Any) -> None:
    tool, whole = listed
    assert copied(tool) == whole == copied(copied(tool))


def test_a_listed_tool_is_not_read_again(listed: tuple[Tool, Tool]) -> None:
    tool, whole = listed
    assert tool.directory is not None
    shutil.rmtree(tool.directory)
    assert (tool.name, tool.itself.scope) == ("a", "s")
    assert tool.input_schema == whole.input_schema and tool.tags == ("x",)


def test_a_listed_tool_has_no_other_attributes(listed: tuple[Tool, Tool]) -> None:
    tool, _ = listed
    assert isinstance(tool, ListedTool)
    with pytest.raises(AttributeError, match="nothing"):
        tool.nothing  # noqa: B018  # reading it is what is tested
    with pytest.raises(AttributeError):
        tool.name = "b"  # type: ignore[misc]  # it is frozen
