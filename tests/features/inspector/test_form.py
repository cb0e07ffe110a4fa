"""Inputs as fields, and fields as arguments."""

import pytest

from vespe.features.inspector import form
from vespe.models import JsonObject, Tool

FACTS: JsonObject = {
    "text": {"type": "string"},
    "date": {"type": "string", "format": "date", "description": "When."},
    "number": {"type": "integer", "default": 3},
    "flag": {"type": "boolean"},
    "kind": {"enum": ["a", "b", None]},
    "list": {"type": "array", "items": {"type": "integer"}},
    "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
}
TOOL = Tool(
    uid="tool-t",
    name="t",
    description="",
    input_schema={"type": "object", "properties": FACTS, "required": ["date"]},
)


def test_each_input_has_the_control_that_fits_it_and_the_required_ones_come_first() -> None:
    fields = form.fields_of(
        TOOL, {"text": "kept"}, [{"pointer": "/number", "message": "too small"}]
    )
    assert fields[0].name == "date"
    assert {field.name: field.control for field in fields} == {
        "date": "line",
        "text": "text",
        "number": "number",
        "flag": "choice",
        "kind": "choice",
        "list": "text",
        "maybe": "text",
    }
    known = {field.name: field for field in fields}
    assert (known["text"].value, known["number"].problem, known["number"].default) == (
        "kept",
        "too small",
        "3",
    )
    assert known["kind"].choices == ("a", "b")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("text", "a\nb", "a\nb"),
        ("text", "5", "5"),
        ("number", "5", 5),
        ("number", "five", "five"),
        ("flag", "true", True),
        ("kind", "b", "b"),
        ("list", "[1, 2]", [1, 2]),
        ("list", "7", [7]),
        ("maybe", "null", None),
        ("unknown", "1", "1"),
    ],
)
def test_a_field_is_read_as_the_schema_says(name: str, text: str, value: object) -> None:
    assert form.arguments_of(TOOL, {name: text}) == {name: value}


def test_an_empty_field_is_not_given() -> None:
    assert form.arguments_of(TOOL, {"text": "", "number": ""}) == {}


def test_what_browsers_do_to_the_ends_of_lines_is_undone() -> None:
    assert form.typed_in((("in:text", "a\r\nb"), ("token", "x"))) == {"text": "a\nb"}


def test_arguments_become_what_would_be_typed() -> None:
    assert form.texts_of({"text": "a", "list": [1], "flag": True}) == {
        "text": "a",
        "list": "[1]",
        "flag": "true",
    }
    assert form.texts_of("nonsense") == {}
