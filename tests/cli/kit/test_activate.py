"""`vespe kit activate`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]


def test_kits_are_active_in_the_order_given_and_unknown_keys_stay(
    command: Command, project: Path
) -> None:
    config = project / ".vespe/config.json"
    config.write_text(
        json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"x_future": [1]}),
        encoding="utf-8",
    )
    said = command("kit", "activate", "file_io_without_git", "file_io_with_git", "--json")
    assert said.document == {"active_kits": ["file_io_without_git", "file_io_with_git"]}
    assert json.loads(config.read_text(encoding="utf-8"))["x_future"] == [1]


def test_an_unknown_kit_changes_nothing_and_names_the_nearest(
    command: Command, project: Path
) -> None:
    before = (project / ".vespe/config.json").read_bytes()
    said = command("kit", "activate", "file_io_with_git", "file_io_without_gti")
    assert said.code == 3 and "did you mean file_io_without_git" in said.err
    assert (project / ".vespe/config.json").read_bytes() == before


def test_it_is_said_before_a_tool_takes_another_s_name_whether_the_contract_is_kept(
    command: Command,
) -> None:
    command("kit", "activate", "file_io_without_git")
    said = command("kit", "activate", "file_io_with_git")
    assert (
        "read_file of file_io_without_git shadows that of file_io_with_git and is compatible "
        "with it"
    ) in said.err
    assert (
        "write_file of file_io_without_git shadows that of file_io_with_git and is not "
        "compatible with it (/schema/input/" in said.err
    )
    assert said.err.index("shadows") < said.err.index("active: ")
    assert "/schema/output" not in said.err  # the first change alone, and how to see the others
    names = "file_io_with_git/write_file file_io_without_git/write_file"
    assert f", and 3 more: `vespe tool diff {names}` shows all)" in said.err
    assert "are required; callers" in command("tool", "diff", *names.split()).out
    assert (
        "file_io_without_git is active before file_io_with_git, so its tools are used" in said.err
    )
    assert "after `vespe kit deactivate file_io_without_git`, those of" in said.err
    assert "shadows" not in command("kit", "activate", "file_io_with_git").err
    command("kit", "deactivate", "file_io_without_git")
    assert "in file_io_with_git" in command("tool", "resolve", "write_file").out


def test_a_kit_that_lies_here_and_is_not_found_is_said_how_to_find(
    command: Command, project: Path
) -> None:
    command("kit", "create", "words", "--in", str(project))
    for name in ("words", "./words"):
        said = command("kit", "activate", name)
        assert said.code == 3
        link, activate = said.err.split("`vespe ")[1:]
        assert command(*link.split("`")[0].split()).code == 0
        assert command(*activate.split("`")[0].split()).code == 0
        command("kit", "deactivate", "words")
        command("kit", "unlink", "words")


def test_a_kit_with_a_version_is_answered_with_the_command_without_it(command: Command) -> None:
    said = command("kit", "activate", "file_io_without_git@1")
    assert said.code == 3 and "MCP server" not in said.err
    assert "a kit is activated without a version: file_io_without_git@1" in said.err
    hint = said.err.partition("`vespe ")[2].partition("`")[0]
    assert hint == "kit activate file_io_without_git" and command(*hint.split()).code == 0
    unknown = command("kit", "activate", "file_io_without_gti@1")
    assert unknown.code == 3 and "file_io_without_git" in unknown.err
