"""`vespe tool create`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
SOURCE = '''
def calc(a: float, b: float = 1.0) -> float:
    """Multiply.

    Args:
        a: the left operand
    """
    return a * b
'''


@pytest.mark.parametrize("kind", ["python_script", "shell_command"])
def test_a_template_runs_at_once_without_arguments(command: Command, kind: str) -> None:
    made = command("tool", "create", "made", "--type", kind, "--json").document
    assert made.keys() == {"uid", "name", "path"} and made["uid"].startswith("tool-")
    assert command("tool", "run", "made").code == 0


def test_an_http_template_resolves_and_names_a_placeholder(command: Command) -> None:
    command("tool", "create", "made", "--type", "http_request", "--description", "Fetch an item.")
    document = command("tool", "show", "made", "--json").document
    assert "api.example.com" in document["implementation_details"]["path"] and document["description"] == "Fetch an item."


def test_a_function_becomes_a_tool_with_its_types_and_words(command: Command, project: Path) -> None:
    (project / "calc.py").write_text(SOURCE, encoding="utf-8")
    assert command("tool", "create", "calc", "--from", "calc.py:calc").code == 0
    shown = command("tool", "show", "calc", "--json").document
    assert shown["description"] == "Multiply."
    assert shown["schema"]["input"]["properties"]["a"]["description"] == "the left operand"
    assert command("tool", "run", "calc", "a=6", "b=7").out == "42\n"


def test_a_name_that_is_taken_is_a_usage_error(command: Command) -> None:
    command("tool", "create", "made", "--type", "python_script")
    said = command("tool", "create", "made", "--type", "shell_command", "--json")
    assert said.code == 2 and "already" in said.document["error"]["message"]


@pytest.mark.parametrize("arguments", [(), ("--type", "python_script", "--from", "a.py:a"), ("--from", "a.py:a", "--path", "b.py")])
def test_type_and_from_exclude_each_other(command: Command, arguments: tuple[str, ...]) -> None:
    assert command("tool", "create", "made", *arguments).code == 2


@pytest.mark.parametrize("args", ["[1]", "{", '{"a": NaN}'])
def test_fixed_arguments_must_be_one_json_object(command: Command, args: str) -> None:
    assert command("tool", "create", "made", "--type", "shell_command", "--args", args).code == 2


def test_a_schema_may_be_json_or_a_file(command: Command, project: Path) -> None:
    (project / "schema.json").write_text('{"type": "object", "properties": {"n": {"type": "integer"}}}', encoding="utf-8")
    for number, schema in enumerate(("schema.json", '{"type": "object", "properties": {"n": {"type": "integer"}}}')):
        command("tool", "create", f"made{number}", "--type", "python_script", "--schema", schema)
        assert command("tool", "run", f"made{number}", "n=x").code == 5
        assert command("tool", "run", f"made{number}", "n=1").code == 0


def test_p47_without_room_for_trust_no_tool_is_made_and_a_retry_makes_one_that_runs(command: Command, home: Path, tmp_path: Path) -> None:
    (tmp_path / "clone/.vespe").mkdir(parents=True)
    (home / "state").rename(home / "aside")
    (home / "state").write_text("", encoding="utf-8")
    create = ("tool", "create", "mine", "--type", "python_script", "--project", str(tmp_path / "clone"))
    said = command(*create)
    assert said.code == 1 and "cannot make" in said.err and list((tmp_path / "clone/.vespe/tools").iterdir()) == []
    (home / "state").unlink()
    assert command(*create).code == 0
    assert command("tool", "run", "mine", "--project", str(tmp_path / "clone")).code == 0
