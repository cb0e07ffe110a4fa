"""What an example expects, compared as JSON compares; a mismatch names its place."""

from typing import Any

import pytest

from vespe.features.examples.expectations import difference, first_difference
from vespe.models import Failure, Outcome

DONE = Outcome(tool="t", uid="tool-t", result={"n": [1, {"s": "abc"}]})
FAILED = Outcome(tool="t", uid="tool-t", error=Failure(code="tool_error", message="no"))


@pytest.mark.parametrize(
    ("left", "right", "steps"),
    [
        (1, 1.0, None),
        (True, 1, ()),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, None),
        ({"a": 1}, {"a": 1, "b": 2}, ("b",)),
        ({"a": 1, "b": 2}, {"a": 1}, ("b",)),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ("a", 0, "b")),
        ([1], [1, 2], (1,)),
        ("1", 1, ()),
        ([True], [1], (0,)),
    ],
)
def test_the_first_difference_is_found_as_json_compares(left: Any, right: Any, steps: Any) -> None:
    assert first_difference(left, right) == steps


@pytest.mark.parametrize(
    ("example", "place", "words"),
    [
        (
            {"output": {"n": [1, {"s": "abd"}]}},
            "/output/n/1/s",
            'gave "abc" at /n/1/s, expected "abd"',
        ),
        (
            {"output": {"n": [1, {"s": "abc"}], "x": 1}},
            "/output/x",
            "gave nothing at /x, expected 1",
        ),
        (
            {"output_schema": {"properties": {"n": {"maxItems": 1}}}},
            "/output_schema",
            "must have at most 1 item",
        ),
        ({"output_schema": {"type": "strnig"}}, "/output_schema", "`output_schema`/type"),
        ({"output_pattern": "^abc"}, "/output_pattern", "is not found"),
        ({"output_pattern": "(?=a)"}, "/output_pattern", "not a pattern for a linear-time engine"),
        ({"error": "tool_error"}, "/error", "expected the error tool_error"),
    ],
)
def test_a_mismatch_names_its_place_and_both_sides(example: Any, place: str, words: str) -> None:
    found = difference(example, DONE)
    assert found[0] == place and found[1] is not None and words in found[1]


@pytest.mark.parametrize(
    "example",
    [
        {},
        {"output_schema": {"required": ["n"]}},
        {"output_pattern": '"s":"a.c"'},
        {"output": DONE.result, "output_pattern": "abc"},
    ],
)
def test_what_is_as_expected_is_no_difference(example: Any) -> None:
    assert difference(example, DONE) == ("", None)


def test_a_pattern_is_searched_in_a_text_as_it_is() -> None:
    said = Outcome(tool="t", uid="tool-t", result='a "quoted" word')
    assert difference({"output_pattern": '"quoted"'}, said) == ("", None)


def test_a_call_that_fails_is_compared_by_its_code() -> None:
    assert difference({"error": "tool_error"}, FAILED) == ("", None)
    assert difference({}, FAILED) == ("", "failed with tool_error: no")
    assert difference({"error": "timed_out"}, FAILED)[0] == "/error"


def test_long_values_are_shown_shortly() -> None:
    assert "(1002 characters)" in str(
        difference({"output": 1}, Outcome(tool="t", uid="tool-t", result="x" * 1000))[1]
    )
