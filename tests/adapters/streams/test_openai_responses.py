"""Whole bodies of OpenAI's Responses API."""

import json
import random
from typing import Any

import pytest

from tests.adapters.streams.streams import differences, fed, openai_response, result
from vespe import ResponsesStreamingProcessor
from vespe.adapters.streams.base import StreamEvent

CREATED: dict[str, Any] = {
    "type": "response.created",
    "response": {"id": "r", "object": "response", "status": "in_progress", "output": []},
}
REASONING = {"type": "reasoning", "id": "rs", "summary": []}
MESSAGE = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "status": "in_progress",
    "content": [],
}
CALL = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": ""}
USAGE = {
    "input_tokens": 5,
    "input_tokens_details": {"cached_tokens": 2},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 12,
}


def added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind: str, index: int, text: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **more}


SUMMED = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]}
SAID = {
    **MESSAGE,
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
}
CALLED = {**CALL, "status": "completed", "arguments": '{"a":1}'}
ITEMS: list[dict[str, Any]] = [
    added(0, REASONING),
    delta("reasoning_summary_text", 0, "hm", summary_index=0),
    done(0, SUMMED | {"encrypted_content": "g"}),
    added(1, MESSAGE),
    delta("output_text", 1, "H", content_index=0),
    delta("output_text", 1, "i", content_index=0),
    done(1, SAID),
    added(2, CALL),
    delta("function_call_arguments", 2, '{"a":'),
    delta("function_call_arguments", 2, "1}"),
    done(2, CALLED),
]
OUTPUT = [SUMMED | {"encrypted_content": "g"}, SAID, CALLED]
END: dict[str, Any] = {
    "type": "response.completed",
    "response": {
        "id": "r",
        "object": "response",
        "status": "completed",
        "output": OUTPUT,
        "usage": USAGE,
    },
}
WHOLE = [CREATED, *ITEMS, END]
CHAT_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}


def body(*events: Any) -> bytes:
    return "".join(
        f"event: {e.get('type', '')}\ndata: {json.dumps(e)}\n\n"
        if isinstance(e, dict)
        else f"data: {e}\n\n"
        for e in events
    ).encode()


def read(*events: Any) -> tuple[ResponsesStreamingProcessor, list[StreamEvent]]:
    processor, told = fed("openai-responses", body(*events))
    assert isinstance(processor, ResponsesStreamingProcessor)
    return processor, told


def test_an_answer_becomes_events_a_message_and_calls() -> None:
    processor, events = read(*WHOLE, "[DONE]")
    assert [(e.type, e.text) for e in events] == [
        ("reasoning", "hm"),
        ("text", "H"),
        ("text", "i"),
        ("tool_start", ""),
        ("tool_arguments", '{"a":'),
        ("tool_arguments", "1}"),
        ("usage", ""),
        ("done", ""),
    ]
    message = processor.message()
    assert (message["content"], message["tool_calls"]) == ("Hi", [CHAT_CALL])
    assert message["openai_items"][0] == OUTPUT[0]
    assert (processor.finish_reason, processor.complete) == ("tool_calls", True)
    assert processor.usage == {
        "prompt_tokens": 5,
        "completion_tokens": 7,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert processor.cut_calls() == frozenset()
    assert processor.native_message() == END["response"]


def test_it_is_gathered_as_the_sdk_gathers_it() -> None:
    part = {"type": "output_text", "text": "", "annotations": []}
    begun = {"type": "response.content_part.added", "output_index": 1, "content_index": 0}
    events = [CREATED, *ITEMS[:4], begun | {"part": part}, *ITEMS[4:], END]
    theirs = openai_response(body(*events))
    assert list(differences(read(*events)[0].native_message(), theirs)) == []


@pytest.mark.parametrize("left", [[], ["added"], ["done"], ["delta"], ["added", "delta"]])
def test_the_same_message_comes_of_any_of_the_events_that_tell_it(left: list[str]) -> None:
    whole = read(*WHOLE)[0].message()
    some = [e for e in ITEMS if not any(e["type"].endswith(f".{kind}") for kind in left)]
    processor, events = read(CREATED, *some, END)
    assert processor.message() == whole
    assert "".join(e.text for e in events if e.type == "tool_arguments") == '{"a":1}'
    assert "".join(e.text for e in events if e.type == "text") == "Hi"
    assert [e.type for e in events].count("tool_start") == 1


def test_a_last_event_without_items_leaves_those_that_were_told() -> None:
    bare = {"type": "response.completed", "response": {"id": "r", "usage": USAGE}}
    processor, _ = read(CREATED, *ITEMS, bare)
    assert processor.message() == read(*WHOLE)[0].message() and processor.complete
    assert processor.finish_reason == "tool_calls"


def test_events_in_any_order_and_twice_make_one_call_of_one() -> None:
    for seed in range(100):
        chance = random.Random(seed)
        events = [*ITEMS, chance.choice(ITEMS)]
        chance.shuffle(events)
        processor, _ = read(CREATED, *events, END)
        assert processor.get_tool_calls() == [CHAT_CALL], seed
        assert processor.native_message()["output"] == OUTPUT, seed
        broken, _ = read(CREATED, *events)
        may_run = [c for c in broken.get_tool_calls() if c["id"] not in broken.cut_calls()]
        assert may_run in ([], [CHAT_CALL]), seed


def test_a_call_whose_id_repeats_has_one_id_in_events_message_and_among_the_cut() -> None:
    twice = [added(0, CALL), done(0, CALLED), added(1, CALL | {"id": "fc2"})]
    cut = [*twice, delta("function_call_arguments", 1, '{"a":')]
    processor, events = read(CREATED, *cut)
    ids = [call["id"] for call in processor.get_tool_calls()]
    assert ids == ["c", "c_2"] and processor.cut_calls() == {"c_2"}
    assert [event.call_id for event in events if event.type == "tool_start"] == ids


def test_calls_that_all_have_one_place_stay_apart() -> None:
    other = CALLED | {"id": "fc2", "call_id": "c2"}
    for events in ([done(0, CALLED), done(0, other)], [added(0, CALL), added(0, other)]):
        end = {"type": "response.completed", "response": {"output": [CALLED, other]}}
        processor, _ = read(CREATED, *events, end)
        assert [call["id"] for call in processor.get_tool_calls()] == ["c", "c2"]


def test_the_output_of_a_shell_that_the_vendor_runs_does_not_end_the_answer() -> None:
    outputs = [{"stdout": "Hi", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    shell = {"type": "response.shell_call_output_content.done", "output_index": 0}
    processor, _ = read(CREATED, shell | {"command_index": 0, "output": outputs}, *ITEMS, END)
    assert processor.native_message() == read(*WHOLE)[0].native_message()


def test_a_stream_that_breaks_off_has_its_texts_and_no_whole_call() -> None:
    processor, events = read(CREATED, *ITEMS[3:6], ITEMS[7], ITEMS[8])
    assert processor.message()["content"] == "Hi"
    assert processor.cut_calls() == {"c"} and not processor.complete
    assert processor.finish_reason is None
    assert events[-1].data == {"finish_reason": None, "complete": False}
    over, _ = read(CREATED, *ITEMS[7:])
    assert over.cut_calls() == frozenset()


def test_an_answer_that_met_its_limit_says_so_and_its_short_call_does_not_run() -> None:
    short = {**CALL, "status": "incomplete", "arguments": '{"a":'}
    end = {
        "type": "response.incomplete",
        "response": {"incomplete_details": {"reason": "max_output_tokens"}, "output": [short]},
    }
    processor, _ = read(CREATED, *ITEMS[7:9], end)
    assert (processor.finish_reason, processor.complete) == ("length", True)
    assert processor.cut_calls() == {"c"}
    filtered = {
        "type": "response.incomplete",
        "response": {"incomplete_details": {"reason": "content_filter"}},
    }
    assert read(CREATED, filtered)[0].finish_reason == "content_filter"


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}, "slow down"),
        ({"error": {"message": "no"}}, "no"),
        (
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "server_error", "message": "x"}},
            },
            "x",
        ),
        ({"type": "response.failed", "response": {}}, "the response is failed"),
        ({"type": "x", "deep": json.loads("[" * 300 + "]" * 300)}, "nested too deeply"),
        ("{no", "the stream contains an event that is not JSON"),
    ],
)
def test_an_error_in_the_midst_ends_the_answer(event: Any, sentence: str) -> None:
    processor, events = read(CREATED, *ITEMS[:5], event, *ITEMS[5:], END)
    (error,) = [e for e in events if e.type == "error"]
    assert sentence in error.text and not processor.complete
    assert processor.message()["content"] == "H"
    assert not processor.has_tool_calls()


def test_the_code_of_an_error_stands_in_it() -> None:
    processor, _ = read({"type": "error", "code": "rate_limit_exceeded", "message": "slow"})
    assert processor.error is not None and processor.error["code"] == "rate_limit_exceeded"


def test_a_whole_answer_where_a_stream_was_asked_for_is_read() -> None:
    for given in (END["response"], [END["response"]]):
        processor, events = fed("openai-responses", json.dumps(given).encode())
        assert processor.message() == read(*WHOLE)[0].message() and processor.complete
        assert [e.type for e in events].count("done") == 1
    page, _ = fed("openai-responses", b"<html>Bad gateway</html>")
    assert "not a stream" in str(page.error)
    wrong, _ = fed("openai-responses", b'{"error": {"message": "no"}}')
    assert wrong.error is not None and wrong.error["message"] == "no"


def test_texts_of_every_kind_grow_and_their_notes_are_kept() -> None:
    note = {"type": "url_citation", "url": "https://x.test"}
    processor, events = read(
        delta("output_text", 0, "a", item_id="m", content_index=0),
        {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": note},
        {"type": "response.output_text.done", "output_index": 0, "text": "ab"},
        delta("refusal", 0, "no", content_index=1),
        {
            "type": "response.content_part.added",
            "output_index": 1,
            "content_index": 0,
            "part": {"type": "reasoning_text", "text": "w"},
        },
        delta("reasoning_text", 1, "hy", content_index=0),
    )
    said, thought = processor.native_message()["output"]
    assert said["content"] == [
        {"type": "output_text", "text": "ab", "annotations": [note]},
        {"type": "refusal", "refusal": "no"},
    ]
    assert thought["content"] == [{"type": "reasoning_text", "text": "why"}]
    assert [(e.type, e.text) for e in events[:-1]] == [
        ("text", "a"),
        ("text", "b"),
        ("text", "no"),
        ("reasoning", "w"),
        ("reasoning", "hy"),
    ]


def test_events_without_an_index_go_to_the_item_of_their_id_or_the_last_of_their_kind() -> None:
    bare = [{k: v for k, v in event.items() if k != "output_index"} for event in ITEMS]
    assert read(CREATED, *bare, END)[0].message() == read(*WHOLE)[0].message()
    named = [
        {"type": "response.output_item.added", "item": {**CALL, "id": "one", "call_id": "c1"}},
        {"type": "response.output_item.added", "item": {**CALL, "id": "two", "call_id": "c2"}},
        {"type": "response.function_call_arguments.delta", "item_id": "one", "delta": '{"a":1}'},
        {"type": "response.function_call_arguments.done", "item_id": "two", "arguments": "{}"},
    ]
    calls = read(*named)[0].get_tool_calls()
    assert [call["function"]["arguments"] for call in calls] == ['{"a":1}', "{}"]


def test_a_custom_call_grows_and_one_without_an_id_gets_one() -> None:
    custom = {"type": "custom_tool_call", "id": "ct", "call_id": "c", "name": "grep", "input": ""}
    processor, events = read(
        added(0, custom),
        delta("custom_tool_call_input", 0, "x "),
        {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": "x y"},
    )
    assert processor.message()["tool_calls"][0]["custom"] == {"name": "grep", "input": "x y"}
    assert "".join(e.text for e in events if e.type == "tool_arguments") == "x y"
    bare, told = read(added(0, {"type": "function_call", "name": "f", "arguments": {"a": 1}}))
    (call,) = bare.get_tool_calls()
    assert call["id"] == told[0].call_id and call["function"]["arguments"] == '{"a":1}'


def test_a_call_that_says_its_name_late_is_told_with_all_that_came_before() -> None:
    _, events = read(
        added(0, {"type": "function_call", "id": "fc", "call_id": "c"}),
        delta("function_call_arguments", 0, '{"a":'),
        {
            "type": "response.function_call_arguments.done",
            "output_index": 0,
            "name": "f",
            "arguments": '{"a":1}',
        },
        done(0, CALLED),
        END | {"response": {}},
    )
    told = [(e.type, e.name, e.text) for e in events if e.type.startswith("tool")]
    assert told[0] == ("tool_start", "f", "")
    assert "".join(text for _, _, text in told) == '{"a":1}'


def test_it_stands_ready_for_another_body() -> None:
    processor, _ = read(*WHOLE)
    processor.cleanup()
    assert processor.native_message() == {} and processor.usage is None
    processor.feed(body(*WHOLE))
    processor.close()
    assert result(processor) == result(read(*WHOLE)[0])


def test_a_whole_answer_with_a_status_of_its_own_is_over_and_one_in_the_background_is_an_error() -> (
    None
):
    output = [{"type": "message", "role": "assistant", "content": "Hi."}]
    for status in ("complete", 7, None):
        answer = ResponsesStreamingProcessor()
        answer.feed(json.dumps({"status": status, "output": output}).encode())
        answer.close()
        assert (answer.message()["content"], answer.finish_reason) == ("Hi.", "stop")
        assert answer.complete and answer.error is None
    for status in ("queued", "in_progress"):
        answer = ResponsesStreamingProcessor()
        answer.feed(json.dumps({"object": "response", "status": status, "output": []}).encode())
        answer.close()
        assert answer.error is not None and not answer.complete
        assert answer.error["message"].startswith(
            f"the response is {status}: it was requested in the"
        )
