"""The tables know every model API, and a definition survives every pair of shapes."""

import copy
import dataclasses
from typing import Any

import pytest

from tests.adapters import conversations
from tests.adapters.judges import accepts, complaint
from vespe.adapters import ADAPTERS, SHAPES
from vespe.models import Tool

JUDGED = [name for name in SHAPES if name != "gemini"]
"""Gemini's SDK is no judge here: its types are held against the documented fields in
test_gemini.py.
"""
OPTIONS = {
    "openai": ("strict",),
    "anthropic": ("strict",),
    "openai-responses": ("strict", "output"),
    "mcp": ("output",),
    "gemini": ("output",),
}


def strict(tool: Tool) -> Any:
    return tool.document.get("api_fields", {}).get("openai", {}).get("function", {}).get("strict")


def test_the_shapes_and_the_adapters_are_in_their_tables() -> None:
    assert set(SHAPES) == {"openai", "openai-responses", "anthropic", "gemini", "ollama", "mcp"}
    assert set(ADAPTERS) == {*SHAPES, "gemini-interactions", "text"}


@pytest.mark.parametrize("name", JUDGED)
def test_every_definition_is_one_that_the_vendors_types_take(name: str) -> None:
    for tool in conversations.tools(100):
        definition = SHAPES[name].definition(tool)
        assert accepts(f"{name} tool", definition), (name, complaint(f"{name} tool", definition))


@pytest.mark.parametrize("first", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("second", SHAPES.values(), ids=SHAPES)
def test_a_tool_survives_every_pair_of_shapes(first: Any, second: Any) -> None:
    for drawn in conversations.tools(60):
        tool = dataclasses.replace(drawn, output_schema=None, annotations={}, document={})
        once = first.read(first.definition(tool))
        twice = second.read(second.definition(once))
        assert (twice.name, twice.description) == (tool.name, tool.description)
        assert {"properties": {}, **twice.input_schema} == {"properties": {}, **tool.input_schema}
        assert first.definition(first.read(first.definition(twice))) == first.definition(twice)


@pytest.mark.parametrize("name", SHAPES)
def test_a_definition_is_read_and_written_without_being_changed(name: str) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    tool = Tool(
        uid="tool-t",
        name="t",
        description="T.",
        input_schema=schema,
        output_schema=schema,
        annotations={"title": "T"},
    )
    kept = copy.deepcopy(schema)
    definition = SHAPES[name].definition(tool)
    again = copy.deepcopy(definition)
    SHAPES[name].read(definition)
    assert (schema, definition) == (kept, again)


def wreck(value: Any) -> None:
    """Change every object and list within a value."""
    if isinstance(value, dict):
        for item in list(value.values()):
            wreck(item)
        value["wrecked"] = True
    elif isinstance(value, list):
        for item in value:
            wreck(item)
        value.append("wrecked")


@pytest.mark.parametrize("name", ADAPTERS)
def test_whoever_changes_what_is_given_back_changes_nothing_that_was_given(name: str) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"enum": ["x"]}}}
    tool = Tool(
        uid="tool-t",
        name="t",
        description="T.",
        input_schema=schema,
        output_schema=copy.deepcopy(schema),
        annotations={"x": [1]},
    )
    output: dict[str, Any] = {"a": [{"b": 1}]}
    adapter = ADAPTERS[name](tool)
    for made, given_ in (
        (adapter.generate_tool_description(), tool),
        (adapter.format_tool_output(output, call_id="c"), output),
    ):
        kept = repr(given_)
        wreck(made)
        assert repr(given_) == kept
    if name in SHAPES:
        definition = SHAPES[name].definition(tool)
        read = SHAPES[name].read(definition)
        kept = repr(read)
        wreck(definition)
        assert repr(read) == kept


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", SHAPES)
def test_a_definition_there_and_back_is_the_same_and_settled_after_one_pass(
    first: str, second: str
) -> None:
    for tool in conversations.tools(60):
        definition = SHAPES[first].definition(tool)
        there = SHAPES[second].definition(SHAPES[first].read(definition))
        back = SHAPES[first].definition(SHAPES[second].read(there))
        lost = {
            "outputSchema",
            "output_schema",
            "responseJsonSchema",
            "title",
            "annotations",
            "strict",
            "function",
            "parameters",
        }
        assert {k: v for k, v in back.items() if k not in lost} == {
            k: v for k, v in definition.items() if k not in lost
        }
        if (
            "strict" in OPTIONS.get(first, ())
            and "strict" in OPTIONS.get(second, ())
            and strict(tool) is not False
        ):
            assert back.get("function", back).get("strict") == definition.get(
                "function", definition
            ).get("strict")
        if "output" in OPTIONS.get(first, ()) and "output" in OPTIONS.get(second, ()):
            assert SHAPES[first].read(back).output_schema == tool.output_schema
        assert (
            SHAPES[second].definition(SHAPES[first].read(back)) == there
            or second == "openai-responses"
        )
        assert (
            SHAPES[first].definition(
                SHAPES[second].read(SHAPES[second].definition(SHAPES[first].read(back)))
            )
            == back
        )


def test_a_broken_definition_is_one_that_the_judges_refuse() -> None:
    assert not accepts("anthropic tool", {"name": "t"})
    assert not accepts("openai tool", {"type": "function", "function": {"description": "no name"}})
    assert not accepts("mcp tool", {"name": "t", "inputSchema": "x"})
    assert not accepts("openai message", {"role": "tool", "content": "x"})
    assert not accepts("anthropic message", {"role": "user", "content": [{"type": "image"}]})
    assert not accepts("anthropic message", {"role": "user", "content": "x", "name": "alice"})
