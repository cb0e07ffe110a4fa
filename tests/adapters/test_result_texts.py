"""A tool's result as text."""

from vespe.adapters import result_texts
from vespe.errors import ParsingError


def test_results_are_text_as_they_are_or_json() -> None:
    assert [result_texts.text_of(value) for value in ("a\ud800", {"a": [1]}, None, True)] == [
        "a\ufffd",
        '{"a":[1]}',
        "null",
        "true",
    ]


def test_a_text_for_an_api_without_a_field_says_that_the_call_failed() -> None:
    assert result_texts.marked_text({"a": 1}) == '{"a":1}'
    assert result_texts.marked_text(ParsingError("no JSON")) == (
        "[tool error]\nno JSON; mend the call and make it again"
    )
