"""`vespe agent answers`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vespe.calls import policy_answers
from vespe.calls.policy_answers import KeptAnswer

Command = Callable[..., Any]


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
