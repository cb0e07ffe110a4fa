"""`vespe cache list`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool, write_kit

Command = Callable[..., Any]


def test_each_kit_is_listed_with_its_size_and_its_projects(
    command: Command, project: Path, tmp_path: Path
) -> None:
    python_tool(write_kit(tmp_path / "source", "web") / "tool-a", "one", "return 1")
    assert (
        "the cache is empty" in command("cache", "list").err and command("cache", "list").out == ""
    )
    assert "no kit is installed here" in command("kit", "list", "--outdated").err
    assert command("cache", "list", "--json").document == {
        "kits": [],
        "environments": [],
        "bytes": 0,
    }
    command("kit", "install", str(tmp_path / "source"), "--yes")
    document = command("cache", "list", "--json").document
    (kit,) = document["kits"]
    assert (
        kit["kit_id"] == "web"
        and kit["used_by"] == [str(project)]
        and kit["bytes"] == document["bytes"] > 0
    )
    assert str(project) in command("cache", "list").out
