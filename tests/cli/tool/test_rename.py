"""`vespe tool rename`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool

Command = Callable[..., Any]


def test_the_name_changes_and_nothing_else(command: Command, project: Path) -> None:
    tool = python_tool(project / ".vespe/tools/tool-one", "one", "return 1", x_future={"a": 1})
    assert command("tool", "rename", "one", "two", "--json").document["uid"] == "tool-one"
    config = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    assert (config["name"], config["x_future"]) == ("two", {"a": 1})
    assert command("tool", "run", "two").out == "1\n"


def test_a_kits_tool_and_a_taken_name_are_refused(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    python_tool(project / ".vespe/tools/tool-two", "two", "return 2")
    command("kit", "activate", "file_io_without_git")
    assert command("tool", "rename", "one", "two").code == 2
    assert command("tool", "rename", "read_file", "three").code == 3
