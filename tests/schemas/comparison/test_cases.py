"""Cases of a schema's values: parts opened, kinds narrowed, each judged as the whole schema
would.
"""

from typing import Any

import pytest

from vespe.schemas.comparison.cases import ATOMS, Case, Side, atom_of


def case(schema: Any) -> Case:
    side = Side(schema)
    assert side.problem is None
    return Case(side=side, parts=(side.root,)).spread()


@pytest.mark.parametrize(
    ("value", "atom"),
    [
        (None, "null"),
        (True, "boolean"),
        (1.0, "integer"),
        (0.5, "fraction"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_the_kind_of_a_value_is_json_schema_s(value: Any, atom: str) -> None:
    assert atom_of(value) == atom


def test_kinds_are_narrowed_through_references_and_all_of() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "allOf": [{"type": ["integer", "string"]}],
        "$defs": {"a": {"type": ["number", "null"]}},
    }
    assert case(schema).atoms == {"integer"}
    assert case({}).atoms == ATOMS and case(False).atoms == frozenset()


def test_a_part_is_judged_with_the_references_of_its_root() -> None:
    side = Side({"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}})
    assert side.allows((side.root["properties"]["a"],), 1) is True
    assert side.allows((side.root["properties"]["a"],), "x") is False


def test_drafts_before_2019_see_nothing_beside_a_reference() -> None:
    schema = {
        "$ref": "#/definitions/n",
        "type": "string",
        "definitions": {"n": {"type": "integer"}},
    }
    assert case({"$schema": "http://json-schema.org/draft-07/schema#", **schema}).atoms == {
        "integer"
    }
    assert case(schema).atoms == frozenset()


def test_listed_values_are_given_as_far_as_every_part_allows_them() -> None:
    assert case({"enum": [1, "a", None], "type": ["integer", "null"]}).finite() == [1, None]
    assert case({"type": "boolean"}).finite() == [True, False]
    assert case({"type": "string"}).finite() is None


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"$defs": {"a": {"$id": "https://example.com/a"}}},
        {"$ref": "#a", "$defs": {"a": {"$anchor": "a"}}},
        {"$dynamicRef": "#a"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]},
        {"$id": "https://example.com/a", "$ref": "https://example.com/a"},
    ],
)
def test_what_is_not_followed_is_said(schema: Any) -> None:
    assert Side(schema).problem
