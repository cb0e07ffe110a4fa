"""`vespe tool list --size`: what each definition costs a model, in each API's shape."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from vespe.adapters import SHAPES
from vespe.documents.strict_json import compact_json

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")


def test_sizes_are_those_of_the_definitions_as_exported(command: Command) -> None:
    command("kit", "activate", "file_io_without_git")
    document = command("tool", "list", "--size", "--json").document
    for shape in SHAPES:
        lengths = [
            len(compact_json(definition))
            for definition in command("export", "--as", shape).document
        ]
        assert [tool["sizes"][shape]["characters"] for tool in document["tools"]] == lengths
        assert document["total"][shape]["characters"] == sum(lengths)
    assert document["tokens_by"] == "are estimated: one per 4 characters"


def test_one_api_alone_can_be_asked_for_and_the_method_is_said(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    said = command("tool", "list", "--size", "--as", "mcp")
    rows = [line.split("\t") for line in said.out.splitlines()]
    assert rows[0] == ["NAME", "SCOPE", "MCP CHARS / TOKENS"]
    assert (
        [row[0] for row in rows[1:]] == ["a", "total"]
        and rows[1][2] == rows[2][2]
        and "estimated" in said.err
    )


def test_in_a_pipe_a_header_says_which_column_is_which_api(command: Command) -> None:
    header, *rows = command("tool", "list", "--size").out.splitlines()
    assert [name.partition(" ")[0].lower() for name in header.split("\t")[2:]] == list(SHAPES)
    assert all(len(row.split("\t")) == 2 + len(SHAPES) for row in rows)


def test_a_mistyped_api_is_told_the_near_one(command: Command) -> None:
    assert "did you mean openai" in command("tool", "list", "--size", "--as", "opnai").err


def test_broken_tools_have_no_size(command: Command, project: Path) -> None:
    (project / ".vespe/tools/tool-broken").mkdir()
    (project / ".vespe/tools/tool-broken/config.json").write_text("{", encoding="utf-8")
    assert (
        command("tool", "list", "--all", "--kit", "project_tools", "--size", "--json").document[
            "tools"
        ]
        == []
    )


@pytest.mark.parametrize("arguments", [("--as", "openai"), ("--size", "--as", "nobody")])
def test_what_makes_no_sense_is_a_usage_error(command: Command, arguments: tuple[str, ...]) -> None:
    assert command("tool", "list", *arguments).code == 2
