"""`vespe tool resolve`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool

Command = Callable[..., Any]


def test_the_winner_its_reason_and_what_it_shadows_are_said(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-mine", "read_file", "return 1")
    command("kit", "activate", "file_io_without_git")
    document = command("tool", "resolve", "read_file", "--json").document
    assert (document["uid"], document["scope"]) == ("tool-mine", "project_tools") and document[
        "reason"
    ]
    assert [shadow["scope"] for shadow in document["shadows"]] == ["file_io_without_git"]
    assert "shadowed" in command("tool", "resolve", "read_file").out


def test_a_snapshot_differs_once_a_name_means_another_tool(command: Command, project: Path) -> None:
    command("kit", "activate", "file_io_without_git")
    assert command("tool", "resolve", "--all", "--snapshot", "tools.json").code == 0
    assert command("tool", "resolve", "--check", "tools.json").code == 0
    python_tool(project / ".vespe/tools/tool-mine", "read_file", "return 1")
    said = command("tool", "resolve", "--check", "tools.json")
    assert said.code == 1 and "read_file" in said.out and "tool-mine" in said.out


def test_a_snapshot_differs_once_the_tools_bytes_do(command: Command, project: Path) -> None:
    tool = python_tool(project / ".vespe/tools/tool-mine", "mine", "return 1")
    command("tool", "resolve", "--all", "--snapshot", "tools.json")
    (tool / "main.py").write_text("def mine(): return 2\n", encoding="utf-8")
    assert command("tool", "resolve", "--check", "tools.json").code == 1


def test_a_file_that_is_no_snapshot_is_4(command: Command, project: Path) -> None:
    (project / "tools.json").write_text(json.dumps({"tools": []}), encoding="utf-8")
    assert command("tool", "resolve", "--check", "tools.json").code == 4


def test_a_name_and_all_together_are_a_usage_error(command: Command) -> None:
    assert command("tool", "resolve", "x", "--all").code == 2
    assert command("tool", "resolve").code == 2


def test_p1_what_may_not_run_is_said_to_be_untrusted(
    command: Command, project: Path, tmp_path: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-mine", "mine", "return 1")
    shutil.copytree(project, tmp_path / "clone")
    document = command(
        "tool", "resolve", "mine", "--json", "--project", str(tmp_path / "clone")
    ).document
    assert document["trusted"] is False and document["candidates"][0]["trusted"] is False
    assert (
        "untrusted" in command("tool", "resolve", "mine", "--project", str(tmp_path / "clone")).out
    )
    assert command("tool", "resolve", "mine", "--json").document["trusted"] is True


def test_a_name_that_means_no_tool_is_kept_in_the_snapshot_and_said(
    command: Command, project: Path
) -> None:
    tool = python_tool(project / ".vespe/tools/tool-mine", "mine", "return 1")
    (tool / "main.py").unlink()
    said = command("tool", "resolve", "--all", "--snapshot", "tools.json")
    assert "mine does not resolve" in said.err
    (tool / "main.py").write_text("def mine(): return 1\n", encoding="utf-8")
    assert command("tool", "resolve", "--check", "tools.json").code == 1


def test_a_check_and_a_snapshot_of_one_file_compare_before_they_write(
    command: Command, project: Path
) -> None:
    command("tool", "resolve", "--all", "--snapshot", "tools.json")
    python_tool(project / ".vespe/tools/tool-mine", "mine", "return 1")
    assert command("tool", "resolve", "--snapshot", "tools.json", "--check", "tools.json").code == 1
