"""`vespe tool remove`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool

Command = Callable[..., Any]


def test_without_a_terminal_and_a_yes_nothing_is_removed(command: Command, project: Path) -> None:
    tool = python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    said = command("tool", "remove", "one")
    assert said.code == 6 and tool.is_dir()
    sentence = " ".join(said.err.split())
    assert f"Remove one? This deletes {tool} with everything in it." in sentence
    assert "hint: run it again with --yes" in sentence and "listed above" not in sentence
    assert command("tool", "remove", "one", "--yes").code == 0 and not tool.exists()


def test_a_broken_tool_can_be_removed_by_its_uid(command: Command, project: Path) -> None:
    broken = project / ".vespe/tools/tool-broken"
    broken.mkdir()
    (broken / "config.json").write_text("{", encoding="utf-8")
    assert (
        command("tool", "remove", "tool-broken", "--yes", "--json").document["uid"] == "tool-broken"
    )
    assert not broken.exists()


def test_a_tool_whose_name_cannot_be_read_is_removed_by_its_directorys(
    command: Command, project: Path
) -> None:
    broken = python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    (broken / "config.json").write_text("{", encoding="utf-8")
    for name in ("one", "project_tools/one"):
        assert "the files are in" in command("tool", "edit", name).err
    assert command("tool", "remove", "one", "--yes").code == 0 and not broken.exists()


def test_so_is_one_of_a_kit_that_is_edited(command: Command, home: Path, project: Path) -> None:
    assert command("kit", "create", "mine").code == 0
    assert command("tool", "create", "one", "--type", "python_script", "--kit", "mine").code == 0
    (broken,) = home.rglob("mine/tool-one")
    (broken / "config.json").write_text("{", encoding="utf-8")
    said = command("tool", "remove", "one", "--kit", "mine", "--yes")
    assert said.code == 0 and not broken.exists(), said.err


def test_of_two_tools_of_one_name_none_is_removed_by_name(command: Command, project: Path) -> None:
    for uid in ("tool-one", "tool-two"):
        python_tool(project / f".vespe/tools/{uid}", "same", "return 1")
    assert command("tool", "remove", "same", "--yes").code == 3
    assert command("tool", "remove", "tool-two", "--yes").code == 0


def test_a_kits_tool_is_not_the_projects_to_remove(command: Command) -> None:
    command("kit", "activate", "file_io_without_git")
    said = command("tool", "remove", "read_file", "--yes")
    assert said.code == 3 and "file_io_without_git" in said.err
