"""Arguments as text and as object: the same values, and nothing lost that is neither."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters import conversations
from vespe.adapters import arguments
from vespe.errors import InvalidDocument

KEPT = [
    '{"a": ',
    "[1]",
    '"x"',
    "3",
    "null",
    "not json",
    '{"a": 1, "a": 2}',
    '{"a": NaN}',
    '{"a": 1e999}',
    '{"vespe_arguments": "x"}',
    " ",
]


@pytest.mark.parametrize("text", [*KEPT, "[" * 5000, '{"a":' * 100 + "1" + "}" * 100])
def test_what_is_no_object_travels_under_the_one_key_and_comes_back_verbatim(text: str) -> None:
    made = arguments.to_input(text)
    assert made == {"vespe_arguments": text}
    assert arguments.to_arguments(made) == text == arguments.kept_text(made)


@pytest.mark.parametrize("nothing", ["", None])
def test_empty_and_null_are_an_empty_object_and_they_alone(nothing: str | None) -> None:
    assert arguments.to_input(nothing) == {}
    assert arguments.to_arguments(None) == "{}"


def test_every_object_is_the_same_value_on_both_sides() -> None:
    for value in conversations.objects(500):
        assert arguments.to_input(arguments.to_arguments(value)) == value
        assert value.keys() == {arguments.KEY} or json.loads(arguments.to_arguments(value)) == value


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text())
def test_every_text_is_idempotent_after_one_pass(text: str) -> None:
    once = arguments.to_arguments(arguments.to_input(text))
    assert arguments.to_arguments(arguments.to_input(once)) == once


@pytest.mark.parametrize(
    ("given_", "made"),
    [({"a": 1}, {"a": 1}), ([1], {"vespe_arguments": "[1]"}), (3, {"vespe_arguments": "3"})],
)
def test_arguments_that_are_no_text_are_taken_as_their_json(given_: object, made: object) -> None:
    assert arguments.to_input(given_) == made


def test_an_object_whose_one_key_is_ours_is_kept_as_text() -> None:
    made = arguments.to_input({"vespe_arguments": "x"})
    assert made == {"vespe_arguments": '{"vespe_arguments":"x"}'}
    assert json.loads(arguments.to_arguments(made)) == {"vespe_arguments": "x"}


@pytest.mark.parametrize(
    "held", ["{}", "", ' {"a": 1}', {"custom": 1}, {"custom": "a", "b": 1}, {}, 3, None]
)
def test_an_input_of_anothers_under_our_key_is_an_input_like_any_other(held: object) -> None:
    value: dict[str, Any] = {"vespe_arguments": held}
    assert arguments.kept_text(value) is None is arguments.custom_text(value)
    assert (
        json.loads(arguments.to_arguments(value)) == value == arguments.to_input(json.dumps(value))
    )


def test_only_a_custom_calls_input_is_one() -> None:
    assert arguments.custom_text({"vespe_arguments": {"custom": "ls"}}) == "ls"
    assert arguments.custom_text({"vespe_arguments": "ls"}) is None
    assert arguments.kept_text({"vespe_arguments": "ls", "b": 1}) is None


def test_what_json_cannot_say_is_refused_with_a_sentence() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for value in ({"a": {1}}, {"a": float("nan")}, deep):
        with pytest.raises(InvalidDocument, match="cannot be represented in JSON"):
            arguments.to_text(value)
