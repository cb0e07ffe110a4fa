"""`vespe tool rename`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import approve_bytes, python_tool
from vespe.calls import policy_answers
from vespe.calls.policy_answers import KeptAnswer
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace
from vespe.trust import gate

Command = Callable[..., Any]


def test_the_name_changes_and_nothing_else(command: Command, project: Path) -> None:
    tool = python_tool(project / ".vespe/tools/tool-one", "one", "return 1", x_future={"a": 1})
    assert command("tool", "rename", "one", "two", "--json").document["uid"] == "tool-one"
    config = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    assert (config["name"], config["x_future"]) == ("two", {"a": 1})
    assert command("tool", "run", "two").out == "1\n"


def test_the_title_of_the_page_follows(command: Command, project: Path) -> None:
    command("tool", "create", "w", "--type", "python_script")
    page = project / ".vespe/tools/tool-w/description.md"
    page.write_text("# w\n\nMy own words on w.\n", encoding="utf-8")
    command("tool", "rename", "w", "w2")
    assert page.read_text(encoding="utf-8") == "# w2\n\nMy own words on w.\n"


def test_what_is_about_the_old_name_alone_is_named(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-calc", "calc", "return 1")
    user_config.set_value("approvals.allow", ["project_tools/calc", "calc", "project_tools/calc*"])
    config = project / ".vespe/config.json"
    document = json.loads(config.read_text(encoding="utf-8"))
    more = {"approvals": {"ask": ["calc"]}, "tools": {"calc": {"expose": "never"}}}
    config.write_text(json.dumps({**document, **more}), encoding="utf-8")
    root = open_workspace(project).root
    policy_answers.keep(root, KeptAnswer(tool="project_tools/calc", allowed=False))
    said = " ".join(command("tool", "rename", "calc", "calculate").err.split())
    assert "calc is now called calculate" in said
    own = user_config.load_user_config().path
    wrong = f"`approvals.allow` in {own} names project_tools/calc, which is not calculate"
    assert wrong in said and said.count("approvals.allow") == 1
    assert f"`approvals.ask` in {config} names calc, which is not calculate" in said
    assert f"`tools` in {config} has settings for calc, which is not calculate" in said
    assert "your earlier answer denies calc, not calculate" in said
    assert "approvals.ask" not in command("tool", "rename", "calculate", "other").err
    config.write_text(json.dumps({**document, "approvals": 7}), encoding="utf-8")
    assert command("tool", "rename", "other", "another").code == 0


def test_an_approval_goes_on_to_hold(command: Command, project: Path) -> None:
    tool = python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    (tool / "description.md").write_text("# one\n", encoding="utf-8")
    gate.untrust(project)
    approve_bytes(project)
    command("tool", "rename", "one", "two")
    assert (tool / "description.md").read_text(encoding="utf-8") == "# two\n"
    assert command("tool", "run", "two").out == "1\n"
    gate.untrust(project)
    command("tool", "rename", "two", "three")
    assert command("tool", "run", "three").code != 0


def test_a_kits_tool_and_a_taken_name_are_refused(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    python_tool(project / ".vespe/tools/tool-two", "two", "return 2")
    command("kit", "activate", "file_io_without_git")
    assert command("tool", "rename", "one", "two").code == 2
    assert command("tool", "rename", "read_file", "three").code == 3
