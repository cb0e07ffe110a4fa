"""`vespe tool show`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def kit(command: Command) -> None:
    command("kit", "activate", "file_io_without_git")


def test_the_text_names_every_input_with_its_type_and_need(command: Command) -> None:
    out = command("tool", "show", "write_file").out
    assert (
        "path  string, required" in out
        and "content  string, required" in out
        and "file_io_without_git" in out
    )


def test_json_is_the_config_with_scope_path_and_long_description(command: Command) -> None:
    document = command("tool", "show", "write_file", "--json").document
    assert document["scope"] == "file_io_without_git" and document["schema"]["input"][
        "required"
    ] == ["path", "content"]
    assert document["long_description"].startswith("#")


@pytest.mark.parametrize(
    ("shape", "key"),
    [
        ("openai", "function"),
        ("anthropic", "input_schema"),
        ("ollama", "function"),
        ("mcp", "inputSchema"),
    ],
)
def test_each_shape_is_one_json_document(command: Command, shape: str, key: str) -> None:
    assert key in command("tool", "show", "write_file", "--as", shape).document


def test_an_unknown_shape_is_a_usage_error_in_json_too(command: Command) -> None:
    said = command("tool", "show", "write_file", "--as", "soap", "--json")
    assert said.code == 2 and said.document["error"]["code"] == "usage"


def test_the_long_text_for_people_is_shown_inert(command: Command, project: Path) -> None:
    directory = python_tool(project / ".vespe/tools/tool-a", "mine", "return 1")
    (directory / "description.md").write_text(
        "# Mine\n\nWhat it is *for*.\x1b[2J\n", encoding="utf-8"
    )
    assert command("tool", "show", "mine").out.endswith("\n# Mine\n\nWhat it is *for*.\\x1b[2J\n")
    (directory / "description.md").unlink()
    assert command("tool", "show", "mine").out.endswith("Inputs: none\n")
