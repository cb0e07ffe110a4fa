"""Rules on what a schema allows."""

from typing import Any

import pytest

from tests.features.lint.judging import rules_of
from vespe.features.lint import foreign, subjects
from vespe.features.lint.base import Found
from vespe.features.lint.rules import constraints

RULES = rules_of(constraints)
BY_CODE = {rule.code: rule for rule in RULES}


def found(code: str, property_schema: Any, **root: Any) -> list[Found]:
    schema = {"type": "object", "properties": {"a": property_schema}, **root}
    made = foreign.Definition(
        api="mcp",
        document={},
        pointers={"": "", "input_schema": "/inputSchema"},
        name="a",
        description="d",
        input_schema=schema,
    )
    return list(BY_CODE[code].check(subjects.of_definition(made)))


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"type": "integer", "default": 1.0}, False),
        ({"type": "integer", "default": True}, True),
        ({"type": "number", "default": 1}, False),
        ({"type": "array", "items": {"type": "string"}, "default": [1]}, True),
        ({"type": "object", "default": {}}, False),
        ({"default": {"anything": 1}}, False),
        ({"enum": ["a"], "default": "b"}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, False),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": 3}, True),
        ({"$ref": "#/$defs/S", "default": 3}, True),
        ({"$ref": "#/$defs/S", "default": "x"}, False),
        ({"$ref": "#/properties/b", "default": 3}, False),
        ({"type": "dict", "default": 3}, False),
        ({"type": "string", "format": "email", "default": "no"}, False),
        ({"minimum": 5, "default": 3}, True),
    ],
)
def test_a_default_is_judged_by_its_own_schema(schema: Any, wrong: bool) -> None:
    assert bool(found("schema-default", schema, **{"$defs": {"S": {"type": "string"}}})) is wrong


def test_a_default_of_null_is_a_warning_in_what_is_not_vespes_own() -> None:
    assert [
        one.severity for one in found("schema-default", {"type": "string", "default": None})
    ] == ["warning"]


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        (
            {"type": "string", "enum": ["a", 1, None]},
            ["/properties/a/enum/1", "/properties/a/enum/2"],
        ),
        ({"type": ["string", "null"], "enum": ["a", None]}, []),
        ({"enum": [1, "a", None]}, []),
        ({"type": "string", "enum": "a"}, []),
        ({"type": "integer", "enum": [1, 2.0, 2.5]}, ["/properties/a/enum/2"]),
        ({"type": "string", "maxLength": 1, "enum": ["a", "bb"]}, ["/properties/a/enum/1"]),
    ],
)
def test_each_value_of_an_enum_is_judged(schema: Any, pointers: list[str]) -> None:
    assert [one.pointer for one in found("schema-enum", schema)] == pointers


@pytest.mark.parametrize(
    ("schema", "count"),
    [
        ({"minimum": 2, "maximum": 1}, 1),
        ({"minimum": 1, "maximum": 1}, 0),
        ({"exclusiveMinimum": 1, "maximum": 1}, 1),
        ({"minLength": 2, "maxLength": 1}, 1),
        ({"minimum": True, "maximum": False}, 0),
        ({"minimum": "2", "maximum": 1}, 0),
        ({"enum": []}, 1),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, 1),
        ({"type": "integer", "allOf": [{"type": "number"}]}, 0),
        ({"allOf": [{"type": ["string", "null"]}, {"type": "null"}]}, 0),
        ({"allOf": "x"}, 0),
        ({"properties": {"x": False}, "required": ["x"]}, 1),
        ({"allOf": [{"type": "dict"}, {"type": "string"}]}, 0),
    ],
)
def test_what_excludes_each_other_is_found(schema: Any, count: int) -> None:
    assert len(found("schema-contradiction", schema)) == count


def test_true_is_not_one_in_an_enum() -> None:
    assert found("schema-duplicate", {"enum": [1, True, "1", 1.5]}) == []
    assert [
        one.pointer for one in found("schema-duplicate", {"enum": [1, {"a": []}, {"a": []}]})
    ] == ["/properties/a/enum/2"]


def test_numbers_take_what_is_for_numbers() -> None:
    assert found("schema-no-effect", {"type": ["integer", "null"], "minimum": 1}) == []
    assert len(found("schema-no-effect", {"type": ["integer", "null"], "minLength": 1})) == 1
    assert (
        found("schema-no-effect", {"type": "dict", "minLength": 1})
        == found("schema-no-effect", {"minLength": 1})
        == []
    )


def test_a_part_that_no_value_reaches_is_found() -> None:
    assert [
        one.pointer
        for one in found(
            "schema-unreachable", {"else": {}, "oneOf": [{"type": "null"}, {"type": "null"}]}
        )
    ] == [
        "/properties/a/else",
        "/properties/a/oneOf/1",
    ]
    assert found("schema-unreachable", {"anyOf": [{}]}) == []


def test_an_example_is_judged_and_its_type_counts() -> None:
    assert [
        one.pointer
        for one in found(
            "schema-example", {"type": "integer", "examples": [1, "1"], "example": "x"}
        )
    ] == [
        "/properties/a/examples/1",
        "/properties/a/example",
    ]
