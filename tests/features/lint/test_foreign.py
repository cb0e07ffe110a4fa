"""Files of definitions, recognised by their shapes."""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.documents.pointers import resolve_pointer
from vespe.errors import StorageError
from vespe.features.lint import foreign

SCHEMA = {"type": "object", "properties": {}}
OPENAI = {"type": "function", "function": {"name": "a", "description": "d", "parameters": SCHEMA}}
RESPONSES = {"type": "function", "name": "a", "parameters": SCHEMA}
ANTHROPIC = {"name": "a", "description": "d", "input_schema": SCHEMA}
MCP = {"name": "a", "inputSchema": SCHEMA, "outputSchema": SCHEMA}
BARE = {"name": "a", "description": "d", "parameters": SCHEMA}


def read(tmp_path: Path, document: Any, name: str = "tools.json") -> foreign.ForeignFile:
    file = tmp_path / name
    file.write_text(
        document if isinstance(document, str) else json.dumps(document), encoding="utf-8"
    )
    return foreign.read(file)


@pytest.mark.parametrize(
    ("document", "api", "pointer"),
    [
        ([OPENAI], "openai", "/0/function/parameters"),
        (OPENAI, "openai", "/function/parameters"),
        ({"tools": [RESPONSES]}, "openai-responses", "/tools/0/parameters"),
        ([ANTHROPIC], "anthropic", "/0/input_schema"),
        (
            {"model": "m", "messages": [], "tools": [ANTHROPIC]},
            "anthropic",
            "/tools/0/input_schema",
        ),
        (
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
            "mcp",
            "/result/tools/0/inputSchema",
        ),
        ([BARE], "bare", "/0/parameters"),
        (
            {"tools": [{"functionDeclarations": [BARE]}]},
            "gemini",
            "/tools/0/functionDeclarations/0/parameters",
        ),
        ({"functions": [BARE]}, "bare", "/functions/0/parameters"),
        ({"api": "ollama", "tool": OPENAI}, "ollama", "/tool/function/parameters"),
        ({"id": "x", "question": [], "function": [BARE]}, "bare", "/function/0/parameters"),
    ],
)
def test_a_shape_is_recognised(tmp_path: Path, document: Any, api: str, pointer: str) -> None:
    file = read(tmp_path, document)
    [definition] = file.definitions
    assert (definition.api, definition.name, definition.pointers["input_schema"]) == (
        api,
        "a",
        pointer,
    )
    assert file.troubles == []
    assert resolve_pointer(document, pointer) == definition.input_schema == SCHEMA


def test_a_definition_without_a_schema_has_its_siblings_shape(tmp_path: Path) -> None:
    file = read(tmp_path, {"tools": [MCP, {"name": "b"}]})
    assert [definition.api for definition in file.definitions] == ["mcp", "mcp"]
    assert "input_schema" not in file.definitions[1].pointers
    assert file.definitions[0].pointers["output_schema"] == "/tools/0/outputSchema"


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "code_interpreter"},
        {"type": "custom", "custom": {"name": "grammar", "format": {}}},
        {"type": "router:advisor", "parameters": {"model": "m"}},
    ],
)
def test_a_vendors_own_tool_is_passed_over(tmp_path: Path, tool: dict[str, Any]) -> None:
    file = read(tmp_path, [OPENAI, tool])
    assert len(file.definitions) == 1 and file.troubles == []


def test_lines_are_read_each_by_itself(tmp_path: Path) -> None:
    text = f'{json.dumps(MCP)}\n\nnonsense\n{{"a": NaN}}\n{json.dumps({"tools": [OPENAI]})}\n'
    file = read(tmp_path, text, "tools.jsonl")
    assert [definition.pointers[""] for definition in file.definitions] == ["/0", "/3/tools/0"]
    assert [(trouble.pointer, trouble.line) for trouble in file.troubles] == [("/1", 3), ("/2", 4)]


def test_lines_in_a_file_called_json_are_lines(tmp_path: Path) -> None:
    file = read(tmp_path, f"{json.dumps(BARE)}\n{json.dumps(BARE)}\n")
    assert (file.kind, len(file.definitions)) == ("jsonl", 2)


def test_yaml_is_read(tmp_path: Path) -> None:
    file = read(tmp_path, "tools:\n  - name: a\n    inputSchema: {type: object}\n", "tools.yaml")
    assert (file.kind, file.definitions[0].api) == ("yaml", "mcp")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        "[1",
        "",
        "\ufeff[]",
        '["\\ud800"]',
        "[" * 100 + "]" * 100,
        "[NaN]",
        "[1e999]",
    ],
)
def test_text_that_is_not_strict_json_is_one_trouble_with_a_line(tmp_path: Path, text: str) -> None:
    [trouble] = read(tmp_path, text).troubles
    assert trouble.line >= 1 and not trouble.readable and trouble.message


@pytest.mark.parametrize("document", [{"hello": 1}, 3, ["text"], None, [[]], {"tools": {}}])
def test_what_holds_no_definitions_says_so(tmp_path: Path, document: Any) -> None:
    assert [trouble.readable for trouble in read(tmp_path, document).troubles] == [True]


@pytest.mark.parametrize("document", [[], {"tools": []}])
def test_an_empty_list_is_fine(tmp_path: Path, document: Any) -> None:
    file = read(tmp_path, document)
    assert (file.definitions, file.troubles) == ([], [])


def test_bytes_that_are_no_text_a_directory_and_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[\n"\xff"]')
    assert [trouble.line for trouble in foreign.read(tmp_path / "a.json").troubles] == [2]
    assert not foreign.read(tmp_path).troubles[0].readable
    with pytest.raises(StorageError):
        foreign.read(tmp_path / "nowhere.json")


def test_the_inputs_of_a_utcp_manual_are_judged_where_they_stand(tmp_path: Path) -> None:
    call = {"call_template_type": "http", "url": "https://api.example.com/w"}
    tool = {"name": "a", "inputs": SCHEMA, "outputs": SCHEMA, "tool_call_template": call}
    plain = {"name": "b", "description": "d", "inputs": SCHEMA}
    file = read(tmp_path, {"utcp_version": "1.0.1", "tools": [tool, plain]})
    first, second = file.definitions
    assert (first.input_schema, first.output_schema) == (SCHEMA, SCHEMA)
    assert first.pointers["input_schema"] == "/tools/0/inputs"
    assert first.pointers["output_schema"] == "/tools/0/outputs"
    assert second.pointers["input_schema"] == "/tools/1/inputs" and not file.troubles
    odd = read(tmp_path, {"name": "c", "description": "d", "inputs": ["x"], "outputs": SCHEMA})
    assert odd.definitions[0].input_schema is odd.definitions[0].output_schema is None
