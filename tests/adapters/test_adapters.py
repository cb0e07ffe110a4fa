"""The tables know every model API, and a definition survives every pair of shapes."""

import copy
import dataclasses
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
OPTIONS = {
    "openai": ("strict",),
    "anthropic": ("strict",),
    "openai-responses": ("strict", "output"),
    "mcp": ("output",),
    "gemini": ("output",),
}
ANNOTATIONS: st.SearchStrategy[Any] = st.sampled_from([{}, {"title": "T"}])
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
    tool = Tool(uid="tool-t", name="t", description="T.", input_schema=schema, output_schema=copy.deepcopy(schema), annotations={"x": [1]})
    output: dict[str, Any] = {"a": [{"b": 1}]}
    adapter = ADAPTERS[name](tool)
    for made, given_ in ((adapter.generate_tool_description(), tool), (adapter.format_tool_output(output, call_id="c"), output)):
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
@settings(derandomize=True, max_examples=15, deadline=None)
@given(
    tool=TOOLS, strict=st.sampled_from([None, True, False]), output=st.none() | SCHEMAS, annotations=st.sampled_from([{}, {"title": "T"}])
)
def test_a_definition_there_and_back_is_the_same_on_what_both_can_express_and_settled_after_one_pass(
    first: str, second: str, tool: Tool, strict: bool | None, output: Any, annotations: Any
) -> None:
    told = {} if strict is None else {"api_fields": {"openai": {"function": {"strict": strict}}}}
    whole = dataclasses.replace(tool, output_schema=output, annotations=annotations, document=told)
    definition = SHAPES[first].definition(whole)
    there = SHAPES[second].definition(SHAPES[first].read(definition))
    back = SHAPES[first].definition(SHAPES[second].read(there))
    lost = {"outputSchema", "output_schema", "responseJsonSchema", "title", "annotations", "strict", "function", "parameters"}
    assert {k: v for k, v in back.items() if k not in lost} == {k: v for k, v in definition.items() if k not in lost}
    if "strict" in OPTIONS.get(first, ()) and "strict" in OPTIONS.get(second, ()) and strict is not False:
        assert back.get("function", back).get("strict") == definition.get("function", definition).get("strict")
    if "output" in OPTIONS.get(first, ()) and "output" in OPTIONS.get(second, ()):
        assert SHAPES[first].read(back).output_schema == output
    assert SHAPES[second].definition(SHAPES[first].read(back)) == there or second == "openai-responses"
    assert SHAPES[first].definition(SHAPES[second].read(SHAPES[second].definition(SHAPES[first].read(back)))) == back


def test_a_broken_definition_is_one_that_the_judges_refuse() -> None:
    assert not accepts("anthropic tool", {"name": "t"})
    assert not accepts("openai tool", {"type": "function", "function": {"description": "no name"}})
    assert not accepts("mcp tool", {"name": "t", "inputSchema": "x"})
    assert not accepts("openai message", {"role": "tool", "content": "x"})
    assert not accepts("anthropic message", {"role": "user", "content": [{"type": "image"}]})
    assert not accepts("anthropic message", {"role": "user", "content": "x", "name": "alice"})
