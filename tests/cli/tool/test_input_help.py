"""`vespe tool run NAME --help`: one tool's inputs, and a command to copy."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_cli_on_terminals import CALC
from tests.support.ondisk import python_tool

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def calc(project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-calc",
        "calc",
        "return [a, b, op]",
        params="a, b, op='add'",
        schema=CALC,
    )


def test_the_page_of_a_tool_has_its_inputs_and_a_command_that_runs(command: Command) -> None:
    page = command("tool", "run", "calc", "--help").out
    assert (
        "Usage: vespe tool run calc a=A b=B [op=OP]" in page
        and '--op OP  one of "add", "mul", default "add"' in page
    )
    example = next(line for line in page.splitlines() if line.startswith("Example: vespe "))
    assert command(*example.split()[2:]).code == 0


def test_a_boolean_is_shown_as_the_option_that_it_is_and_takes_no_value(
    command: Command, project: Path
) -> None:
    python_tool(
        project / ".vespe/tools/tool-order",
        "order",
        "return [express, gift_wrap]",
        params="express=False, gift_wrap=None",
        schema={
            "type": "object",
            "properties": {
                "express": {"type": "boolean", "default": False},
                "gift_wrap": {"type": ["boolean", "null"]},
            },
        },
    )
    page = command("tool", "run", "order", "--help").out
    assert "Inputs:\n  Write each as NAME=VALUE or --NAME VALUE.\n" in page
    assert "--express / --no-express " in page and "boolean, default false" in page
    assert "--gift_wrap / --no-gift_wrap " in page
    said = command("tool", "run", "order", "--express", "--no-gift_wrap", "--json")
    assert said.document["result"] == [True, False]
    refused = command("tool", "run", "order", "--gift-wrap", "true")
    assert refused.code == 2 and "'true' is not KEY=VALUE" in refused.err
    assert (
        "`--gift-wrap` takes no value: write `--gift-wrap`, `--no-gift-wrap` or `gift_wrap=false`"
        in " ".join(refused.err.split())
    )


def test_without_a_name_the_page_is_the_command_s_own_and_a_name_is_needed(
    command: Command,
) -> None:
    assert "--dry-run" in command("tool", "run", "--help").out
    assert (
        command("tool", "run").code == 2
        and "the tool's name before --a" in command("tool", "run", "--a", "6", "calc").err
    )
    assert command("tool", "run", "clac", "--help").code == 3


def test_inputs_can_be_given_as_options(command: Command) -> None:
    said = command("tool", "run", "calc", "--a", "6", "--b=7", "op=mul", "--json")
    assert said.document["result"] == [6, 7, "mul"]
    assert command("tool", "run", "calc", "--a", "x", "--b", "1").code == 5


def test_an_object_is_shown_with_its_members_and_the_example_runs(
    command: Command, project: Path
) -> None:
    (project / "prices.py").write_text(
        "import dataclasses\n\n\n@dataclasses.dataclass\nclass Item:\n    name: str\n"
        "    net: float\n    note: str = ''\n\n\n"
        "def price(item: Item, others: list[Item] | None = None) -> float:\n"
        '    """Compute a price."""\n    return item.net\n',
        encoding="utf-8",
    )
    command("tool", "create", "price", "--from", "prices.py:price")
    page = " ".join(command("tool", "run", "price", "--help").out.split())
    with_keys = "object {name: string, net: number, note?: string}, required"
    assert with_keys in page
    assert "array of objects {name: string, net: number, note?: string} or null, default" in page
    assert with_keys in " ".join(command("tool", "show", "price").out.split())
    example = page.partition("Example: vespe ")[2]
    assert command(*shlex.split(example)).code == 0


def test_an_input_named_like_an_option_of_the_command_is_shown_as_it_can_be_given(
    command: Command, project: Path
) -> None:
    python_tool(
        project / ".vespe/tools/tool-slow",
        "slow",
        "return timeout",
        params="timeout=3, dry_run=False, other=1",
        schema={
            "type": "object",
            "properties": {
                "timeout": {"type": "integer"},
                "dry_run": {"type": "boolean"},
                "other": {"type": "integer"},
            },
        },
    )
    page = " ".join(command("tool", "run", "slow", "--help").out.split())
    assert "timeout and dry_run can only be written as NAME=VALUE" in page
    assert " timeout=TIMEOUT integer" in page and " --other OTHER integer" in page
    said = command("tool", "run", "slow", "--timeout", "9")
    assert said.out == "3\n"
    assert "--timeout is an option of `vespe tool run`; the input of slow is timeout=VALUE" in (
        said.err
    )
    assert command("tool", "run", "slow", "timeout=9", "--timeout", "9").err == ""


def test_an_option_whose_parameter_has_another_name_is_told_too(
    command: Command, project: Path
) -> None:
    schema = {"type": "object", "properties": {"project": {"type": "string"}}}
    place = project / ".vespe/tools/tool-open"
    python_tool(place, "open", "return project", params="project='none'", schema=schema)
    said = command("tool", "run", "open", "--project", str(project))
    assert said.out == "none" and "the input of open is project=VALUE" in said.err


def test_an_input_that_takes_more_than_text_names_the_way_to_give_json(
    command: Command, project: Path
) -> None:
    either = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    python_tool(
        project / ".vespe/tools/tool-open",
        "open",
        "return [free, either]",
        params="free=None, either=None, name='', mode='', count=0",
        schema={
            "type": "object",
            "properties": {
                "free": {},
                "either": {**either, "description": "A number or a name."},
                "name": {"type": ["string", "null"]},
                "mode": {"enum": ["fast", 1]},
                "count": {"type": "integer"},
            },
        },
    )
    page = " ".join(command("tool", "run", "open", "--help").out.split())
    assert "optional (free:=JSON for anything but text)" in page
    assert "optional (either:=JSON for anything but text): A number or a name." in page
    assert page.count("for anything but text") == 2
    said = command("tool", "run", "open", 'free={"a":1}', "either=5", "--json").document
    assert said["result"] == ['{"a":1}', "5"]
    said = command("tool", "run", "open", 'free:={"a":1}', "either:=5", "--json").document
    assert said["result"] == [{"a": 1}, 5]


def test_the_word_help_is_answered_with_the_option(command: Command) -> None:
    said = command("tool", "run", "calc", "help")
    assert said.code == 2 and "a=help" not in said.err
    assert "hint: `vespe tool run calc --help` shows its arguments" in " ".join(said.err.split())
