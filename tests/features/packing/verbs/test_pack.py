"""`vespe kit pack`."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_kit, write_tool

Command = Callable[..., Any]


def test_a_shipped_kit_is_packed_and_said_as_data(command: Command, tmp_path: Path) -> None:
    said = command(
        "kit", "pack", "file_io_with_git", "-o", str(tmp_path / "x.kit"), "--json"
    ).document
    assert (
        said["kit_id"] == "file_io_with_git"
        and said["digest"].startswith("v1:")
        and said["size"] == (tmp_path / "x.kit").stat().st_size
    )


def test_nothing_to_pack_is_exit_3_and_nowhere_to_write_exit_1(command: Command) -> None:
    assert command("kit", "pack").code == 3
    assert command("kit", "pack", "file_io_with_git", "-o", "/dev/null/x.kit").code == 1


def test_a_form_for_clients_is_written_compared_and_told_in_json(
    project: Path, command: Command
) -> None:
    write_kit(project, "k")
    pack = ("kit", "pack", "./k", "--as", "skill", "-o", "out")
    assert command(*pack, "--json").document["changed"] == ["k/SKILL.md"]
    assert command(*pack, "--check").code == 0
    (project / "out/k/SKILL.md").write_text("mine", encoding="utf-8")
    other = command(*pack, "--check")
    assert other.code == 1 and "out/k/SKILL.md differs from what the kit produces" in other.err
    assert command("kit", "pack", "./k", "--check").code == 2


def test_the_files_of_a_tool_that_was_removed_are_told_apart_and_go(
    project: Path, command: Command
) -> None:
    kit = write_kit(project, "k")
    python_tool(kit / "tool-one", "one", "return 1")
    python_tool(kit / "tool-two", "two", "return 2")
    pack = ("kit", "pack", "./k", "--as", "plugin", "-o", "out")
    assert command(*pack).code == 0
    packed = project / "out/kits/k/tool-two"
    files = len(list(packed.iterdir()))
    shutil.rmtree(kit / "tool-two")
    checked = command(*pack, "--check")
    assert checked.code == 1
    assert "out/kits/k/tool-two/config.json is no longer in the kit" in checked.err
    assert "tool-two/config.json differs" not in checked.err
    assert f" differ; {files} more files to remove" in checked.err
    assert f" written, {files} removed" in command(*pack).err
    assert not packed.exists()
    assert command(*pack, "--check").code == 0
    assert command("lint", "out/kits/k").code == 0


def test_a_skill_of_that_name_that_somebody_wrote_is_kept(project: Path, command: Command) -> None:
    write_kit(project, "k")
    pack = ("kit", "pack", "./k", "--as", "skill", "-o", "out")
    mine = project / "out/k/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("---\nname: k\n---\nMine.\n", encoding="utf-8")
    refused = command(*pack)
    assert refused.code == 6 and "out/k/SKILL.md is a skill that was not made from" in refused.err
    assert "Mine." in mine.read_text(encoding="utf-8")
    mine.unlink()
    assert command(*pack).code == 0
    mine.write_text(mine.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    assert command(*pack).code == 0 and "More." not in mine.read_text(encoding="utf-8")
    # A link is replaced, and what it leads to is kept.
    (project / "other").write_text("Mine.", encoding="utf-8")
    mine.unlink()
    mine.symlink_to(project / "other")
    assert command(*pack).code == 0 and not mine.is_symlink()
    assert (project / "other").read_text(encoding="utf-8") == "Mine."


@pytest.mark.parametrize("form", ["skill", "plugin", "mcpb"])
def test_what_a_reader_does_not_see_goes_out_in_no_form_and_an_emoji_does(
    form: str, project: Path, command: Command
) -> None:
    write_kit(project, "k")
    write_tool(project / "k/tool-t", "t", description="Tell about \U0001f469\u200d\U0001f52c.")
    assert command("kit", "pack", "./k", "--as", form, "-o", "out").code == 0
    write_tool(project / "k/tool-u", "u", description="Read \u202etxt.")
    said = command("kit", "pack", "./k", "--as", form, "-o", "other")
    assert (
        said.code == 4
        and "tool-u/config.json" in said.err
        and "U+202E RIGHT-TO-LEFT OVERRIDE" in said.err
    )
    assert not (project / "other").exists() and "U+202E" in command("lint", str(project / "k")).out


@pytest.mark.parametrize("form", ["kit", "plugin"])
def test_files_that_may_be_private_are_packed_and_told(
    form: str, project: Path, command: Command
) -> None:
    write_kit(project, "k")
    (project / "k/.env").write_text("TOKEN=x", encoding="utf-8")
    done = command("kit", "pack", "./k", "--as", form, "-o", "out")
    assert done.code == 0 and ".env is a file that secrets are kept in" in done.err
    (project / "k/.env").unlink()
    done = command("kit", "pack", "./k", "--as", form, "-o", "out2")
    assert done.code == 0 and "secrets" not in done.err
