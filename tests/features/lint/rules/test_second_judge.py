"""What a schema means to Python's reference validator, beside what it means here."""

from typing import Any

import pytest

from tests.features.lint.judging import rules_of
from tests.features.lint.rules.test_schema import definition
from vespe.features.lint.base import Found
from vespe.features.lint.rules import second_judge

RULES = rules_of(second_judge)
CODE = "schema-second-judge"


def found(code: str, schema: Any) -> list[Found]:
    (rule,) = (rule for rule in RULES if rule.code == code)
    return list(rule.check(definition(schema)))


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "number", "multipleOf": 0.01}, "multipleOf"),
        ({"type": "object", "dependencies": {"a": ["b"]}}, "dependencies"),
        (
            {
                "type": "object",
                "properties": {"deep": {"type": "array", "items": {"multipleOf": 0.1}}},
            },
            "multipleOf",
        ),
    ],
)
def test_a_value_that_the_two_judges_see_otherwise_is_named(schema: Any, keyword: str) -> None:
    (one,) = found(CODE, {"type": "object", "properties": {"x": schema}})
    assert (
        one.pointer.endswith(f"/{keyword}") and "Python's jsonschema does not follow" in one.message
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "multipleOf": 0.5},
        {"type": "integer", "multipleOf": 3},
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        {"type": "array", "uniqueItems": True, "items": {}},
        {"type": "array", "contains": {"const": 1}, "minContains": 0},
        {"type": "object", "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"$ref": "#/$defs/a", "$defs": {"a": {"multipleOf": 2}}},
        {"multipleOf": "a"},
        {"pattern": "(", "uniqueItems": True},
    ],
)
def test_a_schema_that_both_read_alike_or_that_is_none_is_let_be(schema: Any) -> None:
    assert found(CODE, {"type": "object", "properties": {"x": schema}}) == []
