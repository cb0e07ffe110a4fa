"""Errors of servers as objects, and finish reasons in OpenAI's words."""

import json
from typing import Any

import pytest

from vespe import GptStreamingProcessor
from vespe.adapters.streams.outcomes import error_object, not_a_stream, openai_words

ERRORS = [
    (
        {"error": {"message": "no", "type": "t", "code": 400}},
        {"message": "no", "type": "t", "code": 400},
    ),
    (
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"type": "overloaded_error", "message": "Overloaded"},
    ),
    ({"error": "model 'x' not found"}, {"message": "model 'x' not found"}),
    (
        {"object": "error", "message": "no", "code": 404},
        {"object": "error", "message": "no", "code": 404},
    ),
    (
        {"error": {"error": {"message": "inner"}}},
        {"error": {"message": "inner"}, "message": "inner"},
    ),
    ({"error": 5}, {"message": "5"}),
    ("no", {"message": "no"}),
    (None, {"message": "None"}),
]


@pytest.mark.parametrize(("given", "wanted"), ERRORS)
def test_an_error_has_a_sentence(given: Any, wanted: dict[str, Any]) -> None:
    assert error_object(given) == wanted


def test_a_page_of_details_and_an_endless_sentence_become_short() -> None:
    assert (
        error_object({"detail": [{"msg": "field required"}]})["message"]
        == "[{'msg': 'field required'}]"
    )
    assert len(error_object({"error": "x" * 10_000})["message"]) == 2001


def test_an_error_that_is_nested_too_deeply_is_not_kept() -> None:
    assert (
        error_object({"error": json.loads("[" * 90 + "]" * 90)})["message"]
        == "the server sent an error that is nested too deeply"
    )


def test_a_body_that_is_no_stream_is_shown() -> None:
    assert (
        not_a_stream(b"<html>502</html>")["message"]
        == "the body is not a stream of a model's answer: '<html>502</html>'"
    )


def test_finish_reasons_of_compatible_servers_are_told_in_openais_words() -> None:
    given = ("STOP", "eos", "max_tokens", "tool_use", "Odd", None)
    assert [openai_words(reason) for reason in given] == [
        "stop",
        "stop",
        "length",
        "tool_calls",
        "Odd",
        None,
    ]


def test_an_answer_is_filled_in_with_nothing_where_nothing_came() -> None:
    answer = {"content": "old", "other": 1}
    GptStreamingProcessor().update_response(answer)
    assert answer == {
        "content": None,
        "tool_calls": [],
        "finish_reason": None,
        "usage": None,
        "error": None,
        "other": 1,
    }
