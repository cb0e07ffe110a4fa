"""What differs between the revisions."""

from typing import Any

import pytest

from vespe.features.mcp.server import revisions

ENTRY = {
    "name": "a",
    "description": "b",
    "inputSchema": {},
    "title": "A",
    "annotations": {},
    "outputSchema": {},
}


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25"), ("2026-07-28", "2025-11-25")],
)
def test_a_handshake_settles_on_the_clients_revision_or_on_the_newest_that_has_one(
    asked: str, given: str
) -> None:
    assert revisions.negotiated(asked) == given


@pytest.mark.parametrize(
    ("revision", "left"),
    [
        ("2024-11-05", {"title", "annotations", "outputSchema"}),
        ("2025-03-26", {"title", "outputSchema"}),
    ],
)
def test_an_older_revision_sees_only_the_fields_that_it_knows(
    revision: str, left: set[str]
) -> None:
    assert ENTRY.keys() - revisions.tool_entry(ENTRY, {"type": "object"}, revision).keys() == left


@pytest.mark.parametrize(
    "schema", [{"type": "array"}, {"properties": {}}, {"type": ["object", "null"]}, True]
)
def test_only_the_newest_revision_lists_output_schemas_of_every_type(schema: Any) -> None:
    entry = {"name": "a", "inputSchema": {}, "outputSchema": schema}
    assert revisions.tool_entry(entry, schema, revisions.NEWEST)["outputSchema"] == (
        {} if schema is True else schema
    )
    assert "outputSchema" not in revisions.tool_entry(entry, schema, "2025-11-25")


def test_no_entry_says_an_output_schema_that_its_tool_is_not_held_to() -> None:
    assert "outputSchema" not in revisions.tool_entry(
        {"name": "a", "inputSchema": {}, "outputSchema": {}}, None, revisions.NEWEST
    )


@pytest.mark.parametrize("revision", ["2025-11-25", revisions.NEWEST])
@pytest.mark.parametrize(
    "field",
    [
        {"title": 5},
        {"_meta": 5},
        {"icons": 5},
        {"icons": [{"src": 5}]},
        {"execution": {"taskSupport": "required"}},
    ],
)
def test_a_field_for_which_a_client_refuses_the_whole_list_is_left_out(
    field: dict[str, Any], revision: str
) -> None:
    entry = {"name": "a", "inputSchema": {}}
    assert revisions.tool_entry(entry | field, None, revision) == entry


def test_a_property_that_may_be_anything_or_nothing_stands_as_an_object() -> None:
    schema = {"type": "object", "properties": {"a": True, "b": False, "c": {"type": "string"}}}
    entry = revisions.tool_entry({"name": "a", "inputSchema": schema}, schema, "2025-11-25")
    assert (
        entry["inputSchema"]
        == entry["outputSchema"]
        == schema | {"properties": {"a": {}, "b": {"not": {}}, "c": {"type": "string"}}}
    )


def test_only_the_newest_revision_says_what_kind_of_result_it_is_and_who_gives_it() -> None:
    assert revisions.complete({"tools": []}, "2025-11-25", cached=True) == {"tools": []}
    said = revisions.complete({"tools": []}, revisions.NEWEST, cached=True)
    assert (said["resultType"], said["ttlMs"], said["cacheScope"]) == (
        "complete",
        0,
        "private",
    ) and said["_meta"]
