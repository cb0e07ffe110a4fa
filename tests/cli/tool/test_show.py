"""`vespe tool show`."""

import json
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


def test_an_effect_says_whether_it_is_assumed_and_a_host_of_ones_own_has_none(
    command: Command, project: Path
) -> None:
    directory = python_tool(project / ".vespe/tools/tool-a", "get_a", "return 1")
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    config["implementation_details"] = {
        "type": "http_request",
        "path": "https://crm.example.org/a",
        "entrypoint": "GET",
    }
    config["annotations"] = {"openWorldHint": True, "readOnlyHint": True}
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    out = command("tool", "show", "get_a").out
    assert "sends data out (assumed: it is an http_request)" in out
    assert "reads untrusted content (declared: openWorldHint is true)\n" in out
    command("config", "set", "approvals.own_hosts", '["crm.example.org"]')
    assert "  effect  " not in command("tool", "show", "get_a").out
    assert command("tool", "show", "get_a", "--json").document["effects"] == []
    (row,) = (
        one
        for one in command("tool", "list", "--as-models", "--json").document["tools"]
        if one["name"] == "get_a"
    )
    assert row["effects"] == {}


def test_a_host_that_is_none_is_refused_before_it_is_kept(command: Command) -> None:
    said = command("config", "set", "approvals.own_hosts", '["https://x.org"]')
    assert said.code == 2 and "must be a list of hosts" in said.err and "git_*" not in said.err


def test_what_a_secret_is_for_is_shown(command: Command, project: Path) -> None:
    item = {"name": "PAY_KEY", "description": "it pays", "docs_url": "https://h.org/"}
    python_tool(project / ".vespe/tools/tool-p", "p", "return 1", secrets=["OTHER", item])
    lines = command("tool", "show", "p").out.splitlines()
    assert "Secret: OTHER" in lines and "Secret: PAY_KEY (it pays; https://h.org/)" in lines


def test_a_wrong_assumption_about_ones_own_tool_says_how_to_correct_it(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-a", "calc", "return 1")
    correction = ["tool", "set", "calc", "annotations.openWorldHint=false"]
    assert (
        f"reads untrusted content (assumed; if that is wrong: `vespe {' '.join(correction)}`)"
        in command("tool", "show", "calc").out
    )
    assert command(*correction).code == 0
    assert "untrusted" not in command("tool", "show", "calc").out


def test_a_page_that_vespe_wrote_is_not_shown_below_what_it_says(
    command: Command, project: Path
) -> None:
    assert command("tool", "create", "greet", "--type", "python_script").code == 0
    out = command("tool", "show", "greet").out
    assert "# greet" not in out and out.count("The text to count in.") == 1
    page = project / ".vespe/tools/tool-greet/description.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nSee also count.\n", encoding="utf-8")
    assert "# greet" in command("tool", "show", "greet").out
