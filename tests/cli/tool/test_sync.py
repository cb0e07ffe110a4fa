"""`vespe tool sync`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
BEFORE = 'def greet(who: str) -> str:\n    """Greet somebody."""\n    return "hello " + who\n'
AFTER = (
    'def greet(who: str, lang: str = "en") -> str:\n    """Greet somebody."""\n'
    "    return lang + who\n"
)


@pytest.fixture
def tool(command: Command, project: Path) -> Path:
    (project / "greet.py").write_text(BEFORE, encoding="utf-8")
    return Path(
        command("tool", "create", "greet", "--from", "greet.py:greet", "--json").document["path"]
    )


def test_a_changed_function_changes_the_schema_and_the_call_works(
    command: Command, tool: Path
) -> None:
    (tool / "greet.py").write_text(AFTER, encoding="utf-8")
    said = command("tool", "sync", "greet")
    assert said.code == 0 and any(
        line.startswith("+") and "lang" in line for line in said.out.splitlines()
    )
    assert command("tool", "run", "greet", "who=x", "lang=de").out == "dex"


def test_check_changes_nothing_and_is_exit_1(command: Command, tool: Path) -> None:
    before = (tool / "config.json").read_text(encoding="utf-8")
    assert command("tool", "sync", "--check").code == 0
    (tool / "greet.py").write_text(AFTER, encoding="utf-8")
    assert (
        command("tool", "sync", "--check").code == 1
        and (tool / "config.json").read_text(encoding="utf-8") == before
    )


def test_what_was_added_by_hand_stays_while_its_type_does(command: Command, tool: Path) -> None:
    config = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    config["schema"]["input"]["properties"]["who"] |= {"maxLength": 9, "description": "Whom."}
    (tool / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (tool / "greet.py").write_text(AFTER, encoding="utf-8")
    command("tool", "sync", "greet")
    properties = json.loads((tool / "config.json").read_text(encoding="utf-8"))["schema"]["input"][
        "properties"
    ]
    assert (
        properties["who"] == {"description": "Whom.", "maxLength": 9, "type": "string"}
        and properties["lang"]["default"] == "en"
    )


def test_what_has_no_function_is_refused_by_name_and_left_out_without(command: Command) -> None:
    command("tool", "create", "say", "--type", "shell_command")
    assert command("tool", "sync", "say").code == 2 and command("tool", "sync").code == 0


def test_lint_notices_an_argument_that_the_schema_lacks(command: Command, tool: Path) -> None:
    assert "lang" not in command("lint").out
    (tool / "greet.py").write_text(AFTER, encoding="utf-8")
    assert "lang" in command("lint").out
