"""Inner messages on their way to OpenAI's Responses."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.judges import accepts, complaint
from vespe.adapters import anthropic, ollama, openai
from vespe.adapters.openai_responses import from_openai_messages, to_openai_messages
from vespe.adapters.translated import Conversation
from vespe.errors import InvalidDocument

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 1}}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "3"}
USER = {"role": "user", "content": "Hi"}


def sent(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = from_openai_messages(messages)["input"]
    for item in made:
        assert accepts("openai-responses item", item), complaint("openai-responses item", item)
    return made


def test_a_conversation_of_chat_becomes_items() -> None:
    made = sent(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "ada"},
            {"role": "assistant", "content": "Yes.", "tool_calls": [CALL]},
            {**RESULT, "content": {"sum": 3}},
        ]
    )
    assert made == [
        {"type": "message", "role": "system", "content": "Be brief."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "message", "role": "assistant", "content": "Yes."},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "c1", "output": '{"sum":3}'},
    ]


def test_an_error_is_told_and_an_image_of_a_tool_is_shown() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    before = [{"role": "assistant", "tool_calls": [CALL]}]
    assert sent([*before, {**RESULT, "is_error": True}])[1]["output"] == "[tool error]\n3"
    shown = sent([*before, {**RESULT, "content": [image], "is_error": True}])[1]["output"]
    assert shown == [
        {"type": "input_text", "text": "[tool error]\n"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
    ]


def test_ids_that_are_missing_or_repeat_are_mended_in_calls_and_results_alike() -> None:
    bare = {"type": "function", "function": {"name": "add", "arguments": "{}"}}
    turn: list[dict[str, Any]] = [
        {"role": "assistant", "tool_calls": [CALL, bare]},
        RESULT,
        {"role": "tool", "content": "4"},
    ]
    ids = [item["call_id"] for item in sent([*turn, *turn])]
    assert ids == ["c1", "vespe_call_2"] * 2 + ["c1_2", "vespe_call_4"] * 2


def test_a_custom_call_and_a_deprecated_one_have_their_results() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "grep", "input": "x"}}
    made = sent([{"role": "assistant", "tool_calls": [custom]}, RESULT])
    assert [item["type"] for item in made] == ["custom_tool_call", "custom_tool_call_output"]
    old = {"role": "assistant", "function_call": {"name": "add", "arguments": "{}"}}
    made = sent([old, {"role": "function", "name": "add", "content": "3"}])
    assert [item["call_id"] for item in made] == ["vespe_call_1"] * 2


def test_what_another_api_kept_beside_a_message_is_left_out_and_so_is_ours_elsewhere() -> None:
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, "part"]
    spoken = {"role": "assistant", "content": "Yes.", "anthropic_blocks": blocks}
    assert sent([USER, spoken])[1] == {"type": "message", "role": "assistant", "content": "Yes."}
    kept = to_openai_messages(
        [
            {"type": "reasoning", "id": "rs", "summary": []},
            {"type": "message", "id": "m", "role": "assistant", "content": "Yes."},
        ]
    )
    assert openai.to_wire(kept) == [{"role": "assistant", "content": "Yes."}]
    assert anthropic.from_openai_messages(kept)["messages"] == [
        {"role": "assistant", "content": "Yes."}
    ]


def test_a_refusal_and_what_says_nothing() -> None:
    refused = {"role": "assistant", "content": None, "refusal": "No."}
    assert sent([refused, {"role": "user", "content": ""}]) == [
        {"type": "message", "role": "assistant", "content": "No."}
    ]


def test_a_conversation_that_grows_is_translated_once() -> None:
    grown = Conversation([USER, {"role": "assistant", "tool_calls": [CALL]}])
    first = from_openai_messages(grown)["input"]
    grown.append(RESULT)
    second = from_openai_messages(grown)["input"]
    assert second[:2] == first and second[0] is first[0]
    assert second[2] == {"type": "function_call_output", "call_id": "c1", "output": "3"}


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ([RESULT], "messages[0]: the result of 'c1' answers no call"),
        (
            [{"role": "assistant", "tool_calls": [CALL]}, USER, USER],
            "messages[0]: the conversation goes on without the result of 'c1'",
        ),
        ([{"role": "robot"}], "messages[0]: has the role 'robot'"),
        (
            [{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            "messages[0]: Responses takes no content of type 'image_url' from the model",
        ),
        (
            [{"role": "user", "content": [{"type": "file", "file": {}}]}],
            "messages[0]: a `file` part needs `file_id` or `file_data`",
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": 3}]}],
            "messages[0]: a text part must hold a string, not int",
        ),
        (
            [{"role": "user", "content": [{"type": 3}]}],
            "messages[0]: a part of `content` needs a `type`, a string, not int",
        ),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
            "messages[0]: an `image_url` part needs a `url`",
        ),
        (
            [{"role": "user", "content": [{"type": "document_url"}]}],
            "messages[0]: a `document_url` part needs a URL",
        ),
        (
            [
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "f", "arguments": float("inf")}}],
                }
            ],
            "messages[0]: a call's arguments cannot be represented in JSON",
        ),
    ],
)
def test_what_the_api_refuses_is_refused_with_its_place(messages: Any, sentence: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        from_openai_messages(messages)
    assert str(caught.value).startswith(sentence)


def test_what_was_edited_into_nonsense_beside_a_message_is_passed_over() -> None:
    spoken = {"role": "assistant", "content": "Yes.", "openai_items": [3, None, "part"]}
    assert sent([USER | {"openai_items": [7]}, spoken | {"tool_calls": [CALL]}]) == [
        {"type": "message", "role": "user", "content": "Hi"},
        {"type": "message", "role": "assistant", "content": "Yes."},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":1}'},
    ]


def test_every_recorded_conversation_is_one_that_openais_types_take_and_reads_back(
    shared: Path,
) -> None:
    count = 0
    for file in sorted((shared / "corpus/conversations").glob("*/*.json")):
        request = json.loads(file.read_bytes())["request"]
        given = request["messages"]
        if file.parent.name == "anthropic":
            given = anthropic.to_openai_messages(given, request.get("system"))
        elif file.parent.name == "ollama":
            given = ollama.to_openai_messages(given)
        items = sent(given)
        assert sent(to_openai_messages(items)) == items, file.name
        count += 1
    assert count > 90


def test_a_result_that_holds_only_what_chat_cannot_say_comes_back() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    image = {"type": "input_image", "file_id": "file-1", "detail": "auto"}
    items: list[Any] = [call, {"type": "function_call_output", "call_id": "c", "output": [image]}]
    assert from_openai_messages(to_openai_messages(items)) == {"input": items}
