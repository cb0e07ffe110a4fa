"""What every writer of a shape shows of a tool."""

import itertools
from typing import Any

import pytest

from vespe.adapters import SHAPES, definition_parts
from vespe.models import Tool

STRICT: dict[str, dict[str, Any]] = {
    "openai": {"function": {"strict": True}},
    "openai-responses": {"strict": True},
    "anthropic": {"strict": True},
}


def tool_of(fields: Any) -> Tool:
    return Tool(
        uid="tool-t",
        name="t",
        description="",
        input_schema={"type": "object"},
        document={"api_fields": fields},
    )


@pytest.mark.parametrize("kept", [None, 3, {"mcp": 3}, {"openai": {}}])
def test_fields_of_another_kind_are_none(kept: object) -> None:
    assert definition_parts.own_fields(tool_of(kept), "mcp") == {}
    assert definition_parts.described(tool_of(kept)) == {"name": "t"}


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(STRICT, 2)))
def test_what_one_api_was_told_of_strict_the_others_are_told_too(first: str, second: str) -> None:
    definition = SHAPES[first].definition(tool_of({first: STRICT[first]}))
    told = SHAPES[second].definition(SHAPES[first].read(definition))
    assert told == {**SHAPES[second].definition(tool_of({})), **told}
    assert definition_parts.own_fields(tool_of({first: STRICT[first]}), second) == STRICT[second]
    assert SHAPES[first].definition(SHAPES[second].read(told)) == definition


def test_an_apis_own_word_comes_first_and_a_word_for_responses_is_no_other_apis() -> None:
    both = tool_of({"openai": {"function": {"strict": False}}, "anthropic": {"strict": True}})
    assert definition_parts.own_fields(both, "openai") == {"function": {"strict": False}}
    assert (
        definition_parts.own_fields(tool_of({"openai-responses": {"strict": False}}), "anthropic")
        == {}
    )
    assert definition_parts.own_fields(
        tool_of({"openai": {"function": {"strict": False}}}), "anthropic"
    ) == {"strict": False}
    assert definition_parts.own_fields(
        tool_of({"anthropic": {"strict": "yes", "defer_loading": True}}), "openai-responses"
    ) == {"defer_loading": True}
    assert definition_parts.own_fields(tool_of({"anthropic": {"strict": True}}), "ollama") == {}


def test_everything_shown_is_a_copy() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"enum": [1]}}}
    tool = Tool(
        uid="",
        name="t",
        description="",
        input_schema=schema,
        output_schema=schema,
        annotations={"x": [1]},
    )
    assert (
        definition_parts.shown_schema(tool)["properties"]["a"]["enum"]
        is not schema["properties"]["a"]["enum"]
    )
    assert definition_parts.shown_output(tool, "o")["o"]["properties"] is not schema["properties"]
    assert definition_parts.own_annotations(tool)["x"] is not tool.annotations["x"]
