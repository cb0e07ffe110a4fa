"""Foreign definitions as tools."""

import pytest

from vespe.adapters import definitions
from vespe.errors import InvalidDocument
from vespe.models import Tool


def test_a_foreign_tool_has_a_document_for_config_json_and_nothing_that_implements_it() -> None:
    tool = definitions.foreign_tool(
        "mcp", {"name": "t"}, schema=None, rest={"icons": []}, annotations={"title": "T"}, output_schema={"type": "object"}
    )
    assert (tool.uid, tool.implementation, tool.description) == ("", None, "")
    assert tool.document == {
        "name": "t",
        "description": "",
        "schema": {"input": {"type": "object", "properties": {}}, "output": {"type": "object"}},
        "annotations": {"title": "T"},
        "api_fields": {"mcp": {"icons": []}},
    }
    assert definitions.own_fields(tool, "mcp") == {"icons": []}
    assert definitions.own_fields(tool, "openai") == {}


def test_a_schema_without_a_type_is_an_objects() -> None:
    assert definitions.foreign_tool("mcp", {"name": "t"}, schema={"properties": {}}, rest={}).input_schema == {
        "type": "object",
        "properties": {},
    }


@pytest.mark.parametrize(
    ("definition", "schema", "reason"),
    [
        ({}, None, "a tool without a name: needs a `name`"),
        ({"name": ""}, None, "needs a `name`"),
        ({"name": 3}, None, "needs a `name`"),
        ({"name": "t", "description": 3}, None, "the tool 't': `description` must be a text, not int"),
        ({"name": "t"}, [], "the tool 't': the schema of its inputs must be an object, not list"),
    ],
)
def test_what_is_no_definition_is_refused_with_its_name(definition: dict[str, object], schema: object, reason: str) -> None:
    with pytest.raises(InvalidDocument, match=reason):
        definitions.foreign_tool("mcp", definition, schema=schema, rest={})


@pytest.mark.parametrize("kept", [None, 3, {"mcp": 3}, {"openai": {}}])
def test_fields_of_another_kind_are_none(kept: object) -> None:
    tool = Tool(uid="tool-t", name="t", description="", input_schema={}, document={"api_fields": kept})
    assert definitions.own_fields(tool, "mcp") == {}
    assert definitions.described(tool) == {"name": "t"}
