"""Foreign definitions as tools."""

import functools
from typing import Any, cast

import pytest

from vespe.adapters import SHAPES, definitions
from vespe.errors import InvalidDocument


def test_a_foreign_tool_has_a_document_for_config_json_and_nothing_that_implements_it() -> None:
    tool = definitions.foreign_tool(
        "mcp",
        {"name": "t"},
        schema=None,
        rest={"icons": []},
        annotations={"title": "T"},
        output_schema={"type": "object"},
    )
    assert (tool.uid, tool.implementation, tool.description) == ("", None, "")
    assert tool.document == {
        "name": "t",
        "description": "",
        "schema": {"input": {"type": "object", "properties": {}}, "output": {"type": "object"}},
        "annotations": {"title": "T"},
        "api_fields": {"mcp": {"icons": []}},
    }


def test_a_schema_without_a_type_is_an_objects() -> None:
    assert definitions.foreign_tool(
        "mcp", {"name": "t"}, schema={"properties": {}}, rest={}
    ).input_schema == {
        "type": "object",
        "properties": {},
    }


@pytest.mark.parametrize(
    ("definition", "schema", "reason"),
    [
        ({}, None, "a tool without a name: needs a `name`"),
        ({"name": ""}, None, "needs a `name`"),
        ({"name": 3}, None, "needs a `name`"),
        (
            {"name": "t", "description": 3},
            None,
            "the tool 't': `description` must be a string, not int",
        ),
        ({"name": "t"}, [], "the tool 't': the schema of its inputs must be an object, not list"),
    ],
)
def test_what_is_no_definition_is_refused_with_its_name(
    definition: dict[str, object], schema: object, reason: str
) -> None:
    with pytest.raises(InvalidDocument, match=reason):
        definitions.foreign_tool("mcp", definition, schema=schema, rest={})


@pytest.mark.parametrize("schema", [{"properties": 3}, {"$schema": 3}, {"allOf": {}}])
def test_a_schema_that_no_model_could_be_shown_is_refused(schema: dict[str, object]) -> None:
    with pytest.raises(InvalidDocument, match="in the schema of its inputs cannot be"):
        definitions.foreign_tool("mcp", {"name": "t"}, schema=schema, rest={})


DEEP: Any = functools.reduce(lambda inner, _: [inner], range(100_000), cast("Any", 0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "key",
    [
        "type",
        "name",
        "description",
        "parameters",
        "input_schema",
        "inputSchema",
        "outputSchema",
        "annotations",
        "more",
    ],
)
def test_deep_and_huge_values_end_in_a_sentence_of_a_few_words(shape: str, key: str) -> None:
    for value in (DEEP, {"a": DEEP}, {"enum": ["x" * 100_000] * 100}, 10**5000):
        given = {"name": "t", key: value}
        for definition in (given, {"function": given}, {"type": "function", "function": given}):
            try:
                made = SHAPES[shape].definition(SHAPES[shape].read(definition))
            except InvalidDocument as error:
                assert len(str(error)) < 500
            else:
                assert made


def test_an_object_or_null_is_given_back_and_anything_else_is_refused() -> None:
    assert definitions.object_or_none({}, "a", None) is None and definitions.object_or_none(
        {}, "a", {"b": 1}
    ) == {"b": 1}
    with pytest.raises(InvalidDocument, match="the tool 't': `a` must be an object, not list"):
        definitions.object_or_none({"name": "t"}, "a", [])
