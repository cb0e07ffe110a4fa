"""`vespe export`: the vendors' own types judge what is printed."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic.types
import jsonschema
import mcp_types
import ollama
import openai.types.chat
import openai.types.responses
import pydantic
import pytest

from tests.support.ondisk import python_tool
from vespe.adapters import SHAPES

Command = Callable[..., Any]


def closed(schema: Any) -> Any:
    """Give a vendor's JSON Schema with unknown keys refused where it lists the keys that there
    are.
    """
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    return made | (
        {"additionalProperties": False}
        if "properties" in schema and schema.get("type") == "object"
        else {}
    )


def by_typed_dict(kind: Any) -> Callable[[Any], None]:
    schema = closed(pydantic.TypeAdapter(kind).json_schema())
    return lambda definition: jsonschema.validate(definition, schema)


def by_ollama(definition: Any) -> None:
    said = ollama.Tool.model_validate(definition).model_dump(exclude_none=True)
    assert said["function"]["name"] == definition["function"]["name"]
    assert set(said["function"]["parameters"]["properties"]) == set(
        definition["function"]["parameters"]["properties"]
    )


def by_mcp(definition: Any) -> None:
    said = mcp_types.Tool.model_validate(definition).model_dump(
        by_alias=True, exclude_none=True, mode="json"
    )
    assert {key: said[key] for key in definition} == definition


JUDGES: dict[str, Callable[[Any], None]] = {
    "openai": by_typed_dict(openai.types.chat.ChatCompletionFunctionToolParam),
    "openai-responses": by_typed_dict(openai.types.responses.FunctionToolParam),
    "anthropic": by_typed_dict(anthropic.types.ToolParam),
    "ollama": by_ollama,
    "mcp": by_mcp,
}


@pytest.mark.parametrize("shape", [name for name in SHAPES if name in JUDGES])
def test_every_shipped_tool_is_exported_as_the_vendor_s_types_have_it(
    command: Command, shape: str
) -> None:
    for kit in ("file_io_with_git", "git_and_programs", "public_json_apis"):
        command("kit", "activate", kit)
    said = command("export", "--as", shape)
    assert said.code == 0 and len(said.document) >= 20
    for definition in said.document:
        JUDGES[shape](definition)


@pytest.mark.parametrize("shape", ["openai", "anthropic", "mcp"])
def test_the_judges_refuse_what_is_no_definition(command: Command, shape: str) -> None:
    command("kit", "activate", "file_io_without_git")
    definition = copy.deepcopy(command("export", "--as", shape, "read_file").document[0])
    (definition.get("function") or definition).pop("name")
    with pytest.raises((jsonschema.ValidationError, pydantic.ValidationError)):
        JUDGES[shape](definition)


@pytest.mark.parametrize("shape", [name for name in SHAPES if name.startswith("openai")])
def test_strict_definitions_are_the_vendor_s_too_and_closed_throughout(
    command: Command, shape: str
) -> None:
    command("kit", "activate", "file_io_without_git")
    (definition,) = command("export", "--as", shape, "--strict", "read_file").document
    JUDGES[shape](definition)
    function = definition.get("function", definition)
    assert function["strict"] is True and function["parameters"]["required"] == list(
        function["parameters"]["properties"]
    )
    assert function["parameters"]["additionalProperties"] is False


def test_tools_come_in_the_order_in_which_they_are_named(command: Command) -> None:
    command("kit", "activate", "file_io_without_git")
    assert [
        one["name"]
        for one in command("export", "--as", "anthropic", "write_file", "read_file").document
    ] == [
        "write_file",
        "read_file",
    ]


def test_what_strict_mode_cannot_be_given_is_told_with_its_place_and_nothing_is_printed(
    command: Command, project: Path
) -> None:
    schema = {"type": "object", "properties": {"any": {}, "map": {"type": "object"}}}
    python_tool(project / ".vespe/tools/tool-loose", "loose", "return 1", schema=schema)
    said = command("export", "--as", "openai", "--strict")
    assert (said.code, said.out) == (1, "")
    assert (
        "loose: /schema/input/properties/any: " in said.err
        and "1 tool cannot be converted to strict mode" in said.err
    )
    document = command("export", "--as", "openai", "--strict", "--json").document
    assert [one["pointer"] for one in document["error"]["findings"]] == [
        "/schema/input/properties/any",
        "/schema/input/properties/map",
    ]


def test_strict_mode_is_openai_s(command: Command) -> None:
    said = command("export", "--as", "anthropic", "--strict")
    assert said.code == 2 and "--as openai" in said.err


def test_a_tool_that_is_not_there_is_not_found(command: Command) -> None:
    assert command("export", "--as", "openai", "nothing").code == 3


def test_declarations_are_written_to_a_file_and_compared(project: Path, command: Command) -> None:
    assert command("export", "--as", "typescript").out.startswith("// The tools as functions")
    assert command("export", "--as", "python-stubs", "--check").code == 2
    assert command("export", "--as", "python-stubs", "-o", "tools.pyi").code == 0
    assert command("export", "--as", "python-stubs", "-o", "tools.pyi", "--check").code == 0
    (project / "tools.pyi").write_text("", encoding="utf-8")
    assert command("export", "--as", "python-stubs", "-o", "tools.pyi", "--check").code == 1


def test_what_a_reader_does_not_see_is_an_escape_in_every_export_printed_or_written(
    command: Command, project: Path
) -> None:
    hidden = "Read \u202e\x7f\U000e0041."
    python_tool(project / ".vespe/tools/tool-t", "t", "return 1", description=hidden)
    for shape in ("mcp", "python-stubs"):
        said = command("export", "--as", shape)
        assert command("export", "--as", shape, "-o", "out").code == 0
        written = (project / "out").read_text(encoding="utf-8")
        assert written == said.out and "\\u202e" in written and not set(hidden[5:-1]) & set(written)
    assert command("export", "--as", "mcp", "--json").document[0]["description"] == hidden
