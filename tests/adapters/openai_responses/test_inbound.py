"""Items of OpenAI's Responses on their way in, and what is kept of them beside the message."""

from typing import Any

import pytest

from tests.adapters.judges import accepts, complaint
from vespe.adapters.openai_responses import (
    assistant_message,
    from_openai_messages,
    to_openai_messages,
)
from vespe.errors import InvalidDocument

PROGRAM = {"type": "program", "id": "p1", "call_id": "pc1", "code": "x", "fingerprint": "f1"}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "status": "completed",
    "call_id": "c1",
    "name": "add",
    "arguments": '{"a": 1}',
    "caller": {"type": "program", "caller_id": "pc1"},
}
RESULT = {
    "type": "function_call_output",
    "call_id": "c1",
    "output": "3",
    "caller": {"type": "program", "caller_id": "pc1"},
}
ITEMS: list[dict[str, Any]] = [
    {"type": "message", "role": "developer", "content": "Be brief."},
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "What is this?"},
            {"type": "input_image", "image_url": "https://x.test/a.png", "detail": "low"},
            {"type": "input_image", "file_id": "file-1", "detail": "auto"},
            {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA"},
            {"type": "input_file", "file_url": "https://x.test/a.pdf"},
        ],
    },
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": "gAAA",
    },
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
    },
    PROGRAM,
    CALL,
    {"type": "custom_tool_call", "id": "ct_1", "call_id": "c2", "name": "grep", "input": "x y"},
    RESULT,
    {
        "type": "custom_tool_call_output",
        "call_id": "c2",
        "output": [
            {"type": "input_text", "text": "found"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        ],
    },
    {
        "type": "program_output",
        "id": "po",
        "call_id": "pc1",
        "result": "3",
        "status": "completed",
    },
    {
        "type": "message",
        "id": "msg_2",
        "role": "assistant",
        "status": "completed",
        "phase": "final_answer",
        "content": [
            {"type": "output_text", "text": "Three.", "annotations": []},
            {"type": "refusal", "refusal": "No more."},
        ],
    },
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "gBBB"},
]


def test_a_conversation_of_every_kind_of_item_comes_back_as_it_was() -> None:
    messages = to_openai_messages(ITEMS)
    assert from_openai_messages(messages)["input"] == ITEMS
    for item in ITEMS:
        assert accepts("openai-responses item", item), complaint("openai-responses item", item)
    roles = [message["role"] for message in messages]
    assert roles == ["developer", "user", "assistant", "tool", "tool", "assistant"]
    said = messages[2]
    assert said["content"] == "I look."
    assert [call["id"] for call in said["tool_calls"]] == ["c1", "c2"]
    assert said["tool_calls"][1] == {
        "id": "c2",
        "type": "custom",
        "custom": {"name": "grep", "input": "x y"},
    }
    assert messages[5]["content"] == [
        {"type": "text", "text": "Three."},
        {"type": "refusal", "refusal": "No more."},
    ]


def test_a_plain_conversation_needs_nothing_beside_it() -> None:
    items = [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": "Yes."},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "3"},
    ]
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    assert to_openai_messages(items, "Be brief.") == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": "Yes.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ]
    assert to_openai_messages("Hi") == [{"role": "user", "content": "Hi"}]
    spoken = {"role": "developer", "content": "French."}
    assert to_openai_messages(items[:1], [spoken])[0] == spoken


def test_a_text_that_was_edited_and_a_call_that_was_taken_away_go_back_so() -> None:
    messages = to_openai_messages(ITEMS[:6] + ITEMS[7:8])
    said = messages[2] | {"content": "I looked.", "tool_calls": []}
    again = from_openai_messages([*messages[:2], said])["input"]
    assert [item.get("type") for item in again[2:]] == ["reasoning", "message", "program"]
    assert again[3] == ITEMS[3] | {
        "content": [{"type": "output_text", "text": "I looked.", "annotations": []}]
    }
    more = messages[2] | {"content": [{"type": "text", "text": t} for t in ("One.", "Two.")]}
    again = from_openai_messages([*messages[:2], more, messages[3]])["input"]
    assert again[-2] == {"type": "message", "role": "assistant", "content": "Two."}
    bare = from_openai_messages([{**said, "content": None}])["input"]
    assert [item["type"] for item in bare] == ["reasoning", "program"]


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        (7, "messages[0]: must be an object with a `role`, not int"),
        ({"type": "function_call", "call_id": "c"}, "messages[0]: a `function_call` has no name"),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": 3},
            "messages[0]: its `input` must be a string, not int",
        ),
        (
            {"type": "function_call_output", "output": "3"},
            "messages[0]: a `function_call_output` has no `call_id`, and no call before it is open",
        ),
        ({"role": "robot", "content": ""}, "messages[0]: has the role 'robot'"),
        ({"role": "user", "content": 3}, "messages[0]: `content` must be a string or a list"),
        ({"role": "user", "content": [3]}, "messages[0]: a part of `content` must be an object"),
        (
            {"type": "function_call", "name": "f", "arguments": float("nan")},
            "messages[0]: a call's arguments cannot be represented in JSON",
        ),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(item: Any, sentence: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        to_openai_messages([item])
    assert str(caught.value).startswith(sentence)


def test_an_answer_is_one_message_and_what_is_no_call_of_ours_stays_an_item() -> None:
    answered = {"type": "function_call_output", "call_id": "c1", "output": "3"}
    broken = {"type": "function_call", "call_id": "c9"}
    made = assistant_message([CALL, answered, broken, {"type": "message", "content": 7}])
    assert made == {
        "role": "assistant",
        "content": None,
        "openai_items": [CALL, answered, broken, {"type": "message", "content": 7}],
    }
    assert assistant_message([]) == {"role": "assistant", "content": None}


def test_texts_that_no_item_can_hold_and_parts_that_are_newer_are_kept_whole() -> None:
    parts = [{"type": "hologram", "depth": 3}, {"type": "output_text", "text": ""}, "plain"]
    (message,) = to_openai_messages([{"role": "user", "content": parts}])
    assert message["content"] == [{"type": "text", "text": "plain"}]
    assert from_openai_messages([message])["input"][0]["content"] == [
        *parts[:2],
        {"type": "input_text", "text": "plain"},
    ]


def test_a_functions_result_for_a_call_that_is_no_functions_stays_an_item() -> None:
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": "Find it."},
        {"type": "tool_search_call", "call_id": "s1", "execution": "client", "arguments": {}},
        {"type": "function_call_output", "call_id": "s1", "output": "Found."},
        {"type": "message", "role": "user", "content": "Thanks."},
    ]
    messages = to_openai_messages(items)
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["openai_items"] == items[1:3]
    assert from_openai_messages(messages) == {"input": items}
    ours = [*items[:2], {**CALL, "call_id": "s1"}, items[2], items[3]]
    again = to_openai_messages(ours)
    assert [message["role"] for message in again] == ["user", "assistant", "tool", "user"]
