"""Whole bodies of OpenAI's chat API, and of servers that are nearly compatible."""

import json
from typing import Any

import pytest

from tests.adapters.streams.streams import fed
from vespe import GptStreamingProcessor, defaults
from vespe.adapters.streams.base import StreamEvent

CALL = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def chunk(delta: Any = None, **rest: Any) -> dict[str, Any]:
    choice = {
        "index": rest.pop("index", 0),
        "delta": delta,
        "finish_reason": rest.pop("finish", None),
    }
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
        **rest,
    }


def body(*chunks: Any, done: bool = True) -> bytes:
    texts = [
        one if isinstance(one, str) else json.dumps(one)
        for one in (*chunks, *(["[DONE]"] if done else []))
    ]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def read(data: bytes) -> tuple[GptStreamingProcessor, list[StreamEvent]]:
    processor, events = fed("openai", data)
    assert isinstance(processor, GptStreamingProcessor)
    return processor, events


def test_an_answer_is_told_as_it_comes() -> None:
    processor = GptStreamingProcessor()
    assert processor.feed(body(chunk({"role": "assistant", "content": "Hi"}), done=False)) == [
        StreamEvent("text", "Hi")
    ]
    assert processor.feed(body(chunk({"tool_calls": [CALL]}), done=False)) == [
        StreamEvent("tool_start", "", "a", "f", 0),
        StreamEvent("tool_arguments", "{}", "a", "f", 0),
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    last = chunk({}, finish="tool_calls") | {"usage": usage}
    assert processor.feed(body(last)) == [
        StreamEvent("usage", data=usage),
        StreamEvent("done", data={"finish_reason": "tool_calls", "complete": True}),
    ]
    assert processor.close() == [] and processor.complete


def test_usage_in_a_chunk_of_its_own_or_in_a_choice_or_groqs_is_usage() -> None:
    usage = {"total_tokens": 3}
    for last in (
        {"choices": [], "usage": usage},
        {"choices": [{"index": 0, "delta": {}, "usage": usage}]},
        {"choices": [], "x_groq": {"usage": usage}},
    ):
        processor, events = read(
            body(chunk({"content": "a"}, finish="stop"), last, {"choices": [], "usage": None})
        )
        assert processor.usage == usage and [e.type for e in events] == ["text", "usage", "done"]


def test_an_answer_fills_a_response() -> None:
    answer: dict[str, Any] = {}
    read(body(chunk({"content": "Hi", "tool_calls": [CALL]}, finish="tool_calls")))[
        0
    ].update_response(answer)
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert answer == {
        "content": "Hi",
        "tool_calls": [call],
        "finish_reason": "tool_calls",
        "usage": None,
        "error": None,
    }


def test_it_is_complete_with_a_finish_reason_or_done_and_else_not() -> None:
    assert read(body(chunk({"content": "a"}, finish="stop"), done=False))[0].complete
    assert read(body(chunk({"content": "a"})))[0].complete
    assert not read(body(chunk({"content": "a"}), done=False))[0].complete
    assert not read(b"")[0].complete


def test_with_several_choices_all_must_have_finished() -> None:
    started = (chunk({"content": "a"}, finish="stop"), chunk({"content": "b"}, index=1))
    assert not read(body(*started, done=False))[0].complete
    assert read(body(*started, chunk({}, index=1, finish="stop"), done=False))[0].complete


def test_calls_stand_in_order_of_choice_and_index_and_events_in_order_of_arrival() -> None:
    second = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "g", "arguments": "{}"}}]}
    first = {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "f"}}, CALL]}
    processor, events = read(body(chunk(second, index=1), chunk(first)))
    assert [call["id"] for call in processor.get_tool_calls()] == ["a", "b", "c"]
    assert [(e.call_id, e.index) for e in events if e.type == "tool_start"] == [
        ("c", 0),
        ("b", 1),
        ("a", 2),
    ]
    assert [call["id"] for call in processor.message()["tool_calls"]] == ["a", "b"]


def test_calls_behind_the_finish_reason_count() -> None:
    processor, _ = read(body(chunk({"content": "a"}, finish="stop"), chunk({"tool_calls": [CALL]})))
    assert processor.has_tool_calls() and processor.finish_reason == "stop" and processor.complete


def test_a_call_without_an_id_gets_one_at_the_end_and_the_same_body_the_same_one() -> None:
    data = body(chunk({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}))
    ids = [read(data)[0].get_tool_calls()[0]["id"] for _ in range(2)]
    assert ids[0] == ids[1] and ids[0].startswith("vespe_call_")
    processor = GptStreamingProcessor()
    processor.feed(data.partition(b"data: [DONE]")[0])
    assert processor.get_tool_calls()[0]["id"] == ""


@pytest.mark.parametrize(
    ("arguments", "finish", "cut"),
    [
        ("", None, True),
        ('{"a": 1', None, True),
        ('{"a": 1}', None, False),
        ("", "tool_calls", False),
        ("", "length", True),
        ('{"a"', "stop", False),
        ("{}", "length", False),
    ],
)
def test_p40c_a_call_is_cut_unless_the_stream_or_its_arguments_say_that_it_is_whole(
    arguments: str, finish: str | None, cut: bool
) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}
    processor, _ = read(body(chunk({"tool_calls": [call]}, finish=finish), done=False))
    assert processor.cut_calls() == ({"a"} if cut else set())


ERRORS = {
    "an object": (
        body(chunk({"content": "a"}), {"error": {"message": "no", "code": 1}}),
        {"message": "no", "code": 1},
    ),
    "a text": (body(chunk({"content": "a"}), {"error": "no"}), {"message": "no"}),
    "vllm's": (
        body(chunk({"content": "a"}), {"object": "error", "message": "no", "code": 4}),
        {"object": "error", "message": "no", "code": 4},
    ),
    "an event's": (
        body(chunk({"content": "a"}), done=False) + b'event: error\ndata: {"message": "no"}\n\n',
        {"message": "no"},
    ),
    "in a choice": (
        body({"choices": [{"index": 0, "delta": {"content": "a"}, "error": {"message": "no"}}]}),
        {"message": "no"},
    ),
    "in a list": (body(chunk({"content": "a"}), [{"error": {"message": "no"}}]), {"message": "no"}),
    "without a prefix": (
        body(chunk({"content": "a"}), done=False) + b'{"error": {"message": "no"}}',
        {"message": "no"},
    ),
}


@pytest.mark.parametrize(("data", "error"), ERRORS.values(), ids=ERRORS.keys())
def test_an_error_in_the_stream_is_an_event_and_what_was_gathered_stays(
    data: bytes, error: dict[str, Any]
) -> None:
    processor, events = read(data)
    assert (
        processor.error == error
        and not processor.complete
        and processor.message()["content"] == "a"
    )
    assert [e.type for e in events] == ["text", "error", "done"] and events[1] == StreamEvent(
        "error", "no", data=error
    )


def test_a_chunk_that_is_no_json_ends_the_gathering() -> None:
    begun = chunk({"tool_calls": [{**CALL, "function": {"name": "f", "arguments": '{"a": "'}}]})
    ended = chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"}'}}]})
    processor, events = read(body(begun, "{nonsense}", ended))
    assert [e.type for e in events] == ["tool_start", "tool_arguments", "error", "done"]
    assert events[2].text.startswith("the stream contains a chunk that is not JSON: ")
    assert processor.get_tool_calls()[0]["function"][
        "arguments"
    ] == '{"a": "' and processor.cut_calls() == {"a"}


def test_an_answer_that_was_not_streamed_is_read_all_the_same() -> None:
    message = {
        "role": "assistant",
        "content": "Hi",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    }
    whole = {
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"total_tokens": 1},
    }
    for text in (json.dumps(whole), json.dumps(whole, indent=2), json.dumps(whole) + "\n"):
        processor, events = read(text.encode())
        assert (
            processor.complete
            and processor.message() == message
            and processor.usage == {"total_tokens": 1}
        )
        assert [e.type for e in events] == ["text", "tool_start", "tool_arguments", "usage", "done"]


def test_lines_of_json_in_place_of_events_are_read() -> None:
    lines = [chunk({"content": "a"}), chunk({"content": "b"}, finish="stop")]
    processor, _ = read("\n".join(map(json.dumps, lines)).encode())
    assert processor.message()["content"] == "ab" and processor.complete


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            b'{"error": {"message": "Incorrect API key", "type": "invalid_request_error"}}',
            "Incorrect API key",
        ),
        (b'{"detail": "Not Found"}', "Not Found"),
        (
            b"<html>502 Bad Gateway</html>",
            "the body is not a stream of a model's answer: '<html>502 Bad Gateway</html>'",
        ),
        (
            b"upstream connect error",
            "the body is not a stream of a model's answer: 'upstream connect error'",
        ),
    ],
)
def test_a_body_that_is_no_stream_is_an_error(data: bytes, sentence: str) -> None:
    processor, events = read(data)
    assert [(e.type, e.text) for e in events][:1] == [
        ("error", sentence)
    ] and not processor.complete


def test_bytes_that_are_no_utf_8_are_repaired() -> None:
    assert (
        read(body(chunk({"content": "aXb"})).replace(b"X", b"\xff"))[0].message()["content"]
        == "a�b"
    )


def test_the_first_id_that_says_something_counts() -> None:
    empty = {"id": "", "model": "", "created": 0, "choices": [], "prompt_filter_results": []}
    native = read(body(empty, chunk({"content": "a"}, finish="stop", system_fingerprint="fp")))[
        0
    ].native_message()
    assert (native["id"], native["model"], native["created"], native["system_fingerprint"]) == (
        "x",
        "m",
        1,
        "fp",
    )
    assert native["object"] == "chat.completion" and native["choices"][0]["message"] == {
        "role": "assistant",
        "content": "a",
    }


@pytest.mark.parametrize("size", [1, 1000, 10**9])
def test_p40_a_stream_past_its_caps_ends_with_a_sentence(size: int) -> None:
    cap = defaults.MAX_EVENT_BYTES
    data = body(chunk({"content": "a"}), chunk({"content": "b" * cap}), chunk({"content": "c"}))
    processor = GptStreamingProcessor()
    begun = cap - 100 if size == 1 else 0  # byte by byte where the line passes its cap
    events = processor.feed(data[:begun])
    for at in range(begun, len(data), size):
        events += processor.feed(data[at : at + size])
    events += processor.close()
    assert processor.message()["content"] == "a" and not processor.complete
    assert [(e.type, e.text) for e in events] == [
        ("text", "a"),
        ("error", f"a line is longer than {cap} bytes"),
        ("done", ""),
    ]


def test_p40_a_line_that_does_not_end_is_not_kept_past_its_cap() -> None:
    begun = b"data: ".ljust(defaults.MAX_EVENT_BYTES, b"b")
    processor = GptStreamingProcessor()
    assert processor.feed(begun) == []
    assert [event.type for event in processor.feed(b"b")] == ["error"]


def test_after_cleanup_another_body_may_come() -> None:
    processor, _ = read(body(chunk({"content": "a", "tool_calls": [CALL]}, finish="stop")))
    processor.cleanup()
    assert (processor.message(), processor.get_tool_calls(), processor.complete) == (
        {"role": "assistant", "content": None},
        [],
        False,
    )
    processor.feed(body(chunk({"content": "b"}, finish="stop")))
    assert processor.message()["content"] == "b"
