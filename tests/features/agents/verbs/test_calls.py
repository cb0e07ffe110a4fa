"""`vespe agent calls`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import results
from tests.features.agents.test_open_calls import USER
from tests.support.ondisk import python_tool

Command = Callable[..., Any]


@pytest.fixture
def kept(project: Path) -> Path:
    """A conversation that ends in two calls, of a tool that notes its runs."""
    mark = project / "marks"
    python_tool(
        project / ".vespe/tools/tool-mark",
        "mark",
        f"open({str(mark)!r}, 'a').write('x')\nreturn 'marked'",
    )
    calls = [
        {"id": name, "type": "function", "function": {"name": "mark", "arguments": "{}"}}
        for name in ("a", "b")
    ]
    file = project / "kept.json"
    file.write_text(
        json.dumps(
            {"messages": [USER, {"role": "assistant", "content": None, "tool_calls": calls}]}
        ),
        encoding="utf-8",
    )
    return file


def told(kept: Path) -> list[tuple[str, str]]:
    return results(json.loads(kept.read_text(encoding="utf-8"))["messages"])


def test_the_calls_that_wait_are_listed(command: Command, kept: Path) -> None:
    said = command("agent", "calls", str(kept), "--json").document
    assert said == {
        "calls": [
            {"id": name, "name": "mark", "arguments": "{}", "begun": False} for name in ("a", "b")
        ]
    }
    assert command("agent", "calls", str(kept)).out.count("mark") == 2


def test_without_a_terminal_nothing_is_approved_but_with_yes(
    command: Command, kept: Path, project: Path
) -> None:
    assert (
        command("agent", "calls", str(kept), "approve").code == 6
        and not (project / "marks").exists()
    )
    said = command("agent", "calls", str(kept), "approve").err
    assert said.count("`mark` would run (a tool of this project)") == 2
    assert "You are asked because the conversation was saved before" in said
    assert (
        command("agent", "calls", str(kept), "approve", "--yes").code == 0
        and (project / "marks").read_text(encoding="utf-8") == "xx"
    )
    assert told(kept) == [("a", "marked"), ("b", "marked")]
    assert (
        command("agent", "calls", str(kept), "approve", "--yes").code == 0
        and (project / "marks").read_text(encoding="utf-8") == "xx"
    )


def test_one_is_approved_and_another_denied(command: Command, kept: Path, project: Path) -> None:
    assert command("agent", "calls", str(kept), "deny", "a").code == 0
    assert (
        command("agent", "calls", str(kept), "approve", "b", "--yes", "--json").document[
            "open_calls"
        ]
        == 0
    )
    assert (
        (project / "marks").read_text(encoding="utf-8") == "x"
        and "denied" in told(kept)[0][1]
        and told(kept)[1] == ("b", "marked")
    )


def test_what_the_configuration_denies_is_denied_whoever_approves(
    command: Command, kept: Path, project: Path
) -> None:
    command("config", "set", "approvals.deny", '["mark"]')
    assert (
        command("agent", "calls", str(kept), "approve", "--yes").code == 1
        and not (project / "marks").exists()
    )


def test_an_id_that_does_not_wait_is_3_and_a_file_that_is_no_conversation_4(
    command: Command, kept: Path, project: Path
) -> None:
    assert command("agent", "calls", str(kept), "approve", "z", "--yes").code == 3
    (project / "bad.json").write_text("{}", encoding="utf-8")
    assert command("agent", "calls", str(project / "bad.json")).code == 4


def test_p1_approving_in_an_untrusted_project_is_6(
    command: Command, kept: Path, project: Path
) -> None:
    command("untrust")
    assert (
        command("agent", "calls", str(kept), "approve", "--yes").code == 6
        and not (project / "marks").exists()
    )
