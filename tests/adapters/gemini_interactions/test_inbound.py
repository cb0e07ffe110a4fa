"""Steps of Gemini's Interactions on their way in, and what is kept of them beside the message."""

from typing import Any

import pytest

from tests.adapters.google_judges import complaint
from vespe.adapters.gemini_interactions import (
    as_steps,
    assistant_message,
    from_openai_messages,
    to_openai_messages,
)
from vespe.errors import InvalidDocument

THOUGHT = {
    "type": "thought",
    "signature": "c2ln",
    "summary": [{"type": "text", "text": "Let me look."}],
}
CALL = {"type": "function_call", "id": "c1", "name": "add", "arguments": {"a": 1}}
STEPS: list[dict[str, Any]] = [
    {
        "type": "user_input",
        "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image", "data": "AAAA", "mime_type": "image/png", "resolution": "low"},
            {"type": "image", "uri": "https://x.test/a.png"},
            {"type": "image", "uri": "https://x.test/b.png", "mime_type": "image/png"},
            {"type": "document", "data": "AAAA", "mime_type": "application/pdf"},
            {"type": "document", "uri": "https://x.test/a.pdf"},
            {"type": "audio", "data": "AAAA", "mime_type": "audio/wav"},
            {"type": "video", "uri": "https://x.test/a.mp4"},
        ],
    },
    THOUGHT,
    {"type": "model_output", "content": [{"type": "text", "text": "I look."}]},
    {
        "type": "google_search_call",
        "id": "g1",
        "arguments": {"queries": ["x"]},
        "signature": "c2ln",
    },
    CALL,
    CALL | {"id": "c2", "name": "see"},
    {
        "type": "function_result",
        "call_id": "c1",
        "name": "add",
        "result": "3",
        "is_error": False,
    },
    {
        "type": "function_result",
        "call_id": "c2",
        "name": "see",
        "result": [
            {"type": "text", "text": "found"},
            {"type": "image", "data": "AAAA", "mime_type": "image/png"},
        ],
    },
    {"type": "thought", "signature": "c2ln"},
    {
        "type": "model_output",
        "content": [{"type": "text", "text": "Three."}, {"type": "text", "text": "Really."}],
    },
]


def test_a_conversation_of_every_kind_of_step_comes_back_as_it_was() -> None:
    messages = to_openai_messages(STEPS, "Be brief.")
    assert from_openai_messages(messages) == {"system_instruction": "Be brief.", "input": STEPS}
    for step in STEPS:
        assert complaint("step", step) == "", step
    assert [message["role"] for message in messages] == [
        *("system", "user", "assistant", "tool", "tool", "assistant"),
    ]
    said = messages[2]
    assert said["content"] == "I look." and said["gemini_steps"][0] == THOUGHT
    assert [call["id"] for call in said["tool_calls"]] == ["c1", "c2"]
    assert messages[3]["is_error"] is False and "is_error" not in messages[4]


def test_a_plain_conversation_needs_nothing_beside_it() -> None:
    steps: list[dict[str, Any]] = [
        {"type": "user_input", "content": [{"type": "text", "text": "Add."}]},
        {"type": "model_output", "content": [{"type": "text", "text": "Yes."}]},
        CALL,
        {"type": "function_result", "call_id": "c1", "name": "add", "result": "3"},
    ]
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    assert to_openai_messages(steps) == [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": "Yes.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ]


def test_an_input_that_is_a_text_a_content_or_contents_is_one_step() -> None:
    text = {"type": "text", "text": "Hi"}
    step = {"type": "user_input", "content": [text]}
    assert as_steps("Hi") == as_steps(text) == as_steps([text]) == [step]
    assert as_steps([step]) == [step] and as_steps([]) == []


def test_arguments_that_are_none_and_results_that_are_objects_come_back() -> None:
    steps: list[dict[str, Any]] = [
        CALL | {"arguments": {"vespe_arguments": "{no"}},
        CALL | {"id": "c2", "arguments": {"vespe_arguments": {"custom": "x"}}},
        {"type": "function_result", "call_id": "c1", "name": "add", "result": {"sum": 3}},
        {"type": "function_result", "call_id": "c2", "name": "add", "result": {}},
    ]
    messages = to_openai_messages(steps)
    assert messages[0]["tool_calls"][0]["function"]["arguments"] == "{no"
    assert messages[0]["tool_calls"][1]["custom"] == {"name": "add", "input": "x"}
    assert messages[1]["content"] == '{"sum":3}'
    assert from_openai_messages(messages)["input"] == steps
    edited = messages[1] | {"content": "4"}
    again = from_openai_messages([messages[0], edited, messages[2]])["input"]
    assert again[2]["result"] == "4"


def test_a_text_that_was_edited_and_a_call_that_was_taken_away_go_back_so() -> None:
    messages = to_openai_messages(STEPS[:6])
    said = messages[1] | {"content": "I looked.", "tool_calls": []}
    again = from_openai_messages([messages[0], said])["input"]
    assert [step["type"] for step in again[1:]] == [
        *("thought", "model_output", "google_search_call"),
    ]
    assert again[2]["content"] == [{"type": "text", "text": "I looked."}]
    bare = from_openai_messages([messages[0], said | {"content": None}])["input"]
    assert [step["type"] for step in bare[1:]] == ["thought", "google_search_call"]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (7, "messages[0]: must be an object with a `role`, not int"),
        ({"type": "function_call", "id": "c"}, "messages[0]: a `function_call` has no name"),
        (
            {"type": "function_result", "result": "3"},
            "messages[0]: a `function_result` has no `call_id`, and no call before it is open",
        ),
        ({"type": "user_input", "content": 3}, "messages[0]: `content` must be a string or a list"),
        (
            {"type": "user_input", "content": [3]},
            "messages[0]: a part of `content` must be an object, not int",
        ),
        (
            {"type": "function_call", "name": "f", "arguments": {"a": float("nan")}},
            "messages[0]: a call's arguments cannot be represented in JSON",
        ),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(step: Any, sentence: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        to_openai_messages([step])
    assert str(caught.value).startswith(sentence)


def test_an_answer_is_what_stands_behind_what_others_said_last() -> None:
    broken = {"type": "function_call", "id": "c9"}
    made = assistant_message([*STEPS, broken])
    assert made == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Three."}, {"type": "text", "text": "Really."}],
        "gemini_steps": [
            {"type": "thought", "signature": "c2ln"},
            {"type": "model_output", "content": [{"type": "text"}, {"type": "text"}]},
            broken,
        ],
    }
