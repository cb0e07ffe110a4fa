"""What a case says of the parts of its values."""

from fractions import Fraction
from typing import Any

import pytest

from vespe.schemas.comparison.cases import (
    Case,
    Side,
    case_of_item,
    case_of_property,
    lower_bounds,
    names_of,
    upper_bounds,
)


def case(schema: Any) -> Case:
    side = Side(schema)
    return Case(side=side, parts=(side.root,)).spread()


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"properties": {"a": True}}, None),
        ({"properties": {"a": True}, "additionalProperties": False}, {"a"}),
        (
            {
                "properties": {"a": True},
                "patternProperties": {"^x": True},
                "additionalProperties": False,
            },
            None,
        ),
        (
            {
                "allOf": [{"properties": {"a": True}}, {"anyOf": [{"properties": {"b": True}}]}],
                "unevaluatedProperties": False,
            },
            {"a", "b"},
        ),
        ({"allOf": [{"additionalProperties": True}], "unevaluatedProperties": False}, None),
        (
            {
                "allOf": [{"dependentSchemas": {"a": {"properties": {"b": True}}}}],
                "unevaluatedProperties": False,
            },
            None,
        ),
        (
            {
                "properties": {"a": True, "b": True},
                "additionalProperties": False,
                "allOf": [{"properties": {"b": 1}, "additionalProperties": False}],
            },
            {"b"},
        ),
    ],
)
def test_names_are_known_only_where_a_schema_is_closed(schema: Any, names: set[str] | None) -> None:
    assert names_of(case(schema)) == names


def test_a_property_that_a_closed_schema_does_not_name_has_no_values() -> None:
    closed = case({"properties": {"a": {"type": "string"}}, "additionalProperties": False})
    assert case_of_property(closed, "b").spread().atoms == frozenset()
    assert case_of_property(closed, "a").spread().atoms == {"string"}


def test_a_pattern_and_what_is_left_over_speak_of_a_property_by_its_name() -> None:
    schema = case(
        {
            "patternProperties": {"^n": {"type": "integer"}},
            "additionalProperties": {"type": "string"},
        }
    )
    assert case_of_property(schema, "n1").spread().atoms == {"integer"}
    assert case_of_property(schema, "x").spread().atoms == {"string"}


def test_items_are_those_of_their_index() -> None:
    schema = case({"prefixItems": [{"type": "null"}], "items": {"type": "string"}})
    assert [case_of_item(schema, at).spread().atoms for at in (0, 1)] == [{"null"}, {"string"}]


def test_bounds_of_integers_are_integers_that_are_in() -> None:
    schema = case({"type": "integer", "exclusiveMinimum": 0, "maximum": 2.5})
    assert lower_bounds(schema) == [(Fraction(1), False)] and upper_bounds(schema) == [
        (Fraction(2), False)
    ]
