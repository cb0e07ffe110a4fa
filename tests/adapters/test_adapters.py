"""The tables know every model API, and a definition survives every pair of shapes."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.judges import accepts, complaint
from tests.adapters.strategies import NAMES, SCHEMAS, SPOKEN
from vespe.adapters import ADAPTERS, SHAPES
from vespe.models import Tool

JUDGED = [name for name in SHAPES if name != "gemini"]
"""Gemini's SDK is no judge here: its types are held against the documented fields in test_gemini.py."""
TOOLS = st.builds(
    lambda name, description, schema: Tool(uid="tool-t", name=name, description=description, input_schema=schema), NAMES, SPOKEN, SCHEMAS
)


def test_the_shapes_and_the_adapters_are_in_their_tables() -> None:
    assert set(SHAPES) == {"openai", "openai-responses", "anthropic", "gemini", "ollama", "mcp"}
    assert set(ADAPTERS) == {*SHAPES, "text"}


@settings(derandomize=True, max_examples=60, deadline=None)
@given(TOOLS)
def test_every_definition_is_one_that_the_vendors_types_take(tool: Tool) -> None:
    for name in JUDGED:
        definition = SHAPES[name].definition(tool)
        assert accepts(f"{name} tool", definition), (name, complaint(f"{name} tool", definition))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(TOOLS)
def test_a_tool_survives_every_pair_of_shapes(tool: Tool) -> None:
    for first in SHAPES.values():
        for second in SHAPES.values():
            once = first.read(first.definition(tool))
            twice = second.read(second.definition(once))
            assert (twice.name, twice.description) == (tool.name, tool.description)
            assert {"properties": {}, **twice.input_schema} == {"properties": {}, **tool.input_schema}
            assert first.definition(first.read(first.definition(twice))) == first.definition(twice)


@pytest.mark.parametrize("name", SHAPES)
def test_a_definition_is_read_and_written_without_being_changed(name: str) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    tool = Tool(uid="tool-t", name="t", description="T.", input_schema=schema, output_schema=schema, annotations={"title": "T"})
    kept = copy.deepcopy(schema)
    definition = SHAPES[name].definition(tool)
    again = copy.deepcopy(definition)
    SHAPES[name].read(definition)
    assert (schema, definition) == (kept, again)


def test_a_broken_definition_is_one_that_the_judges_refuse() -> None:
    assert not accepts("anthropic tool", {"name": "t"})
    assert not accepts("openai tool", {"type": "function", "function": {"description": "no name"}})
    assert not accepts("mcp tool", {"name": "t", "inputSchema": "x"})
    assert not accepts("openai message", {"role": "tool", "content": "x"})
    assert not accepts("anthropic message", {"role": "user", "content": [{"type": "image"}]})
    assert not accepts("anthropic message", {"role": "user", "content": "x", "name": "alice"})
