"""Foreign definitions are told by their shape, in whatever document they stand."""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.adapters import SHAPES
from vespe.adapters.definition_shapes import definitions_in, read_definition, shape_of
from vespe.errors import InvalidDocument
from vespe.models import Tool

TOOL = Tool(
    uid="tool-t",
    name="t",
    description="T.",
    input_schema={"type": "object", "properties": {"a": {"type": "string"}}},
)


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_told_by_its_fields(name: str) -> None:
    definition = SHAPES[name].definition(TOOL)
    assert shape_of(definition) == ("openai" if name == "ollama" else name)
    assert read_definition(definition).input_schema["properties"] == {"a": {"type": "string"}}


@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        ({"name": "t"}, [""]),
        ([{"name": "t"}, {"name": "u"}], ["/0", "/1"]),
        ({"tools": [{"name": "t"}]}, ["/tools/0"]),
        ({"functions": [{"name": "t"}]}, ["/functions/0"]),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t"}]}}, ["/result/tools/0"]),
        (
            {"tools": [{"functionDeclarations": [{"name": "t"}]}, {"function_declarations": []}]},
            ["/tools/0/functionDeclarations/0"],
        ),
        ({"question": "?", "function": [{"name": "t"}]}, ["/function/0"]),
        ({"tool": {"name": "t"}}, ["/tool"]),
        ({"name": "t", "inputSchema": {}, "tools": []}, [""]),
        (3, [""]),
    ],
)
def test_definitions_are_found_with_their_place(document: Any, pointers: list[str]) -> None:
    assert [pointer for pointer, _ in definitions_in(document)] == pointers


@pytest.mark.parametrize(
    "definition", [3, {}, {"type": "web_search"}, {"type": "custom", "custom": {"name": "sh"}}]
)
def test_what_has_no_shape_is_refused(definition: Any) -> None:
    with pytest.raises(InvalidDocument):
        read_definition(definition)


def recorded(shared: Path) -> list[tuple[str, dict[str, Any]]]:
    """Give (api, definition) for every definition that the corpus recorded or dumped."""
    folder = shared / "corpus" / "tooldefs"
    lines = [
        line
        for path in sorted((folder / "recorded").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    found = [(entry["api"], entry["tool"]) for entry in map(json.loads, lines)]
    for path in sorted((folder / "mcp").glob("*.json")):
        found += [("mcp", tool) for tool in json.loads(path.read_text(encoding="utf-8"))["tools"]]
    return found


def test_every_recorded_definition_of_a_function_survives_every_pair_of_shapes(
    shared: Path,
) -> None:
    read = 0
    for api, definition in recorded(shared):
        try:
            tool = read_definition(definition)
        except InvalidDocument as error:
            assert "of type" in str(error), (definition, error)
            continue
        read += 1
        own = SHAPES["openai-responses" if api == "responses" else api]
        written = own.definition(tool)
        assert own.definition(own.read(written)) == written
        for shape in SHAPES.values():
            passed = shape.read(shape.definition(tool))
            assert (passed.name, passed.description) == (tool.name, tool.description)
            assert {"properties": {}, **tool.input_schema}.items() <= {
                "properties": {},
                **passed.input_schema,
            }.items()
    assert read > 300


@pytest.mark.parametrize(
    "foreign",
    [
        {
            "name": "t",
            "description": "T.",
            "arguments": [{"name": "a", "type": "string", "desc": "A."}],
        },
        {"name": "t", "inputs": {"type": "object"}, "tool_provider": {}},
        {"name": "package", "version": "1.0.0", "dependencies": {}},
    ],
)
def test_a_definition_whose_inputs_vespe_cannot_read_is_no_tool_without_inputs(
    foreign: dict[str, Any],
) -> None:
    with pytest.raises(
        InvalidDocument, match=r"of no shape that Vespe knows .*: it holds 'name', "
    ):
        read_definition(foreign)


def test_a_declaration_without_inputs_is_geminis_and_so_is_one_with_a_field_that_is_newer() -> None:
    assert shape_of({"name": "t", "description": "T.", "behavior": "BLOCKING"}) == "gemini"
    assert shape_of({"name": "t", "parametersJsonSchema": {}, "newer": 1}) == "gemini"


def test_what_a_sentence_tells_of_a_strange_object_is_bounded() -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_definition({f"{n}" * 10_000: n for n in range(100)})
    assert len(str(caught.value)) < 1000
