"""`vespe tool list`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool

Command = Callable[..., Any]
KEYS = {"name", "uid", "scope", "kit_id", "type", "description", "status", "shadowed_by", "problem"}


def test_the_json_shape_is_the_contracts(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    assert command("tool", "list", "--json").document == {
        "tools": [
            {
                "name": "one",
                "uid": "tool-one",
                "scope": "project_tools",
                "kit_id": None,
                "type": "python_script",
                "description": "The one tool, written by hand for a test.",
                "status": "available",
                "shadowed_by": None,
                "problem": None,
            }
        ]
    }


def test_all_shows_shadowed_inactive_and_broken_tools_with_their_reason(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-mine", "read_file", "return 1")
    (project / ".vespe/tools/tool-broken").mkdir()
    (project / ".vespe/tools/tool-broken/config.json").write_text("{", encoding="utf-8")
    command("kit", "activate", "file_io_without_git")
    rows = command("tool", "list", "--all", "--json").document["tools"]
    status = {row["uid"]: row["status"] for row in rows}
    assert all(row.keys() == KEYS for row in rows)
    assert (status["tool-mine"], status["tool-broken"]) == ("available", "broken")
    assert {row["status"] for row in rows if row["kit_id"] == "file_io_with_git"} == {"inactive"}
    shadowed = next(
        row for row in rows if row["name"] == "read_file" and row["kit_id"] == "file_io_without_git"
    )
    assert (shadowed["status"], shadowed["shadowed_by"]) == ("shadowed", "tool-mine")
    broken = next(row for row in rows if row["uid"] == "tool-broken")
    assert broken["name"] is None and "is not JSON" in broken["problem"]


def test_an_empty_project_says_on_stderr_how_to_get_tools(command: Command) -> None:
    said = command("tool", "list")
    assert said.out == "" and "vespe kit list" in said.err


def test_one_scope_alone_can_be_listed(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-mine", "mine", "return 1")
    command("kit", "activate", "file_io_without_git")
    assert command("tool", "list", "--kit", "project_tools").out.split("\t")[0] == "mine"


def test_outside_a_project_the_exit_code_is_3_and_the_hint_says_how_to_make_one(
    command: Command, tmp_path: Path
) -> None:
    said = command("tool", "list", "--project", str(tmp_path), "--json")
    assert said.code == 3 and "vespe init" in said.document["error"]["hint"]


def test_a_scope_that_does_not_exist_is_3_with_the_nearest(command: Command) -> None:
    said = command("tool", "list", "--kit", "file_io_without_gti", "--json")
    assert said.code == 3 and "file_io_without_git" in said.document["error"]["close"]


def test_an_inactive_kit_says_how_to_see_its_tools(command: Command) -> None:
    said = command("tool", "list", "--kit", "file_io_with_git")
    assert (said.code, said.out) == (0, "") and "vespe kit activate file_io_with_git" in said.err
    assert "write_file" in command("tool", "list", "--all", "--kit", "file_io_with_git").out


def test_broken_tools_that_are_left_out_are_counted(command: Command, project: Path) -> None:
    (project / ".vespe/tools/tool-broken").mkdir()
    assert "1 broken tool left out" in command("tool", "list").err


def test_p48_a_tools_directory_that_is_none_is_a_warning_and_the_kits_are_listed(
    command: Command, project: Path
) -> None:
    command("kit", "activate", "file_io_without_git")
    (project / ".vespe/tools").rmdir()
    (project / ".vespe/tools").write_text("", encoding="utf-8")
    said = command("tool", "list", "--json")
    assert said.code == 0 and "read_file" in [tool["name"] for tool in said.document["tools"]]
    assert "the tools of project_tools cannot be listed" in said.err
    assert command("tool", "run", "read_file", "path=x").code == 4


def test_the_beginning_of_kits_names_finds_all_of_them(command: Command) -> None:
    for arguments in (("tool", "list", "--kit", "file_io"), ("kit", "activate", "file_io")):
        said = command(*arguments)
        assert (
            said.code == 3
            and "tip: did you mean file_io_with_git or file_io_without_git?" in said.err
        )


def test_sizes_and_what_models_see_cannot_be_combined(command: Callable[..., Any]) -> None:
    said = command("tool", "list", "--size", "--as-models")
    assert said.code == 2 and "--as-models and --size cannot be combined" in said.err
