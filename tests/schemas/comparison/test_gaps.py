"""The gaps between two schemas: their places, and values that show them through every kind of
nesting.
"""

from typing import Any

import pytest

from vespe.schemas.comparison.gaps import NOTHING, gaps

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def nested(inner: Any) -> dict[str, Any]:
    """An object in a list in an object, beside what is required."""
    properties = {
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"x": inner}, "required": ["x"]},
        },
        "id": WHOLE,
    }
    return {"type": "object", "properties": properties, "required": ["id", "rows"]}


def test_a_gap_deep_inside_has_its_place_and_a_whole_value() -> None:
    (gap,) = gaps(nested({"type": ["string", "null"]}), nested(TEXT))
    assert gap.steps == ("properties", "rows", "items", "properties", "x", "type")
    assert gap.witness["rows"][-1]["x"] is None and isinstance(gap.witness["id"], int)


@pytest.mark.parametrize(
    ("wider", "narrower", "steps"),
    [
        (
            {"type": "array", "prefixItems": [TEXT, TEXT]},
            {"type": "array", "prefixItems": [TEXT, WHOLE]},
            ("prefixItems", 1, "type"),
        ),
        (WHOLE, {"allOf": [WHOLE, {"minimum": 1}]}, ("allOf", 1, "minimum")),
        (
            WHOLE,
            {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer", "maximum": 5}}},
            ("$defs", "n", "maximum"),
        ),
        ({"enum": [1, "a"]}, {"type": "integer"}, ("type",)),
        (
            {"type": "object"},
            {"type": "object", "additionalProperties": False},
            ("additionalProperties",),
        ),
        ({"type": "object"}, {"type": "object", "maxProperties": 2}, ("maxProperties",)),
        ({"type": "array"}, {"type": "array", "maxItems": 2}, ("maxItems",)),
        ({"type": "array"}, {"type": "array", "uniqueItems": True}, ("uniqueItems",)),
        (
            {"type": "object", "properties": {"a": TEXT}},
            {"type": "object", "properties": {"a": False}},
            ("properties", "a"),
        ),
        ({}, False, ()),
    ],
)
def test_each_kind_of_gap_is_shown_by_a_value(
    wider: Any, narrower: Any, steps: tuple[Any, ...]
) -> None:
    (gap,) = gaps(wider, narrower)
    assert gap.steps == steps and gap.witness is not NOTHING


def test_what_the_narrower_schema_lacks_is_pointed_at_in_the_wider_one() -> None:
    (gap,) = gaps(
        {"type": "object", "properties": {"a": TEXT}},
        {"type": "object", "additionalProperties": False, "properties": {}},
    )[:1]
    assert gap.gone and gap.steps == ("properties", "a") and "a" in gap.witness


def test_a_gap_that_no_value_shows_is_a_doubt() -> None:
    (gap,) = gaps(
        {"type": "string", "pattern": "^(?:qqq)+$"}, {"type": "string", "pattern": "^zzzzz$"}
    )
    assert gap.witness is NOTHING and gap.steps == ("pattern",)


def test_schemas_that_cannot_be_compared_say_why_unless_they_are_the_same() -> None:
    odd = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}
    assert gaps(odd, odd) == []
    assert "draft-04" in gaps(odd, {"type": "object"})[0].message
