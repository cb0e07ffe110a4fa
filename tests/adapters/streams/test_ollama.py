"""Whole bodies of Ollama's chat API."""

import json
from typing import Any

import pytest

from tests.adapters.streams.streams import fed
from vespe import OllamaStreamingProcessor
from vespe.adapters.streams.base import StreamEvent

LAST = {
    "model": "m",
    "created_at": "t2",
    "message": {"role": "assistant", "content": ""},
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 3,
    "eval_count": 4,
}


def line(**message: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "created_at": "t1",
        "message": {"role": "assistant", **message},
        "done": False,
    }


def call(name: Any = "f", arguments: Any = None, **rest: Any) -> dict[str, Any]:
    return {**rest, "function": {"name": name, "arguments": arguments}}


def read(*lines: Any) -> tuple[OllamaStreamingProcessor, list[StreamEvent]]:
    data = b"".join(
        one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in lines
    )
    processor, events = fed("ollama", data)
    assert isinstance(processor, OllamaStreamingProcessor)
    return processor, events


def test_an_answer_becomes_events_a_message_and_calls() -> None:
    processor, events = read(
        line(thinking="hm", content=""),
        line(content="H"),
        line(content="i", tool_calls=[call(arguments={"a": "é"}, id="c")]),
        LAST,
    )
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert events == [
        StreamEvent("reasoning", "hm"),
        StreamEvent("text", "H"),
        StreamEvent("text", "i"),
        StreamEvent("tool_start", "", "c", "f", 0),
        StreamEvent("tool_arguments", '{"a":"é"}', "c", "f", 0),
        StreamEvent("usage", data=usage),
        StreamEvent("done", data={"finish_reason": "tool_calls", "complete": True}),
    ]
    made = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":"é"}'}}
    assert (
        processor.get_tool_calls() == [made]
        and processor.usage == usage
        and processor.cut_calls() == frozenset()
    )
    assert processor.message() == {
        "role": "assistant",
        "content": "Hi",
        "reasoning_content": "hm",
        "tool_calls": [made],
    }
    assert processor.native_message() == {
        **LAST,
        "message": {
            "role": "assistant",
            "content": "Hi",
            "thinking": "hm",
            "tool_calls": [call(arguments={"a": "é"}, id="c")],
        },
    }


def test_calls_without_ids_get_one_at_once_and_the_same_body_the_same_ones() -> None:
    lines = (line(tool_calls=[call(), call(), call("g")]), LAST)
    ids = [made["id"] for made in read(*lines)[0].get_tool_calls()]
    assert (
        ids
        == [made["id"] for made in read(*lines)[0].get_tool_calls()]
        == [e.call_id for e in read(*lines)[1] if e.type == "tool_start"]
    )
    assert len(set(ids)) == 3 and all(one.startswith("vespe_call_") for one in ids)


def test_arguments_of_other_types_and_calls_without_a_name() -> None:
    given = [
        call(arguments='{"a": 1}'),
        call(),
        call(arguments=[1]),
        call(name=""),
        5,
        {"function": None},
    ]
    processor, _ = read(line(tool_calls=given), LAST)
    assert [made["function"]["arguments"] for made in processor.get_tool_calls()] == [
        '{"a": 1}',
        "{}",
        "[1]",
    ]


@pytest.mark.parametrize(
    "error", [{"error": "model 'x' not found"}, {"error": {"message": "model 'x' not found"}}]
)
def test_an_error_ends_the_gathering_and_what_was_gathered_stays(error: dict[str, Any]) -> None:
    processor, events = read(line(content="a"), error, line(content="b"), LAST)
    assert (
        processor.error == {"message": "model 'x' not found"}
        and processor.message()["content"] == "a"
        and not processor.complete
    )
    assert [e.type for e in events] == ["text", "error", "done"]


def test_a_line_that_is_no_json_ends_the_gathering() -> None:
    processor, events = read(line(content="a"), b"{nonsense}\n", LAST)
    assert (
        events[1].text.startswith("the stream contains a line that is not JSON: ")
        and processor.message()["content"] == "a"
    )


def test_an_answer_of_several_lines_and_one_with_a_prefix_are_read() -> None:
    whole = LAST | {"message": {"role": "assistant", "content": "Hi"}}
    assert read(json.dumps(whole, indent=2).encode())[0].message()["content"] == "Hi"
    assert (
        read(b"data: " + json.dumps(whole).encode() + b"\n\ndata: [DONE]\n\n")[0].message()[
            "content"
        ]
        == "Hi"
    )


def test_calls_that_are_nested_too_deeply_are_an_error() -> None:
    deep = json.dumps(line(tool_calls=[call(arguments={"a": 0})])).replace("0", "[" * 90 + "]" * 90)
    processor, events = read(deep.encode() + b"\n", LAST)
    assert (
        events[0].text == "the stream contains a line that is nested too deeply"
        and not processor.complete
    )


def test_a_page_is_no_stream() -> None:
    processor, events = read(b"<html>\n502\n</html>")
    assert (
        events[0].text == "the body is not a stream of a model's answer: '<html>\\n502\\n</html>'"
        and processor.error is not None
    )


def test_without_its_last_line_it_is_not_complete() -> None:
    processor, events = read(line(content="a"), json.dumps(LAST).encode()[:-5])
    assert not processor.complete and processor.finish_reason is None and processor.error is None
    assert [e.type for e in events] == ["text", "done"]


def test_a_character_in_halves_is_one() -> None:
    assert (
        read(line(content="\ud83d"), line(content="\ude00"), LAST)[0].message()["content"] == "😀"
    )
    assert [e.text for e in read(line(content="a\ud83d"), LAST)[1]][:2] == ["a", ""]


def test_images_are_parts_and_cleanup_forgets_everything() -> None:
    processor, _ = read(line(content="a", images=["iVBORw0KGgo="]), LAST)
    assert (
        processor.message()["content"][1]["image_url"]["url"]
        == "data:image/png;base64,iVBORw0KGgo="
    )
    processor.cleanup()
    assert (processor.message(), processor.has_tool_calls(), processor.usage) == (
        {"role": "assistant", "content": None},
        False,
        None,
    )
