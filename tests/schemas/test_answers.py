"""Which forms a person can fill in, and what answers fit them."""

from typing import Any

import pytest

from vespe.schemas.answers import choices_of, problem_of, problem_of_schema, with_defaults


def form(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


TITLED = [{"const": "a", "title": "The first"}, {"const": "b", "title": "The second"}]
FLAT: dict[str, dict[str, Any]] = {
    "string": {"type": "string", "minLength": 1, "format": "email", "default": "a@example.org"},
    "number": {"type": "number", "minimum": 0},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "enum": {"type": "string", "enum": ["a", "b"]},
    "named": {"type": "string", "enum": ["a", "b"], "enumNames": ["The first", "The second"]},
    "titled": {"type": "string", "oneOf": TITLED},
    "list": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 1},
    "titled list": {"type": "array", "items": {"anyOf": TITLED}},
}


@pytest.mark.parametrize("name", FLAT)
def test_flat_fields_make_a_form(name: str) -> None:
    assert problem_of_schema(form(**{name: FLAT[name]})) == ""


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (None, '"type": "object"'),
        ({"type": "string"}, '"type": "object"'),
        ({"type": "object"}, "its properties"),
        (form(**{str(n): {"type": "string"} for n in range(33)}), "at most 32"),
        (form(a={"type": "object"}), "/properties/a must have one of the types"),
        (form(a="string"), "/properties/a must have one of the types"),
        (form(a={"type": ["string", "null"]}), "must have one of the types"),
        (form(a={"type": "string", "$ref": "#"}), "must be flat"),
        (form(a={"type": "array", "items": {"type": "string"}}), "must be a list of choices"),
        (form(a={"type": "array", "items": {"properties": {}}}), "must be a list of choices"),
        (form(a={"type": "string", "enum": [1]}), "choices that are strings"),
        (form(a={"type": "string", "enum": []}), "choices that are strings"),
        (form(a={"type": "string", "oneOf": [{"const": 1}]}), "a const, a string"),
        ({**form(), "allOf": []}, "must be flat"),
        (form(a={"type": "string", "minLength": -1}), "minLength"),
        (form(a={"type": "string", "default": "x" * 65536}), "longer than 65536"),
        (form(a={"type": "string", "default": float("nan")}), "no JSON"),
    ],
)
def test_what_no_form_takes_is_said(schema: Any, why: str) -> None:
    assert why in problem_of_schema(schema)


def test_answers_are_judged_and_completed() -> None:
    schema = form(**FLAT) | {"required": ["integer"]}
    assert "missing" in problem_of(schema, {}) or "required" in problem_of(schema, {})
    assert problem_of(schema, {"integer": 1}) == ""
    assert "other" in problem_of(schema, {"integer": 1, "other": 2})
    assert "no JSON" in problem_of(schema, {"integer": float("inf")})
    assert "longer" in problem_of(schema, {"integer": 1, "string": "x" * 65536})
    assert with_defaults(schema, {"integer": 1}) == {"integer": 1, "string": "a@example.org"}


def test_choices_have_titles() -> None:
    pairs = [("a", "The first"), ("b", "The second")]
    assert choices_of(FLAT["titled"]) == choices_of(FLAT["titled list"]) == pairs
    assert choices_of(FLAT["named"]) == pairs
    assert choices_of(FLAT["list"]) == choices_of(FLAT["enum"]) == [("a", "a"), ("b", "b")]
    assert choices_of(FLAT["string"]) == []
