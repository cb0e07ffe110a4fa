"""`vespe tool test`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.ondisk import python_tool

Command = Callable[..., Any]
GOOD = {"input": {}, "output": 1}


def test_examples_that_hold_pass(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1", examples=[GOOD, {"input": {"x": 1}, "error": "invalid_arguments"}])
    document = command("tool", "test", "--json").document
    assert document["summary"] == {"passed": 2, "failed": 0, "tools": 1, "without_examples": []}


def test_an_example_that_fails_names_its_pointer_and_both_values(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 2", examples=[GOOD])
    said = command("tool", "test", "one")
    assert said.code == 1 and "FAIL one /examples/0: gave 2, expected 1" in said.out


def test_a_tool_without_examples_is_named(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 2")
    assert "1 without examples: one" in command("tool", "test").err


def test_a_broken_tool_fails_and_hides_no_other(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1", examples=[GOOD])
    (project / ".vespe/tools/tool-broken").mkdir()
    (project / ".vespe/tools/tool-broken/config.json").write_text("{", encoding="utf-8")
    said = command("tool", "test", "--json")
    assert said.code == 1 and (said.document["summary"]["passed"], said.document["summary"]["failed"]) == (1, 1)
    assert "FAIL tool-broken: " in command("tool", "test").out
