"""`vespe agent answers`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool
from vespe.calls import policy_answers
from vespe.calls.policy_answers import KeptAnswer

Command = Callable[..., Any]


def test_a_run_names_the_tools_that_an_earlier_answer_denies(
    command: Command, project: Path
) -> None:
    (project / "script.json").write_text('{"turns": [{"text": "Hi."}]}', encoding="utf-8")
    run = ("agent", "run", "x", "--provider", "simulated", "--script", "script.json")
    assert "denied" not in command(*run).err
    policy_answers.keep(str(project), KeptAnswer(tool="project_tools/a", allowed=False, digest="d"))
    said = "project_tools/a is denied by your earlier answer; `vespe agent answers --forget "
    assert f"{said}project_tools/a` asks again" in command(*run).err
    policy_answers.keep(str(project), KeptAnswer(tool="project_tools/b", allowed=False, digest="d"))
    assert "project_tools/a, project_tools/b are denied by" in command(*run).err


def test_a_denied_tool_that_was_chosen_is_named_and_no_others(
    command: Command, project: Path
) -> None:
    for name in ("seen", "hidden"):
        python_tool(project / f".vespe/tools/tool-{name}", name, "return 1")
    turns = [{"tool_calls": [{"name": "hidden", "arguments": {}}]}, {"text": "Done."}]
    (project / "script.json").write_text(json.dumps({"turns": turns}), encoding="utf-8")
    run = ("agent", "run", "x", "--provider", "simulated", "--script", "script.json")
    command("config", "set", "approvals.deny", '["project_tools/hidden"]')
    warning = "the model does not see hidden, because `approvals.deny` or an earlier answer"
    said = command(*run, "--tools", "seen,hidden").err
    assert warning in said and "does not see seen" not in said
    # the model itself is told of no tool that is denied
    assert "there is no tool called 'hidden' here: the tools are seen; " in said
    said = command(*run, "--tools", "hidden").err
    assert warning in said and "'hidden' here: no tool is available; " in said
    assert "does not see" not in command(*run).err


def test_answers_are_listed_and_forgotten_by_tool_or_all(command: Command, project: Path) -> None:
    for name in ("a", "b"):
        policy_answers.keep(
            str(project), KeptAnswer(tool=f"project_tools/{name}", allowed=name == "a", digest="d")
        )
    listed = command("agent", "answers", "--json").document["answers"]
    assert [(one["tool"], one["allowed"]) for one in listed] == [
        ("project_tools/a", True),
        ("project_tools/b", False),
    ]
    assert (
        command("agent", "answers", "--forget", "b").code == 0
        and "project_tools/a\tallowed" in command("agent", "answers").out
    )
    assert command("agent", "answers", "--forget", "b").code == 3
    assert command("agent", "answers", "--forget-all", "--json").document == {"answers": []}
