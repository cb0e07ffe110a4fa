"""`vespe tool import`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe.adapters import SHAPES
from vespe.models import Tool

Command = Callable[..., Any]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = Tool(uid="tool-w", name="weather", description="Tell the weather.", input_schema=SCHEMA)


def write(project: Path, document: Any) -> str:
    (project / "tools.json").write_text(json.dumps(document), encoding="utf-8")
    return "tools.json"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_definition_of_any_shape_becomes_a_tool_that_resolves_and_says_that_nothing_implements_it(
    command: Command, project: Path, shape: str
) -> None:
    made = command(
        "tool", "import", write(project, [SHAPES[shape].definition(TOOL)]), "--json"
    ).document["tools"]
    assert [tool.keys() for tool in made] == [{"uid", "name", "path"}]
    assert command("tool", "resolve", "weather", "--json").document["uid"] == made[0]["uid"]
    assert command("tool", "show", "weather", "--as", shape).document == SHAPES[shape].definition(
        TOOL
    )
    said = command("tool", "run", "weather", "city=Paris")
    assert said.code == 3 and "nothing implements the tool 'weather'" in said.err


def test_names_choose_among_the_definitions_and_only_those_are_judged(
    command: Command, project: Path
) -> None:
    file = write(
        project,
        {
            "tools": [
                {"name": "a", "inputSchema": SCHEMA},
                {"name": "b", "inputSchema": {"type": "dict"}},
            ]
        },
    )
    assert command("tool", "import", file, "a").code == 0
    assert "a" in command("tool", "list").out
    assert command("tool", "import", file, "c").code == 3


def test_nothing_is_made_unless_every_definition_can_be(command: Command, project: Path) -> None:
    file = write(
        project,
        {
            "tools": [
                {"name": "a", "inputSchema": SCHEMA},
                {"name": "b", "inputSchema": {"type": "dict"}},
                {"type": "web_search"},
            ]
        },
    )
    said = command("tool", "import", file, "--json")
    assert said.code == 4
    assert (
        "/tools/1: the tool 'b'" in said.document["error"]["message"]
        and "/tools/2" in said.document["error"]["message"]
    )
    assert command("tool", "list", "--json").document["tools"] == []


@pytest.mark.parametrize(
    ("document", "code"),
    [([], 4), ({"tools": []}, 4), ([{"name": "a"}, {"name": "a"}], 2), ([{"name": "é" * 99}], 2)],
)
def test_what_gives_no_tools_is_said(
    command: Command, project: Path, document: Any, code: int
) -> None:
    assert command("tool", "import", write(project, document)).code == code


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "b", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": "yes"}},
        {"name": "b", "inputSchema": SCHEMA, "description": "d" * 2_000_000},
        {"name": "9 b", "inputSchema": SCHEMA},
    ],
)
def test_what_no_config_may_hold_is_said_with_its_place_before_anything_is_made(
    command: Command, project: Path, bad: Any
) -> None:
    said = command(
        "tool", "import", write(project, [{"name": "a", "inputSchema": SCHEMA}, bad]), "--json"
    )
    assert said.code in (2, 4)
    assert said.document["error"]["message"].startswith("tools.json: /1")
    assert command("tool", "list", "--json").document["tools"] == []


def test_a_name_that_is_taken_is_refused(command: Command, project: Path) -> None:
    file = write(project, [SHAPES["mcp"].definition(TOOL)])
    assert command("tool", "import", file).code == 0
    said = command("tool", "import", file)
    assert said.code == 2 and "already a tool called 'weather'" in said.err


def test_a_name_that_vespe_does_not_allow_is_mended_with_a_warning(
    command: Command, project: Path
) -> None:
    said = command("tool", "import", write(project, [{"name": "get.user", "inputSchema": SCHEMA}]))
    assert said.code == 0 and "it becomes get_user" in said.err and "implement" in said.err


def test_an_output_schema_and_annotations_come_along(command: Command, project: Path) -> None:
    entry = {
        "name": "a",
        "title": "A",
        "inputSchema": SCHEMA,
        "outputSchema": SCHEMA,
        "annotations": {"readOnlyHint": True},
    }
    command("tool", "import", write(project, entry))
    document = command("tool", "show", "a", "--json").document
    assert document["schema"]["output"] == SCHEMA
    assert document["annotations"] == {"readOnlyHint": True, "title": "A"}


def test_stdin_is_read_for_a_dash(command: Command) -> None:
    said = command("tool", "import", "-")
    assert said.code == 4 and "stdin" in said.err


def test_types_of_a_programming_language_are_refused_with_what_mends_them(
    command: Command, project: Path
) -> None:
    definition = {
        "name": "area",
        "description": "Tell an area.",
        "parameters": {"type": "dict", "properties": {"a": {"type": "float"}}},
    }
    file = write(project, [definition])
    said = command("tool", "import", file)
    assert said.code == 4 and "vespe lint tools.json" in said.err and "--fix" in said.err
    assert command("lint", file, "--fix").code == 0
    assert command("tool", "import", file).code == 0
    document = command("tool", "show", "area", "--json").document
    assert (
        document["schema"]["input"]["type"],
        document["schema"]["input"]["properties"]["a"]["type"],
    ) == ("object", "number")


def test_a_file_of_something_else_makes_no_tool(command: Command, project: Path) -> None:
    said = command(
        "tool",
        "import",
        write(project, {"name": "package", "version": "1.0.0", "dependencies": {}}),
    )
    assert said.code == 4 and "it holds 'name', 'version', 'dependencies'" in said.err


@pytest.mark.parametrize("text", ["openapi: 3.0.0\n", '{"openapi": "3.0.0", "paths": {}}'])
def test_an_apis_description_is_told_the_command_that_takes_it(
    command: Command, project: Path, text: str
) -> None:
    (project / "api").write_text(text, encoding="utf-8")
    said = command("tool", "import", "api")
    assert said.code == 4 and "`vespe kit import SOURCE --id KIT`" in said.err
