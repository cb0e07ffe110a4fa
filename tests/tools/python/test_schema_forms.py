"""Unions and definitions: the shortest schema that still says the same."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.models import JsonObject
from vespe.schemas.validator import check_schema, compile_schema
from vespe.tools.python.schema_forms import (
    enumeration,
    extended,
    fits,
    json_type,
    reference,
    settled,
    types_of,
    union,
)

INTEGER, NUMBER, STRING, NULL = ({"type": kind} for kind in ("integer", "number", "string", "null"))
UNIONS: list[tuple[list[JsonObject], JsonObject]] = [
    ([INTEGER], INTEGER),
    ([INTEGER, INTEGER], INTEGER),
    ([INTEGER, NULL], {"type": ["integer", "null"]}),
    ([INTEGER, NUMBER, STRING], {"type": ["number", "string"]}),
    ([INTEGER, {}], {}),
    ([{"type": "array", "items": INTEGER}, NULL], {"type": ["array", "null"], "items": INTEGER}),
    ([{"type": "string", "enum": ["a"]}, NULL], {"type": ["string", "null"], "enum": ["a", None]}),
    (
        [{"type": ["string", "null"], "enum": ["a", None]}, NULL],
        {"type": ["string", "null"], "enum": ["a", None]},
    ),
    ([reference("A"), NULL], {"anyOf": [{"$ref": "#/$defs/A"}, NULL]}),
    (
        [{"anyOf": [reference("A"), STRING]}, NULL],
        {"anyOf": [{"$ref": "#/$defs/A"}, {"type": ["string", "null"]}]},
    ),
    ([{"type": "string", "const": "a"}, NULL], {"anyOf": [{"type": "string", "const": "a"}, NULL]}),
]


@pytest.mark.parametrize(("members", "wanted"), UNIONS)
def test_a_union_takes_its_shortest_form(members: list[JsonObject], wanted: JsonObject) -> None:
    assert union(members) == wanted


MEMBERS = st.sampled_from(
    [
        INTEGER,
        NUMBER,
        STRING,
        NULL,
        {"type": "array", "items": INTEGER},
        {"type": "string", "enum": ["a", "b"]},
        {"anyOf": [NULL, STRING]},
        {"type": "integer", "minimum": 3},
        {"type": ["string", "null"], "minLength": 2},
    ]
)
VALUES: list[Any] = [None, 0, 3, 1.5, "", "a", "abc", [], [1], ["x"], {}, True]


@settings(max_examples=150, deadline=None)
@given(st.lists(MEMBERS, min_size=1, max_size=4))
def test_a_union_accepts_what_any_member_accepts_and_nothing_else(
    members: list[JsonObject],
) -> None:
    whole, parts = (
        compile_schema(union(members), closed=False),
        [compile_schema(member, closed=False) for member in members],
    )
    assert [whole.is_valid(value) for value in VALUES] == [
        any(part.is_valid(value) for part in parts) for value in VALUES
    ]


def test_an_enumeration_has_each_value_once_and_knows_true_from_one() -> None:
    assert enumeration(["a", "b", "a"]) == {"type": "string", "enum": ["a", "b"]}
    assert enumeration([1, True, 1.5, None, [1], {"a": 1}]) == {
        "type": ["integer", "boolean", "number", "null", "array", "object"],
        "enum": [1, True, 1.5, None, [1], {"a": 1}],
    }


def test_a_whole_number_is_a_number_and_a_boolean_is_not() -> None:
    assert (json_type(1), json_type(True), json_type(1.0)) == ("integer", "boolean", "number")
    assert (
        fits(1, ("number",))
        and fits("x", ())
        and not fits(True, ("integer", "number"))
        and not fits(1.5, ("integer",))
    )


def test_keywords_that_differ_hold_together() -> None:
    assert extended({"type": "integer", "minimum": 1}, {"minimum": 3}) == {
        "allOf": [{"type": "integer", "minimum": 1}],
        "minimum": 3,
    }
    assert extended({"type": "integer", "description": "a"}, {"description": "b"}) == {
        "type": "integer",
        "description": "b",
    }


BIG: JsonObject = {"type": "object", "properties": {f"property_{n}": STRING for n in range(9)}}


def test_a_definition_that_is_used_once_or_is_small_stands_where_it_is_used() -> None:
    once: JsonObject = {"type": "array", "items": {**reference("Big"), "description": "said"}}
    assert settled(once, {"Big": BIG}) == {"type": "array", "items": {**BIG, "description": "said"}}
    twice: JsonObject = {
        "type": "object",
        "properties": {"a": reference("Small"), "b": reference("Small")},
    }
    assert settled(twice, {"Small": STRING}) == {
        "type": "object",
        "properties": {"a": STRING, "b": STRING},
    }


def test_a_big_one_that_is_used_twice_stays_a_definition() -> None:
    schema: JsonObject = {"prefixItems": [reference("Big"), reference("Big")]}
    assert settled(schema, {"Big": BIG, "Unused": STRING}) == {**schema, "$defs": {"Big": BIG}}


def test_what_is_recursive_stays_a_definition_however_small() -> None:
    tree: JsonObject = {"type": "array", "items": reference("Tree")}
    assert settled(reference("Tree"), {"Tree": tree}) == {
        "$ref": "#/$defs/Tree",
        "$defs": {"Tree": tree},
    }


def test_a_placed_definition_joins_the_union_around_it() -> None:
    assert settled({"anyOf": [reference("A"), NULL], "default": None}, {"A": INTEGER}) == {
        "type": ["integer", "null"],
        "default": None,
    }


def test_data_that_looks_like_a_reference_is_data() -> None:
    data = {"default": {"$ref": "#/$defs/A", "anyOf": [1]}, "enum": [{"$ref": "x"}]}
    schema: JsonObject = {
        "properties": {"$ref": STRING, "anyOf": STRING, "enum": reference("A")},
        "additionalProperties": False,
        **data,
    }
    assert settled(schema, {"A": INTEGER}) == {
        **schema,
        "properties": {"$ref": STRING, "anyOf": STRING, "enum": INTEGER},
    }


NAMES = st.sampled_from("ABCDE")
SCHEMAS = st.recursive(
    st.one_of(st.builds(reference, NAMES), st.sampled_from([INTEGER, STRING])),
    lambda inner: st.one_of(
        st.builds(lambda s: {"type": "array", "items": s}, inner),
        st.builds(
            lambda s: {"type": "object", "properties": {"a": s}, "additionalProperties": STRING},
            inner,
        ),
        st.builds(lambda s, t: {"type": "array", "prefixItems": [s, t]}, inner, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(SCHEMAS.filter(lambda schema: "$ref" not in schema), min_size=5, max_size=5), SCHEMAS
)
def test_settling_changes_no_verdict(bodies: list[JsonObject], schema: JsonObject) -> None:
    definitions = dict(zip("ABCDE", bodies, strict=True))
    short, long = settled(schema, definitions), {**schema, "$defs": definitions}
    assert check_schema(short, root_object=False) == []
    values: list[Any] = [
        1,
        "a",
        [1],
        ["a"],
        [[1], ["a"]],
        {"a": 1},
        {"a": {"a": "x"}},
        {"b": 1},
        {"a": [1, {"a": 1}]},
        [{"a": 1}, 2],
    ]
    one, other = compile_schema(short, closed=False), compile_schema(long, closed=False)
    assert [one.is_valid(value) for value in values] == [other.is_valid(value) for value in values]


def test_types_are_those_that_the_schema_itself_names() -> None:
    assert (types_of(INTEGER), types_of({"type": ["string", "null"]}), types_of({})) == (
        ("integer",),
        ("string", "null"),
        (),
    )
