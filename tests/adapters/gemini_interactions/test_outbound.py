"""Inner messages on their way to Gemini's Interactions."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.google_judges import complaint
from vespe.adapters import anthropic, ollama, openai
from vespe.adapters.gemini_interactions import from_openai_messages, to_openai_messages
from vespe.adapters.translated import Conversation
from vespe.errors import InvalidDocument, VespeError

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "3"}
USER = {"role": "user", "content": "Hi"}


def sent(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = from_openai_messages(messages)["input"]
    for step in made:
        assert complaint("step", step) == "", step
    return made


def test_a_conversation_of_chat_becomes_steps() -> None:
    made = sent(
        [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "ada"},
            {"role": "assistant", "content": "Yes.", "tool_calls": [CALL]},
            {**RESULT, "content": {"sum": 3}, "is_error": True},
        ]
    )
    assert made == [
        {"type": "user_input", "content": [{"type": "text", "text": "Hi"}]},
        {"type": "model_output", "content": [{"type": "text", "text": "Yes."}]},
        {"type": "function_call", "id": "c1", "name": "add", "arguments": {"a": 1}},
        {
            "type": "function_result",
            "call_id": "c1",
            "name": "add",
            "result": '{"sum":3}',
            "is_error": True,
        },
    ]


def test_what_the_system_says_stands_in_its_one_place() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        USER,
        {"role": "developer", "content": [{"type": "text", "text": "Now French."}]},
    ]
    made = from_openai_messages(messages)
    assert made["system_instruction"] == "Be brief.\n\nNow French."
    assert [step["type"] for step in made["input"]] == ["user_input"]
    image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    with pytest.raises(InvalidDocument, match="the system prompt holds text only"):
        from_openai_messages([{"role": "system", "content": [image]}])


def test_ids_that_are_missing_or_repeat_are_mended_in_calls_and_results_alike() -> None:
    bare = {"type": "function", "function": {"name": "see", "arguments": "{}"}}
    turn: list[dict[str, Any]] = [
        {"role": "assistant", "tool_calls": [CALL, bare]},
        RESULT,
        {"role": "tool", "content": "4"},
    ]
    made = sent([*turn, *turn])
    ids = [step.get("id", step.get("call_id")) for step in made]
    assert ids == ["c1", "vespe_call_2"] * 2 + ["c1_2", "vespe_call_4"] * 2
    assert [step["name"] for step in made] == ["add", "see"] * 4


def test_an_image_of_a_tool_is_shown_and_a_refusal_is_text() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    made = sent([{"role": "assistant", "tool_calls": [CALL]}, {**RESULT, "content": [image]}])
    assert made[1]["result"] == [{"type": "image", "data": "AAAA", "mime_type": "image/png"}]
    refused = {"role": "assistant", "content": None, "refusal": "No."}
    assert sent([refused]) == [
        {"type": "model_output", "content": [{"type": "text", "text": "No."}]}
    ]


def test_what_another_api_kept_beside_a_message_is_left_out_and_so_is_ours_elsewhere() -> None:
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, "part"]
    items = [{"type": "reasoning", "id": "rs", "summary": []}]
    spoken = {"role": "assistant", "content": "Yes.", "anthropic_blocks": blocks}
    plain = {"type": "model_output", "content": [{"type": "text", "text": "Yes."}]}
    assert sent([USER, spoken | {"openai_items": items}])[1:] == [plain]
    kept = to_openai_messages([{"type": "thought", "signature": "c2ln"}, plain])
    assert openai.to_wire(kept) == [{"role": "assistant", "content": "Yes."}]
    assert anthropic.from_openai_messages(kept)["messages"] == [
        {"role": "assistant", "content": "Yes."}
    ]


def test_a_conversation_that_grows_is_translated_once() -> None:
    grown = Conversation([USER, {"role": "assistant", "tool_calls": [CALL]}])
    first = from_openai_messages(grown)["input"]
    grown += [RESULT, {"role": "system", "content": "End."}]
    second = from_openai_messages(grown)
    assert second["input"][0] is first[0] and len(second["input"]) == 3
    assert second["system_instruction"] == "End."


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


def test_every_recorded_conversation_is_one_that_googles_types_take_and_reads_back(
    shared: Path,
) -> None:
    count, refused = 0, list[str]()
    for file in sorted((shared / "corpus/conversations").glob("*/*.json")):
        request = json.loads(file.read_bytes())["request"]
        given = request["messages"]
        if file.parent.name == "anthropic":
            given = anthropic.to_openai_messages(given, request.get("system"))
        elif file.parent.name == "ollama":
            given = ollama.to_openai_messages(given)
        try:
            steps = sent(given)
        except VespeError as error:
            refused.append(str(error))
            continue
        assert sent(to_openai_messages(steps)) == steps, file.name
        count += 1
    assert count > 90 and all("no other vendor's `file_id`" in why for why in refused)


def test_a_result_that_holds_only_what_chat_cannot_say_comes_back() -> None:
    call = {"type": "function_call", "id": "c", "name": "f", "arguments": {}}
    video = {"type": "video", "uri": "https://e.org/v.mp4"}
    result = {"type": "function_result", "call_id": "c", "name": "f", "result": [video]}
    assert from_openai_messages(to_openai_messages([call, result]))["input"] == [call, result]
