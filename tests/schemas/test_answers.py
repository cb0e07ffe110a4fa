"""Which forms a person can fill in, and what answers fit them."""

from typing import Any

import pytest

from vespe.schemas import reference
from vespe.schemas.answers import (
    choices_of,
    kind_of,
    problem_of,
    problem_of_schema,
    with_defaults,
)


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


FORMATS = {
    "email": (["a@b.org"], ["x", "Ann <a@b.org>", "a @b.org", "a@b@c", ""]),
    "uri": (["https://a.org/x", "mailto:a@b.org"], ["a.org", "/x", "https://a b"]),
    "date": (["2026-02-28"], ["2026-02-30", "28.2.2026", "today"]),
    "date-time": (["2026-02-28T10:00:00Z"], ["2026-02-28", "2026-02-28T10:00:00", "now"]),
    "colour of the sky": (["anything"], []),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_text_is_what_the_format_of_its_field_names(name: str) -> None:
    schema = form(a={"type": "string", "format": name})
    fits, others = FORMATS[name]
    for text in fits:
        assert problem_of(schema, {"a": text}) == ""
    for text in others:
        said = problem_of(schema, {"a": text})
        assert said.startswith("`a` must be a") and " such as " in said, text
    assert kind_of(schema["properties"]["a"]).startswith("a" if others else "string")


def test_the_engine_without_a_wheel_knows_the_plainest_of_them() -> None:
    assert reference.fits_format("2026-02-28", "date")
    assert not reference.fits_format("2026-02-30", "date")
    assert not reference.fits_format("x", "email")
