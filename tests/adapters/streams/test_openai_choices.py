"""What one choice of an OpenAI stream says."""

from typing import Any

import pytest

from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.openai_choices import ChoiceGathering


def said(*deltas: Any) -> tuple[ChoiceGathering, list[tuple[str, str]]]:
    choice, events = ChoiceGathering(0), list[StreamEvent]()
    order = 0
    for delta in deltas:
        order = choice.take({"index": 0, "delta": delta}, events, order)
    choice.end(events)
    return choice, [(event.type, event.text) for event in events]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text", "thinking"])
def test_reasoning_of_compatible_servers_is_told_and_kept_under_one_name(field: str) -> None:
    choice, events = said({field: "Let "}, {field: "me", "content": ""}, {"content": "Hi"})
    assert events == [("reasoning", "Let "), ("reasoning", "me"), ("text", "Hi")]
    assert choice.message() == {"role": "assistant", "content": "Hi", "reasoning_content": "Let me"}
    assert choice.native()["message"][field] == "Let me"


def test_reasoning_that_is_said_twice_is_told_once() -> None:
    details = [{"type": "reasoning.text", "text": "a", "index": 0}]
    choice, events = said(
        {"reasoning_details": details, "reasoning": "a", "reasoning_content": "a"}
    )
    assert events == [("reasoning", "a")]
    assert (
        choice.message()["reasoning_content"] == "a"
        and choice.message()["reasoning_details"] == details
    )


def test_reasoning_in_details_alone_is_told() -> None:
    choice, events = said(
        {
            "reasoning_details": [
                {"type": "reasoning.summary", "summary": "s"},
                {"type": "reasoning.encrypted", "data": "d"},
            ]
        }
    )
    assert events == [("reasoning", "s")] and choice.message()["reasoning_content"] == "s"
    assert "\0reasoning" not in choice.native()["message"]


def test_content_as_a_list_is_text_and_thinking() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    choice, events = said(
        {"content": [thinking, {"type": "text", "text": "a"}]},
        {"content": ["b", {"type": "reference"}, 5]},
    )
    assert events == [("reasoning", "hm"), ("text", "a"), ("text", "b")]
    assert choice.message() == {"role": "assistant", "content": "ab", "reasoning_content": "hm"}


def test_a_refusal_is_told_as_text_and_kept_apart() -> None:
    choice, events = said({"content": None, "refusal": "I "}, {"refusal": "won't"})
    assert events == [("text", "I "), ("text", "won't")]
    assert choice.message() == {"role": "assistant", "content": None, "refusal": "I won't"}


def test_the_deprecated_call_is_a_call() -> None:
    choice, _ = said(
        {"function_call": {"name": "f", "arguments": ""}}, {"function_call": {"arguments": "{}"}}
    )
    assert [(call.name, call.text()) for call in choice.all_calls()] == [("f", "{}")]
    assert choice.native()["message"]["function_call"] == {"name": "f", "arguments": "{}"}
    assert choice.message()["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}


def test_calls_stand_in_order_of_their_index_and_nameless_ones_nowhere() -> None:
    pieces = [
        {"index": n, "id": str(n), "function": {"name": name}}
        for n, name in ((2, "c"), (0, "a"), (1, ""))
    ]
    choice, _ = said({"tool_calls": pieces})
    assert [call.name for call in choice.all_calls()] == ["a", "c"]
    assert [call["id"] for call in choice.native()["message"]["tool_calls"]] == ["2", "0", "1"]


def test_null_deltas_and_a_delta_before_a_message() -> None:
    choice, events = ChoiceGathering(0), list[StreamEvent]()
    for entry in (
        {"delta": None},
        {"delta": {"content": "a"}, "message": {"content": "a"}},
        {"delta": None, "message": {"content": "ab"}},
    ):
        choice.take(entry, events, 0)
    assert [event.text for event in events] == ["a"] and choice.message()["content"] == "a"


def test_a_message_counts_where_no_delta_comes() -> None:
    choice, events = ChoiceGathering(0), list[StreamEvent]()
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    choice.take(
        {
            "message": {"role": "assistant", "content": "Hi", "tool_calls": [call]},
            "finish_reason": "tool_calls",
        },
        events,
        0,
    )
    assert (
        choice.message() == {"role": "assistant", "content": "Hi", "tool_calls": [call]}
        and choice.finish == "tool_calls"
    )


def test_calls_that_only_the_message_at_the_end_has_count_once() -> None:
    choice = ChoiceGathering(0)
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    last: dict[str, Any] = {"message": {"content": "a", "tool_calls": [call]}}
    for entry in ({"delta": {"content": "a"}}, last, last):
        choice.take(entry, [], len(choice.all_calls()))
    assert choice.message() == {"role": "assistant", "content": "a", "tool_calls": [call]}


def test_log_probabilities_add_up_and_other_fields_are_what_came_last() -> None:
    choice = ChoiceGathering(0)
    for token, seed in (("a", 1), ("b", None), ("c", 3)):
        choice.take(
            {
                "delta": {},
                "logprobs": {"content": [{"token": token}], "refusal": None},
                "seed": seed,
            },
            [],
            0,
        )
    native = choice.native()
    assert (
        native["logprobs"]
        == {"content": [{"token": "a"}, {"token": "b"}, {"token": "c"}], "refusal": None}
        and native["seed"] == 3
    )


def test_a_half_of_a_character_at_the_end_is_told_there() -> None:
    assert said({"content": "a\ud83d"})[1] == [("text", "a"), ("text", "�")]
    assert said({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": '"\ud83d'}}]})[
        1
    ][-1] == ("tool_arguments", "�")


def test_an_empty_object_as_arguments_is_told_at_the_end() -> None:
    _, events = said(
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": {}}}]}
    )
    assert events == [("tool_start", ""), ("tool_arguments", "{}")]
