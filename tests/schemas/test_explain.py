from dataclasses import dataclass
from typing import Any

import pytest

from vespe.schemas import explain, validator


def told(schema: dict[str, Any], value: Any) -> list[tuple[str, str]]:
    """What is said of the argument `a` with that schema and value, as (pointer, message)."""
    found = validator.compile_schema(
        {"type": "object", "properties": {"a": schema}}, closed=True
    ).violations({"a": value})
    return [(one.pointer, one.message) for one in found]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, "x", '`a` must be an integer, not the string "x"'),
        ({"type": ["null", "integer"]}, True, "`a` must be an integer or null, not true"),
        ({"type": ["integer", "array"]}, None, "`a` must be an array or an integer, not null"),
        (
            {"type": "string"},
            {"k": 1, "l": 2},
            "`a` must be a string, not an object with the keys k, l",
        ),
        ({"type": "string"}, {"k": 1}, "`a` must be a string, not an object with the key k"),
        ({"type": "string"}, {}, "`a` must be a string, not an empty object"),
        ({"type": "string"}, [1], "`a` must be a string, not an array of 1 item"),
        ({"type": "string"}, [], "`a` must be a string, not an empty array"),
        ({"type": "string"}, 2.5, "`a` must be a string, not the number 2.5"),
        (
            {"enum": ["read", "write"]},
            "wirte",
            '`a` must be one of "read", "write", not the string "wirte"; did you mean "write"?',
        ),
        ({"enum": [1, None]}, 2, "`a` must be one of 1, null, not the number 2"),
        ({"const": 3}, 4, "`a` must be 3, not the number 4"),
        ({"minimum": 1}, 0, "`a` must be at least 1, not 0"),
        ({"maximum": 1}, 2, "`a` must be at most 1, not 2"),
        ({"exclusiveMinimum": 1}, 1, "`a` must be greater than 1, not 1"),
        ({"exclusiveMaximum": 1}, 1, "`a` must be less than 1, not 1"),
        ({"multipleOf": 3}, 4, "`a` must be a multiple of 3, not 4"),
        ({"minLength": 2}, "é", "`a` must have at least 2 characters, not 1"),
        ({"maxLength": 1}, "ab", "`a` must have at most 1 character, not 2"),
        ({"pattern": "^b"}, "a", '`a` must match the pattern ^b, not be "a"'),
        ({"minItems": 1}, [], "`a` must have at least 1 item, not 0"),
        ({"maxItems": 1}, [1, 2], "`a` must have at most 1 item, not 2"),
        ({"uniqueItems": True}, [1, 1], "`a` must not have the same item twice"),
        (
            {"contains": {"const": 1}},
            [2],
            "`a` does not have the items that its `contains` asks for",
        ),
        (
            {"prefixItems": [{}], "unevaluatedItems": False},
            [1, 2],
            "`a` has items that are not allowed: 2",
        ),
        ({"minProperties": 1}, {}, "`a` must have at least 1 key, not 0"),
        ({"maxProperties": 0}, {"b": 1}, "`a` must have at most 0 keys, not 1"),
        (
            {"propertyNames": {"pattern": "^b"}},
            {"c": 1},
            '`a` has the key "c", which must match the pattern ^b, not be "c"',
        ),
        ({"not": {"type": "null"}}, None, '`a` must not match {"type": "null"}'),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            5,
            "`a` must be a string or null, not the number 5",
        ),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
            5,
            "`a` matches more than one of 2 alternatives, of which exactly one must match",
        ),
    ],
)
def test_each_keyword_says_what_was_expected_and_what_came(
    schema: dict[str, Any], value: Any, message: str
) -> None:
    assert told(schema, value) == [("/a", message)]


@pytest.mark.parametrize(
    ("schema", "value", "pointer", "message"),
    [
        ({"required": ["b"]}, {}, "/a/b", "`a.b` is missing; it is required"),
        (
            {"dependentRequired": {"b": ["c"]}},
            {"b": 1},
            "/a/c",
            "`a.c` is missing; it is required beside what is given (the key b)",
        ),
        ({"properties": {"b": False}}, {"b": 1}, "/a/b", "`a.b` is not allowed here"),
        ({"items": {"type": "null"}}, [None, 1], "/a/1", "`a[1]` must be null, not the number 1"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "/a/1", "`a[1]` is not allowed here"),
        (
            {"if": {"type": "integer"}, "then": {"minimum": 3}},
            2,
            "/a",
            "`a` must be at least 3, not 2",
        ),
        (
            {"additionalProperties": False},
            {"b": 1},
            "/a/b",
            "`a.b` is not allowed; nothing is allowed here",
        ),
        (
            {"properties": {"kind": {}}, "additionalProperties": False},
            {"knid": 1},
            "/a/knid",
            "`a.knid` is not allowed; did you mean `kind`?",
        ),
        (
            {"properties": {"kind": {}}, "additionalProperties": False},
            {"z/~": 1},
            "/a/z~1~0",
            "`a.z/~` is not allowed; allowed: kind",
        ),
    ],
)
def test_a_nested_place_is_named_with_its_pointer(
    schema: dict[str, Any], value: Any, pointer: str, message: str
) -> None:
    assert told(schema, value) == [(pointer, message)]


SHAPES = {
    "oneOf": [
        {
            "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}},
            "required": ["kind", "r"],
        },
        {
            "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
            "required": ["kind", "side"],
        },
    ]
}


def test_among_alternatives_the_one_that_was_meant_is_explained() -> None:
    assert told(SHAPES, {"kind": "square"}) == [("/a/side", "`a.side` is missing; it is required")]
    object_or_text = {
        "anyOf": [
            {"type": "string"},
            {"type": "object", "required": ["q"], "properties": {"n": {"type": "null"}}},
        ]
    }
    assert [pointer for pointer, _ in told(object_or_text, {"n": 1})] == ["/a/q", "/a/n"]


def test_alternatives_that_fit_equally_are_listed_and_counted() -> None:
    ((_, message),) = told(
        {"anyOf": [{"type": "string"}, *({"multipleOf": n} for n in (5, 7, 11, 13))]}, 3
    )
    assert message.startswith(
        "`a` matches none of 5 alternatives: (1) `a` must be a string, not the number 3; "
        "(2) `a` must be a multiple of 5"
    )
    assert message.endswith("; and 1 more")


def test_unknown_arguments_are_told_once_and_known_ones_are_not_called_unknown() -> None:
    schema = {
        "allOf": [{"properties": {"b": {"type": "integer"}}}],
        "properties": {"c": {}},
        "unevaluatedProperties": False,
    }
    assert told(schema, {"b": "x", "c": 1, "d": 2}) == [
        ("/a/b", '`a.b` must be an integer, not the string "x"'),
        ("/a/d", "`a.d` is not allowed; allowed: c, b"),
    ]


@pytest.mark.parametrize(
    "schema", [{"additionalProperties": False}, {"properties": {}, "additionalProperties": False}]
)
def test_where_nothing_is_allowed_every_unknown_name_is_told(schema: dict[str, Any]) -> None:
    assert [pointer for pointer, _ in told(schema, {"b": 1, "c": 2})] == ["/a/b", "/a/c"]
    whole = validator.compile_schema({"type": "object"}, closed=True).violations({"b": 1, "c": 2})
    assert [one.pointer for one in whole] == ["/b", "/c"]


def test_long_values_names_and_lists_are_cut() -> None:
    ((_, message),) = told({"enum": [f"{'x' * 100}{i}" for i in range(50)]}, "y" * 10_000)
    assert "and 46 more" in message
    assert len(message) <= 400
    ((_, named),) = told({"additionalProperties": False}, {"k" * 10_000: 1})
    assert len(named) <= 400


@pytest.mark.parametrize(
    "value", [10**400, -(10**5000), 1e300, "x" * 100_000, [[[[]]]], {"\x00": 1}], ids=range(6)
)
def test_describing_never_fails_and_stays_short(value: Any) -> None:
    assert 0 < len(explain.describe(value)) < 120


def test_names_in_place_are_gathered_through_references_each_once() -> None:
    root = {
        "properties": {"a": {}},
        "allOf": [{"$ref": "#/$defs/x"}],
        "$defs": {"x": {"properties": {"b": {}, "a": {}}, "$ref": "#"}},
    }
    assert explain.named_properties(root, root) == ["a", "b"]


class Kind:
    name = "contentEncoding"

    def as_dict(self) -> dict[str, Any]:
        return {}


@dataclass
class Error:
    message: str
    schema_path: list[str | int]
    instance_path: list[str | int]
    kind: Any
    instance: Any


def test_an_unknown_keyword_of_the_validator_keeps_its_own_words() -> None:
    error = Error("is not base64", ["contentEncoding"], ["a"], Kind(), "x")
    assert explain.Explainer({}, {}).violations([error]) == [
        explain.Violation("contentEncoding", "/a", "`a` breaks `contentEncoding`: is not base64")
    ]
