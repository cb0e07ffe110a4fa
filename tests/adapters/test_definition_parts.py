"""What every writer of a shape shows of a tool."""

import itertools
from typing import Any

import pytest

from vespe.adapters import SHAPES, definition_parts
from vespe.models import Facade, Tool

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


def with_examples(*inputs: Any, **fields: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "unit": {"type": "string"}},
        "required": ["n"],
    }
    made = {"uid": "tool-t", "name": "t", "description": "", "input_schema": schema} | fields
    return Tool(**made, examples=tuple({"input": given, "output": 1} for given in inputs))


def test_examples_are_told_once_where_the_schema_takes_them_and_the_first_five() -> None:
    tool = with_examples({"n": 1}, {"n": "x"}, {"n": 1}, {"m": 1}, {"n": 1, "m": 2}, [], {})
    assert definition_parts.shown_examples(tool, "e") == {"e": [{"n": 1}]}
    many = with_examples(*({"n": n} for n in range(9)))
    assert definition_parts.shown_examples(many, "e") == {"e": [{"n": n} for n in range(5)]}
    assert definition_parts.shown_examples(with_examples({"n": 1.5}), "e") == {}
    assert definition_parts.shown_examples(with_examples(), "e") == {}


def test_an_example_that_fails_or_is_long_or_no_json_is_not_told() -> None:
    long, odd = {"n": 1, "unit": "x" * 3000}, {"n": 1, "unit": {1, 2}}
    assert definition_parts.shown_examples(with_examples(long, odd), "e") == {}
    failing = Tool(
        uid="tool-t",
        name="t",
        description="",
        input_schema={"type": "object"},
        examples=({"input": {}, "error": "failed"}, {"output": 3}),
    )
    assert definition_parts.shown_examples(failing, "e") == {}


def test_examples_leave_out_what_is_not_the_models_to_give() -> None:
    tool = with_examples()
    seen = with_examples(
        {"n": 1, "unit": "m"},
        input_schema={"type": "object", "properties": {"n": {}}},
        behind=Facade(tool=tool, preset={"unit": "m"}, hidden=frozenset(), places={}),
    )
    assert definition_parts.shown_examples(seen, "e") == {"e": [{"n": 1}]}


def test_a_schema_that_cannot_be_used_has_no_examples() -> None:
    broken = with_examples({"n": 1}, input_schema={"type": "object", "required": 3})
    assert definition_parts.shown_examples(broken, "e") == {}


def test_anthropic_is_told_of_examples_unless_its_own_fields_say_others() -> None:
    shape = SHAPES["anthropic"]
    assert shape.definition(with_examples({"n": 1}))["input_examples"] == [{"n": 1}]
    own = with_examples(
        {"n": 1}, document={"api_fields": {"anthropic": {"input_examples": [{"n": 7}]}}}
    )
    assert shape.definition(own)["input_examples"] == [{"n": 7}]
    assert shape.definition(shape.read(shape.definition(own))) == shape.definition(own)
    assert "examples" not in str(SHAPES["openai"].definition(with_examples({"n": 1})))
