"""Defaults are found once, filled in where a value lacks them, and nothing of the value is shared
with what comes out.
"""

from typing import Any

import pytest

from vespe.schemas.filling import NOTHING, filling_of
from vespe.schemas.validator import compile_schema

NESTED = {
    "type": "object",
    "properties": {
        "at": {"type": "object", "properties": {"x": {"type": "integer", "default": 1}}},
        "all": {"type": "array", "items": {"properties": {"y": {"default": [2]}}}},
    },
}


def test_defaults_are_filled_in_wherever_the_schema_says_them() -> None:
    assert filling_of(NESTED).fill({"at": {}, "all": [{}, 3, {"y": 0}]}, 10) == {
        "at": {"x": 1},
        "all": [{"y": [2]}, 3, {"y": 0}],
    }


def test_what_has_no_default_is_copied_to_its_last_part() -> None:
    given: dict[str, Any] = {"a": [{"b": []}], "c": "text"}
    made = NOTHING.fill(given, 10)
    made["a"][0]["b"].append(1)
    assert given == {"a": [{"b": []}], "c": "text"} and filling_of({"type": "object"}) is NOTHING


def test_of_several_defaults_of_one_name_the_property_s_own_schema_has_the_word() -> None:
    schema = {
        "properties": {"a": {"default": 1}},
        "allOf": [{"properties": {"a": {"default": 2}, "b": {"default": 3}}}],
    }
    assert filling_of(schema).fill({}, 1) == {"a": 1, "b": 3}


def test_a_schema_that_refers_to_itself_fills_as_deep_as_the_value_goes() -> None:
    schema = {"properties": {"next": {"$ref": "#"}, "n": {"default": 0}}}
    assert filling_of(schema).fill({"next": {"next": {}}}, 10) == {
        "next": {"next": {"n": 0}, "n": 0},
        "n": 0,
    }


def test_what_is_nested_too_deep_is_refused() -> None:
    assert NOTHING.fill({"a": [1]}, 2) == {"a": [1]}
    with pytest.raises(ValueError, match="too deep"):
        NOTHING.fill({"a": [1]}, 1)


DRAFT_07 = "http://json-schema.org/draft-07/schema#"
STRING, LISTS = {"type": "string"}, {"type": "array", "items": {"type": ["array", "string"]}}
ELSEWHERE = {"$id": "x:/y", "$defs": {"a": LISTS}, "properties": {"a": {"$ref": "#/$defs/a"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": {"a": LISTS, "s": STRING}},
        {
            "properties": {"a": LISTS, "o": {"properties": {"p": STRING}}},
            "additionalProperties": False,
        },
        {"properties": {"s": STRING}, "patternProperties": {"": {}}, "additionalProperties": False},
        {"properties": {"a": {"prefixItems": [LISTS], "items": STRING}}},
        {"properties": {"a": {"type": ["array", "null"]}, "o": {"const": {"p": [1], "q": []}}}},
        {"properties": {"a": {"enum": ["x", [["y"]]]}, "o": {"anyOf": [STRING, True]}}},
        {"$defs": {"a": STRING, "n": ELSEWHERE}, "$ref": "#/$defs/n"},
        {
            "$schema": DRAFT_07,
            "definitions": {"l": LISTS},
            "properties": {"a": {"$ref": "#/definitions/l", "type": "string"}},
        },
    ],
)
def test_a_copy_shares_nothing_that_can_change_with_the_callers_value(
    schema: dict[str, Any],
) -> None:
    given = {"a": [["y"]], "s": "text", "o": {"p": [1], "q": []}}
    given = {
        name: value
        for name, value in given.items()
        if name in schema.get("properties", given) or "patternProperties" in schema
    }
    if "additionalProperties" in schema and "o" in given and "patternProperties" not in schema:
        given["o"] = {"p": "text", "q": [{}]}
    made = compile_schema({"type": "object", **schema}, closed=False).completed(given)
    assert made == given and not containers(made) & containers(given)


def test_the_first_items_of_a_list_are_copied_and_only_later_ones_are_filled() -> None:
    item = {"type": "object", "additionalProperties": False, "properties": {"n": {"default": 1}}}
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "prefixItems": [{}], "items": item}},
    }
    given = {"a": [{"c": [1]}, {}]}
    made = compile_schema(schema, closed=False).completed(given)
    assert made == {"a": [{"c": [1]}, {"n": 1}]} and not containers(made) & containers(given)


def containers(value: Any) -> set[int]:
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {id(value) for _ in [0] if isinstance(value, dict | list)}.union(
        *map(containers, within)
    )


def holds_itself() -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["a"] = made
    return made


@pytest.mark.parametrize(
    "extra",
    [{}, {"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"uniqueItems": True}}}],
)
def test_an_allowed_value_is_completed_and_one_without_end_is_not(extra: dict[str, Any]) -> None:
    validator = compile_schema({"type": "object", **extra}, closed=False)
    assert validator.completed({"a": {"b": 1}}) == {"a": {"b": 1}}
    assert validator.completed(holds_itself()) is None and "nested deeper" in str(
        validator.violations(holds_itself())[0]
    )
