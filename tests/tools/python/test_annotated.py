"""Metadata beside a type as keywords of JSON Schema."""

import ast

import pytest

from vespe.models import JsonObject
from vespe.tools.python.annotated import keywords
from vespe.tools.python.names import parse_source, read_names

NAMES = read_names(parse_source("import annotated_types as at\nLIMIT = 9\nSAID = 'A constant.'"))
UNDERSTOOD: dict[str, JsonObject] = {
    "'How many.'": {"description": "How many."},
    "SAID": {"description": "A constant."},
    "Ge(1)": {"minimum": 1},
    "at.Gt(gt=1.5)": {"exclusiveMinimum": 1.5},
    "at.Interval(0, None, LIMIT)": {"exclusiveMinimum": 0, "exclusiveMaximum": 9},
    "MultipleOf(2)": {"multipleOf": 2},
    "Doc('Said.')": {"description": "Said."},
    "Field(description='d', title='t', pattern='^a', examples=['a'])": {
        "description": "d",
        "title": "t",
        "pattern": "^a",
        "examples": ["a"],
    },
    "Query(le=3, regex='b')": {"maximum": 3, "pattern": "b"},
}
IGNORED = [
    "Ge('x')",
    "Ge(True)",
    "MultipleOf(0)",
    "MinLen(-1)",
    "MinLen(1.5)",
    "Field(pattern=1)",
    "Field(ge=f())",
    "Field(examples=1)",
]
IGNORED += ["Predicate(str.isdigit)", "object()", "3", "Field(alias='x', **more)", "Annotated"]


@pytest.mark.parametrize(("text", "wanted"), UNDERSTOOD.items())
def test_metadata_that_is_understood_becomes_keywords(text: str, wanted: JsonObject) -> None:
    assert keywords(ast.parse(text, mode="eval").body, NAMES, ("integer",)) == wanted


@pytest.mark.parametrize("text", IGNORED)
def test_metadata_of_others_says_nothing(text: str) -> None:
    assert keywords(ast.parse(text, mode="eval").body, NAMES, ()) == {}


def test_a_length_is_said_of_the_types_that_have_one() -> None:
    node = ast.parse("Len(1, 3)", mode="eval").body
    assert keywords(node, NAMES, ("string", "null")) == {"minLength": 1, "maxLength": 3}
    assert keywords(node, NAMES, ("array",)) == {"minItems": 1, "maxItems": 3}
    assert keywords(node, NAMES, ("integer",)) == {}
    assert keywords(node, NAMES, ()).keys() == {
        "minLength",
        "minItems",
        "minProperties",
        "maxLength",
        "maxItems",
        "maxProperties",
    }
