"""What is proved of two schemas, and what is left open: each pair of a table, in both
directions.
"""

from typing import Any

import pytest

from vespe.schemas.comparison.cases import Case, Side
from vespe.schemas.comparison.inclusion import Inclusion, TooManySteps, equal

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
PROVED: list[tuple[Any, Any]] = [
    (WHOLE, {"type": "number"}),
    ({"enum": ["a", 1]}, {"type": ["string", "integer"]}),
    ({"const": 3}, {"minimum": 3}),
    ({"type": "integer", "exclusiveMinimum": 0}, {"minimum": 1}),
    ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
    ({"exclusiveMaximum": 5}, {"maximum": 5}),
    ({"maximum": 4}, {"exclusiveMaximum": 5}),
    ({"type": "number", "multipleOf": 6}, {"multipleOf": 1.5}),
    (WHOLE, {"multipleOf": 0.25}),
    ({"type": "string", "minLength": 2, "maxLength": 3}, {"minLength": 1, "maxLength": 4}),
    (
        {"type": "array", "items": WHOLE, "maxItems": 1},
        {"items": {"type": "number"}, "uniqueItems": True},
    ),
    (
        {"type": "array", "prefixItems": [WHOLE], "items": TEXT},
        {"items": {"type": ["integer", "string"]}},
    ),
    ({"type": "array", "prefixItems": [WHOLE], "maxItems": 1}, {"items": WHOLE}),
    ({"type": "object", "required": ["a", "b"]}, {"minProperties": 2, "required": ["a"]}),
    (
        {"type": "object", "properties": {"a": WHOLE}, "additionalProperties": False},
        {"additionalProperties": WHOLE},
    ),
    (
        {"type": "object", "patternProperties": {"^a": WHOLE}, "additionalProperties": False},
        {"patternProperties": {"^a": {"type": "number"}}},
    ),
    (
        {"type": "object", "properties": {"a": True}, "additionalProperties": False},
        {"propertyNames": {"maxLength": 1}},
    ),
    ({"type": "object", "propertyNames": {"maxLength": 1}}, {"propertyNames": {"maxLength": 2}}),
    ({"anyOf": [TEXT, {"const": 1}]}, {"type": ["string", "integer"]}),
    ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
    ({"type": ["string", "null"]}, {"oneOf": [{"type": "null"}, TEXT]}),
    ({"oneOf": [TEXT, {"type": "null"}]}, {"type": ["string", "null"]}),
    (WHOLE, {"not": TEXT}),
    ({"allOf": [WHOLE, {"minimum": 5}]}, {"type": "number", "minimum": 1}),
    (
        {"$ref": "#/$defs/a", "$defs": {"a": WHOLE}},
        {"$ref": "#/$defs/b", "$defs": {"b": {"type": "number"}}},
    ),
    (
        {"if": TEXT, "then": {"minLength": 1}, "description": "x"},
        {"if": TEXT, "then": {"minLength": 1}},
    ),
    (False, TEXT),
    ({"type": "boolean"}, {"enum": [True, False, None]}),
    (
        {"type": "object", "properties": {"a": True}, "additionalProperties": False},
        {"allOf": [{"properties": {"a": True, "b": True}}], "unevaluatedProperties": False},
    ),
    ({"type": "string", "title": "A"}, {"type": "string", "format": "date"}),
]
OPEN: list[tuple[Any, Any]] = [
    ({"oneOf": [TEXT, {"minLength": 2}]}, {"type": "string"}),
    ({"type": "string"}, {"oneOf": [TEXT, {"minLength": 2}]}),
    (
        {"type": "object", "properties": {"title": TEXT}},
        {"type": "object", "properties": {"title": WHOLE}},
    ),
    ({"type": "object"}, {"unevaluatedProperties": False}),
    (
        {"type": "object", "unevaluatedProperties": False, "properties": {"a": True}},
        {"unevaluatedProperties": False},
    ),
    ({"type": "array"}, {"contains": TEXT}),
    ({"enum": [1]}, {"enum": [True]}),
    ({"type": "object", "patternProperties": {"^a": WHOLE}}, {"additionalProperties": WHOLE}),
    ({"type": "string"}, False),
]


def proved(left: Any, right: Any) -> bool:
    wide, narrow = Side(left), Side(right)
    return Inclusion(narrow).holds(Case(side=wide, parts=(wide.root,)), narrow.root)


@pytest.mark.parametrize(("left", "right"), PROVED)
def test_what_is_included_is_proved(left: Any, right: Any) -> None:
    assert proved(left, right)


@pytest.mark.parametrize(("left", "right"), OPEN + [(b, a) for a, b in PROVED[:3] + PROVED[5:10]])
def test_what_is_not_included_is_not_proved(left: Any, right: Any) -> None:
    assert not proved(left, right)


def test_definitions_that_recur_are_proved_once_for_all_depths() -> None:
    def chain(name: str) -> dict[str, Any]:
        node = {
            "anyOf": [
                {"type": "null"},
                {"type": "object", "properties": {"next": {"$ref": f"#/$defs/{name}"}}},
            ]
        }
        return {"$ref": f"#/$defs/{name}", "$defs": {name: node}}

    assert proved(chain("a"), chain("b"))


def test_a_question_of_too_many_cases_is_given_up() -> None:
    parts = [
        {"anyOf": [{"maxLength": length + branch} for branch in range(30)]}
        for length in (1, 40, 80, 120)
    ]
    last = {"anyOf": [{"pattern": "q", "minLength": 1}, {"pattern": "q", "minLength": 2}]}
    with pytest.raises(TooManySteps):
        proved({"type": "string", "allOf": [*parts, last]}, {"pattern": "q"})


def test_the_same_words_are_equal_but_for_what_is_said_to_people() -> None:
    assert equal({"type": "string", "description": "a"}, {"type": "string"})
    assert not equal({"const": {"title": 1}}, {"const": {"title": 2}})
    assert not equal({"properties": {"title": {"type": "string"}}}, {"properties": {}})
