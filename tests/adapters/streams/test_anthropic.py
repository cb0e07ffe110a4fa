"""Whole bodies of Anthropic's Messages API."""

import json
from typing import Any

import pytest

from tests.adapters.streams.streams import fed
from vespe import ClaudeStreamingProcessor
from vespe.adapters.streams.base import StreamEvent

START: dict[str, Any] = {
    "type": "message_start",
    "message": {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "c",
        "content": [],
        "usage": {"input_tokens": 5},
    },
}
TEXT: list[dict[str, Any]] = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
]
HI = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
USE = {
    "type": "content_block_start",
    "index": 1,
    "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
}
ARGUMENTS = {
    "type": "content_block_delta",
    "index": 1,
    "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'},
}
STOP: list[dict[str, Any]] = [{"type": "content_block_stop", "index": 1}]
END: list[dict[str, Any]] = [
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]
WHOLE: list[dict[str, Any]] = [START, *TEXT, HI, USE, ARGUMENTS, *STOP, *END]
CALL = {"id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}


def body(*events: Any) -> bytes:
    return "".join(
        f"event: {e['type']}\ndata: {json.dumps(e)}\n\n"
        if isinstance(e, dict)
        else f"data: {e}\n\n"
        for e in events
    ).encode()


def read(data: bytes) -> tuple[ClaudeStreamingProcessor, list[StreamEvent]]:
    processor, events = fed("anthropic", data)
    assert isinstance(processor, ClaudeStreamingProcessor)
    return processor, events


def test_an_answer_becomes_events_a_message_and_calls() -> None:
    processor, events = read(body(*WHOLE))
    assert [(e.type, e.text) for e in events] == [
        ("text", "Hi"),
        ("tool_start", ""),
        ("tool_arguments", '{"a": 1}'),
        ("usage", ""),
        ("done", ""),
    ]
    assert processor.message() == {"role": "assistant", "content": "Hi", "tool_calls": [CALL]}
    assert (
        processor.get_tool_calls() == [CALL] and processor.has_tool_calls() and processor.complete
    )
    assert (processor.finish_reason, processor.usage) == (
        "tool_calls",
        {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    )
    assert (
        processor.cut_calls() == frozenset()
        and processor.native_message()["stop_reason"] == "tool_use"
    )


def test_an_answer_fills_a_response() -> None:
    answer: dict[str, Any] = {}
    read(body(*WHOLE))[0].update_response(answer)
    assert (answer["content"], answer["tool_calls"], answer["finish_reason"], answer["error"]) == (
        "Hi",
        [CALL],
        "tool_calls",
        None,
    )


def test_pings_unknown_events_and_a_gateways_done_say_nothing() -> None:
    noise = [
        {"type": "ping"},
        {"type": "new_event", "index": 1},
        "[DONE]",
        "[1]",
        {"type": "content_block_start", "index": 0},
    ]
    assert (
        read(body(*noise, *[part for event in WHOLE for part in (event, *noise)]))[0].message()
        == read(body(*WHOLE))[0].message()
    )


def test_events_without_names_or_without_a_type_are_read() -> None:
    unnamed = "".join(f"data: {json.dumps(event)}\n\n" for event in WHOLE).encode()
    untyped = "".join(
        f"event: {e['type']}\ndata: {json.dumps({k: v for k, v in e.items() if k != 'type'})}\n\n"
        for e in WHOLE
    ).encode()
    assert (
        read(unnamed)[0].message() == read(untyped)[0].message() == read(body(*WHOLE))[0].message()
    )


def test_of_several_messages_all_calls_are_told_and_the_last_one_is_the_message() -> None:
    last = [
        {**START, "message": {**START["message"], "id": "n"}},
        *TEXT,
        HI,
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ]
    processor, events = read(body(*WHOLE, *WHOLE, *last))
    assert [call["id"] for call in processor.get_tool_calls()] == ["t", "t"]
    assert [e.index for e in events if e.type == "tool_start"] == [0, 1] and [
        e.type for e in events
    ].count("done") == 1
    assert (
        processor.message() == {"role": "assistant", "content": "Hi"}
        and processor.native_message()["id"] == "n"
        and processor.complete
    )


def test_it_is_complete_with_the_stop_reason_or_message_stop() -> None:
    assert read(body(*WHOLE[:-1]))[0].complete and read(body(*WHOLE[:-2], END[1]))[0].complete
    assert not read(body(*WHOLE[:-2]))[0].complete and not read(b"")[0].complete


def test_an_error_event_ends_the_gathering_and_what_was_gathered_stays() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    processor, events = read(body(START, *TEXT, HI, USE, error, ARGUMENTS, *STOP, *END))
    assert (
        processor.error == error["error"]
        and not processor.complete
        and processor.message()["content"] == "Hi"
    )
    assert [(e.type, e.text) for e in events[-2:]] == [
        ("error", "Overloaded"),
        ("done", ""),
    ] and processor.cut_calls() == {"t"}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            b'{"type":"error","error":{"type":"authentication_error","message":"invalid '
            b'x-api-key"}}',
            "invalid x-api-key",
        ),
        (b'{\n"error": {"message": "no"}\n}', "no"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b"<html>", "the body is not a stream of a model's answer: '<html>'"),
        (body(START, "{nonsense}"), "the stream contains an event that is not JSON: "),
        (
            body({"type": "message_start", "message": json.loads("[" * 90 + "]" * 90)}),
            "the stream contains an event that is nested too deeply",
        ),
    ],
)
def test_a_body_that_is_no_stream_or_breaks_is_an_error(data: bytes, sentence: str) -> None:
    processor, events = read(data)
    assert (
        events[0].type == "error" and events[0].text.startswith(sentence) and not processor.complete
    )


def test_an_answer_that_was_not_streamed_is_read_all_the_same() -> None:
    content = [
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
    ]
    whole = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    processor, events = read(json.dumps(whole, indent=1).encode())
    assert (
        processor.message() == read(body(*WHOLE))[0].message()
        and processor.complete
        and processor.cut_calls() == frozenset()
    )
    assert [e.type for e in events] == ["text", "tool_start", "tool_arguments", "usage", "done"]


def test_after_cleanup_another_body_may_come() -> None:
    processor, _ = read(body(*WHOLE))
    processor.cleanup()
    assert (processor.message(), processor.native_message(), processor.usage) == (
        {"role": "assistant", "content": None},
        {},
        None,
    )


def test_a_stream_without_its_message_start_is_read_all_the_same() -> None:
    processor, _ = read(body(*WHOLE[1:]))
    assert processor.get_tool_calls() == [CALL] and processor.complete
