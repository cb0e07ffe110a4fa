"""Each keyword of a schema, from every version and from those who misread it."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.descriptions import body_of
from vespe.schemas.validator import check_schema

ROWS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ({"type": "string", "x-nullable": True}, {"type": ["string", "null"]}),
    (
        {"type": "string", "enum": ["a"], "nullable": True},
        {"type": ["string", "null"], "enum": ["a", None]},
    ),
    ({"nullable": True, "allOf": [{"type": "object"}]}, {"type": ["object", "null"]}),
    (
        {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
        {"type": "integer", "exclusiveMinimum": 1},
    ),
    (
        {"type": "integer", "minimum": 1, "exclusiveMinimum": False},
        {"type": "integer", "minimum": 1},
    ),
    ({"type": "integer", "exclusiveMinimum": 1}, {"type": "integer", "exclusiveMinimum": 1}),
    ({"type": "int"}, {"type": "integer"}),
    ({"type": "Float"}, {"type": "number"}),
    ({"type": "any"}, {}),
    ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
    ({"type": "nonsense"}, {}),
    ({"type": "integer", "enum": ["1", "2"]}, {"enum": ["1", "2"]}),
    ({"type": "string", "enum": [1, 2]}, {"enum": [1, 2]}),
    ({"type": "string", "maxLength": 1, "enum": ["aa"]}, {"type": "string", "enum": ["aa"]}),
    ({"type": "string", "enum": ["a", "a"]}, {"type": "string", "enum": ["a"]}),
    ({"type": "string", "enum": []}, {"type": "string"}),
    ({"type": "string", "minLength": 5, "maxLength": 2}, {"type": "string"}),
    ({"type": "string", "minLength": -1}, {"type": "string"}),
    ({"type": "string", "maxLength": 10.0}, {"type": "string", "maxLength": 10}),
    ({"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^a+$"}),
    (
        {"type": "string", "pattern": "^(?=a)b"},
        {"type": "string", "description": "Must match ^(?=a)b"},
    ),
    ({"type": "string", "default": "x"}, {"type": "string", "description": 'Default: "x".'}),
    ({"type": "string", "example": "abc"}, {"type": "string", "examples": ["abc"]}),
    (
        {"type": "string", "title": "T", "xml": {"name": "x"}, "externalDocs": {}},
        {"type": "string", "description": "T"},
    ),
    (
        {"type": "object", "properties": {"a": {"type": "string", "required": True}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    ),
    ({"type": "object", "required": True}, {"type": "object"}),
    (
        {"type": "object", "required": ["a"], "properties": {}, "additionalProperties": False},
        {"type": "object", "properties": {}, "additionalProperties": False},
    ),
    (
        {"type": "array", "items": [{"type": "string"}]},
        {"type": "array", "prefixItems": [{"type": "string"}]},
    ),
    ({"const": "x"}, {"const": "x"}),
    (
        {"type": "object", "properties": {"$ref": {"type": "string"}}},
        {"type": "object", "properties": {"$ref": {"type": "string"}}},
    ),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, {"allOf": [{}, {}]}),
    (
        {"if": {"type": "string"}, "then": {"minLength": 1}},
        {"if": {"type": "string"}, "then": {"minLength": 1}},
    ),
    ({"then": {"minLength": 1}}, {}),
    ({"deprecated": True, "type": "string"}, {"type": "string", "description": "Deprecated."}),
    ({"type": "number", "multipleOf": 0}, {"type": "number"}),
    ({"description": "a\u202eb ${env:HOME}"}, {"description": "a b $ {env:HOME}"}),
    (["no", "schema"], {}),  # type: ignore[list-item]  # no schema at all
]


@pytest.mark.parametrize(("said", "made"), ROWS)
def test_a_keyword_is_mended_or_left_out(
    said: dict[str, Any], made: dict[str, Any], tmp_path: Path
) -> None:
    assert body_of(said, tmp_path) == made
    assert check_schema(made, root_object=False) == []
