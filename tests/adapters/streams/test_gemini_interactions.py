"""Whole bodies of Gemini's Interactions."""

import json
import random
from typing import Any

import pytest

from tests.adapters.google_judges import complaint
from tests.adapters.streams.streams import fed, places, result
from vespe import InteractionsStreamingProcessor
from vespe.adapters.streams.base import StreamEvent

CREATED: dict[str, Any] = {
    "event_type": "interaction.created",
    "interaction": {"id": "v1_x", "status": "in_progress", "object": "interaction"},
}
USAGE = {
    "total_tokens": 346,
    "total_input_tokens": 11,
    "total_cached_tokens": 4,
    "total_output_tokens": 90,
    "total_tool_use_tokens": 0,
    "total_thought_tokens": 245,
}


def start(index: int, **step: Any) -> dict[str, Any]:
    return {"event_type": "step.start", "index": index, "step": step}


def delta(index: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"event_type": "step.delta", "index": index, "delta": {"type": kind, **more}}


def stop(index: int) -> dict[str, Any]:
    return {"event_type": "step.stop", "index": index}


def completed(status: str, **more: Any) -> dict[str, Any]:
    interaction = {"id": "v1_x", "status": status, "usage": USAGE, **more}
    return {"event_type": "interaction.completed", "interaction": interaction}


def summary(text: str) -> dict[str, Any]:
    return delta(0, "thought_summary", content={"type": "text", "text": text})


STEPS: list[dict[str, Any]] = [
    start(0, type="thought"),
    summary("h"),
    summary("m"),
    delta(0, "thought_signature", signature="c2ln"),
    stop(0),
    start(1, type="model_output", content=[{"type": "text", "text": "H"}]),
    delta(1, "text", text="i"),
    stop(1),
    start(2, type="function_call", id="c", name="f", arguments={}),
    delta(2, "arguments_delta", arguments='{"a":'),
    delta(2, "arguments_delta", arguments="1}"),
    stop(2),
]
WHOLE = [
    CREATED,
    {"event_type": "interaction.status_update", "interaction_id": "v1_x", "status": "in_progress"},
    *STEPS,
    completed("requires_action"),
]
OUTPUT = [
    {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "hm"}]},
    {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]},
    {"type": "function_call", "id": "c", "name": "f", "arguments": {"a": 1}},
]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}


def body(*events: Any) -> bytes:
    return "".join(
        f"event: {e.get('event_type', '')}\ndata: {json.dumps(e)}\n\n"
        if isinstance(e, dict)
        else f"event: done\ndata: {e}\n\n"
        for e in events
    ).encode()


def read(*events: Any) -> tuple[InteractionsStreamingProcessor, list[StreamEvent]]:
    processor, told = fed("gemini", body(*events))
    assert isinstance(processor, InteractionsStreamingProcessor)
    return processor, told


def test_a_call_whose_id_repeats_has_one_id_in_events_message_and_among_the_cut() -> None:
    second = start(3, type="function_call", id="c", name="f")
    processor, events = read(CREATED, *STEPS, second, delta(3, "arguments_delta", arguments="{"))
    ids = [call["id"] for call in processor.get_tool_calls()]
    assert ids == ["c", "c_2"] and processor.cut_calls() == {"c_2"}
    assert [event.call_id for event in events if event.type == "tool_start"] == ids


def test_events_in_any_order_and_twice_call_nothing_else() -> None:
    for seed in range(100):
        chance = random.Random(seed)
        events = [*STEPS, chance.choice((STEPS[0], STEPS[5], STEPS[8], STEPS[11]))]
        chance.shuffle(events)
        processor, _ = read(CREATED, *events, completed("requires_action"))
        (call,) = processor.get_tool_calls()
        arguments = call["function"]["arguments"]
        assert arguments in ('{"a":1}', '1}{"a":'), seed


def test_an_answer_becomes_events_a_message_and_calls() -> None:
    processor, events = read(*WHOLE, "[DONE]")
    assert [(e.type, e.text) for e in events] == [
        ("reasoning", "h"),
        ("reasoning", "m"),
        ("text", "H"),
        ("text", "i"),
        ("tool_start", ""),
        ("tool_arguments", '{"a":'),
        ("tool_arguments", "1}"),
        ("usage", ""),
        ("done", ""),
    ]
    message = processor.message()
    assert (message["content"], message["tool_calls"]) == ("Hi", [CALL])
    assert message["gemini_steps"][0] == OUTPUT[0]
    assert (processor.finish_reason, processor.complete) == ("tool_calls", True)
    assert processor.usage == {
        "prompt_tokens": 11,
        "completion_tokens": 335,
        "total_tokens": 346,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 245},
        "total_tool_use_tokens": 0,
    }
    assert processor.cut_calls() == frozenset()
    native = processor.native_message()
    assert native.pop("object") == "interaction"  # which Google's type of a whole one does not know
    assert native["steps"] == OUTPUT and complaint("interaction", native) == ""


def test_the_events_are_ones_that_googles_types_know() -> None:
    for event in WHOLE:
        assert complaint("event", event) == "", event


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_body_gives_the_same_wherever_it_is_cut(ends: str) -> None:
    comment = f": keep-alive{ends}{ends}".encode()
    data = comment + body(*WHOLE, "[DONE]").replace(b"\n", ends.encode())
    whole, events = fed("gemini", data)
    assert [e.type for e in events].count("done") == 1 and whole.complete
    for at in places(data):
        processor = InteractionsStreamingProcessor()
        made = [*processor.feed(data[:at]), *processor.feed(data[at:]), *processor.close()]
        assert (made, result(processor)) == (events, result(whole)), at


def test_a_body_that_breaks_off_anywhere_runs_no_call_that_is_not_whole() -> None:
    data = body(*WHOLE)
    for at in range(len(data)):
        processor, events = fed("gemini", data[:at])
        assert events[-1].type == "done"
        runs = [
            call for call in processor.get_tool_calls() if call["id"] not in processor.cut_calls()
        ]
        assert runs in ([], [CALL]), at


def test_an_interaction_that_requires_continuation_is_not_complete_and_runs_nothing() -> None:
    more = completed("requires_continuation", continuation_token="t")
    processor, events = read(CREATED, *STEPS, more)
    assert (processor.finish_reason, processor.complete) == ("length", False)
    assert processor.cut_calls() == {"c"} and processor.message()["content"] == "Hi"
    assert events[-1].data == {"finish_reason": "length", "complete": False}


def test_an_answer_that_met_its_limit_says_so_and_its_short_call_does_not_run() -> None:
    short = [CREATED, STEPS[8], STEPS[9], completed("incomplete")]
    processor, _ = read(*short)
    assert (processor.finish_reason, processor.complete) == ("length", True)
    assert processor.cut_calls() == {"c"}
    plain, _ = read(CREATED, *STEPS[5:8], completed("completed"))
    assert (plain.finish_reason, plain.message()["content"]) == ("stop", "Hi")
    assert read(CREATED, completed("budget_exceeded"))[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (
            {"event_type": "error", "error": {"code": "gateway_timeout", "message": "too late"}},
            "too late",
        ),
        (completed("failed", errors=[{"code": "x", "message": "broken"}]), "broken"),
        (completed("cancelled"), "the interaction cancelled"),
        ({"event_type": "x", "deep": json.loads("[" * 300 + "]" * 300)}, "nested too deeply"),
        ("{no", "the stream contains an event that is not JSON"),
    ],
)
def test_an_error_in_the_midst_ends_the_answer(event: Any, sentence: str) -> None:
    processor, events = read(CREATED, *STEPS[:6], event, *STEPS[6:], completed("completed"))
    (error,) = [e for e in events if e.type == "error"]
    assert sentence in error.text and not processor.complete
    assert processor.message()["content"] == "H" and not processor.has_tool_calls()


def test_a_whole_answer_where_a_stream_was_asked_for_is_read() -> None:
    asked = {"type": "user_input", "content": [{"type": "text", "text": "go"}]}
    document = {
        "id": "v1_x",
        "status": "requires_action",
        "steps": [asked, *OUTPUT],
        "usage": USAGE,
    }
    for given in (document, [document]):
        processor, events = fed("gemini", json.dumps(given).encode())
        assert processor.message() == read(*WHOLE)[0].message() and processor.complete
        assert [e.type for e in events].count("done") == 1
        assert "".join(e.text for e in events if e.type == "tool_arguments") == '{"a":1}'
    page, _ = fed("gemini", b"<html>Bad gateway</html>")
    assert "not a stream" in str(page.error)
    wrong, _ = fed("gemini", b'[{"error": {"code": 400, "message": "no", "status": "X"}}]')
    assert wrong.error is not None and wrong.error["message"] == "no"


def test_notes_media_and_the_vendors_own_steps_are_kept() -> None:
    note = {"type": "url_citation", "url": "https://x.test"}
    processor, events = read(
        start(0, type="google_search_call", id="g"),
        delta(0, "google_search_call", arguments={"queries": ["x"]}, signature="c2ln"),
        stop(0),
        delta(1, "text", text="a"),
        delta(1, "text_annotation_delta", annotations=[note]),
        delta(1, "image", data="AAAA", mime_type="image/png"),
        delta(1, "text", text="b"),
        completed("completed"),
    )
    search, said = processor.native_message()["steps"]
    assert search == {
        "type": "google_search_call",
        "id": "g",
        "arguments": {"queries": ["x"]},
        "signature": "c2ln",
    }
    assert said["content"] == [
        {"type": "text", "text": "a", "annotations": [note]},
        {"type": "image", "data": "AAAA", "mime_type": "image/png"},
        {"type": "text", "text": "b"},
    ]
    assert [e.text for e in events if e.type == "text"] == ["a", "b"]
    assert processor.finish_reason == "stop"


def test_events_without_an_index_go_to_the_last_step_and_a_call_without_an_id_gets_one() -> None:
    bare = [{k: v for k, v in event.items() if k != "index"} for event in STEPS]
    last = completed("requires_action")
    assert read(CREATED, *bare, last)[0].message() == read(*WHOLE)[0].message()
    nameless, told = read(start(0, type="function_call", name="f", arguments={"a": 1}), stop(0))
    (call,) = nameless.get_tool_calls()
    assert call["id"] == told[0].call_id and call["function"]["arguments"] == '{"a":1}'
    assert not read(start(0, type="function_call", id="c"), last)[0].has_tool_calls()


def test_arguments_that_are_no_json_stay_as_they_came() -> None:
    processor, _ = read(STEPS[8], delta(2, "arguments_delta", arguments="{no"), stop(2))
    assert processor.get_tool_calls()[0]["function"]["arguments"] == "{no"
    given = delta(2, "arguments_delta", arguments={"a": 1})
    assert read(STEPS[8], given, stop(2))[0].get_tool_calls() == [CALL]


def test_it_stands_ready_for_another_body() -> None:
    processor, _ = read(*WHOLE)
    processor.cleanup()
    assert processor.native_message() == {} and processor.usage is None
    processor.feed(body(*WHOLE))
    processor.close()
    assert result(processor) == result(read(*WHOLE)[0])
