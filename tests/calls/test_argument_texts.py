"""Texts of arguments: equal values have the same ones."""

import json
from typing import Any

import pytest

from vespe.calls.argument_texts import patterns_of, plain_value, texts_of


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("1.0", 1),
        ("10e-1", 1),
        ("-0.0", 0),
        ("1.5", 1.5),
        ("1e22", 10**22),
        ("true", True),
        ('"1.0"', "1.0"),
        ('[1.0, {"b": 2e0, "a": null}]', [1, {"a": None, "b": 2}]),
    ],
)
def test_a_value_is_plain_as_its_equals_are(written: str, plain: Any) -> None:
    found = plain_value(json.loads(written))
    assert json.dumps(found) == json.dumps(plain)


def test_an_object_begins_and_ends_with_each_of_its_members() -> None:
    found = set(texts_of({"b": 1.0, "a": 2}, in_any_order=True))
    assert found == {'{"b":1.0,"a":2}', '{"a":2,"b":1}', '{"b":1,"a":2}'}
    assert list(texts_of("1.0", in_any_order=True)) == ["1.0"]


def test_a_pattern_that_is_json_is_that_of_its_equals_too() -> None:
    assert patterns_of("1e0") == ("1e0", "1") and patterns_of("1") == ("1",)
    assert patterns_of('{"b": 1, "a*": 2}')[1] == '{"a*":2,"b":1}'
    assert patterns_of("*.env") == ("*.env",) and patterns_of('"a"') == ('"a"',)
