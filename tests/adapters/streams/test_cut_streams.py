"""Streams that break off at any byte, and bodies of any bytes: never a crash, and never a call with other arguments than the model's."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.streams.streams import MAKE, Recording, fed, kept, result, value
from vespe.http.event_stream import EventStream, Lines

SHORT = [recording for recording in kept() if len(recording.body) < 2100]
IDS = [recording.name for recording in SHORT]
WORDS = (
    *(
        "choices",
        "delta",
        "message",
        "tool_calls",
        "function_call",
        "index",
        "id",
        "type",
        "function",
        "name",
        "arguments",
        "content",
        "role",
    ),
    *("usage", "error", "finish_reason", "reasoning", "reasoning_details", "logprobs", "text", "thinking", "refusal", "custom", "input"),
    *("content_block", "partial_json", "signature", "citation", "stop_reason", "done", "done_reason", "created_at", "prompt_eval_count"),
)
KINDS = (
    *("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error"),
    *("text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta", "tool_use", "text", "thinking", "ping"),
)
leaves = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(KINDS) | st.text(max_size=4) | st.just('{"a": 1}')
anything = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5))
calls = st.fixed_dictionaries(
    {},
    optional={
        "index": anything,
        "id": leaves,
        "type": leaves,
        "function": st.fixed_dictionaries({}, optional={"name": leaves, "arguments": anything}),
    },
)
choices = st.fixed_dictionaries(
    {
        "delta": st.fixed_dictionaries(
            {}, optional={"content": anything, "tool_calls": st.lists(calls, max_size=3), "reasoning_details": anything}
        )
    },
    optional={"index": leaves, "finish_reason": leaves, "logprobs": anything},
)
chunks = st.fixed_dictionaries({"choices": st.lists(choices, max_size=2)}, optional={"usage": anything, "id": leaves})
blocks = st.fixed_dictionaries({"type": st.sampled_from(KINDS)}, optional={"name": leaves, "id": leaves, "input": anything, "text": leaves})
events = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional={"index": leaves, "content_block": blocks, "delta": anything, "message": anything, "usage": anything},
)
lines = st.fixed_dictionaries(
    {"message": anything}, optional={"done": leaves, "done_reason": leaves, "error": leaves, "eval_count": leaves}
)
DOCUMENTS = {"openai": chunks, "anthropic": events, "ollama": lines}


def framed(api: str, documents: list[Any]) -> bytes:
    ends = ("", "\n") if api == "ollama" else ("data: ", "\n\n")
    return "".join(f"{ends[0]}{json.dumps(document)}{ends[1]}" for document in documents).encode()


def assert_cut_is_told(recording: Recording) -> None:
    """Cut a body at every byte: what may be run is what the whole body calls, and the rest can be told from it."""
    whole = [(c["function"]["name"], value(c["function"]["arguments"])) for c in fed(recording.api, recording.body)[0].get_tool_calls()]
    for at in range(len(recording.body)):
        processor, _ = fed(recording.api, recording.body[:at])
        cut = processor.cut_calls()
        for call in processor.get_tool_calls():
            if call["id"] not in cut:
                assert (call["function"]["name"], value(call["function"]["arguments"])) in whole, (recording.name, at)
        assert not processor.complete or len(processor.get_tool_calls()) == len(whole), (recording.name, at)


@pytest.mark.parametrize("recording", SHORT, ids=IDS)
def test_p40c_a_stream_cut_at_any_byte_runs_no_call_with_changed_arguments(recording: Recording) -> None:
    assert_cut_is_told(recording)


@pytest.mark.parametrize("recording", SHORT, ids=IDS)
def test_a_stream_cut_before_its_end_is_not_complete(recording: Recording) -> None:
    marks = (b'"finish_reason":"', b'"finish_reason": "', b'"stop_reason":"', b'"done":true', b'"done": true', b"[DONE]")
    first_end = min(at for mark in marks if (at := recording.body.find(mark)) >= 0)
    processor, cut_events = fed(recording.api, recording.body[:first_end])
    assert not processor.complete and cut_events[-1].type == "done"
    assert cut_events[-1].data is not None and cut_events[-1].data["complete"] is False


@pytest.mark.parametrize("api", sorted(MAKE))
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_sequence_of_events_gives_the_same_however_it_is_cut(api: str, data: st.DataObject) -> None:
    body = framed(api, data.draw(st.lists(DOCUMENTS[api], max_size=8)))
    whole, whole_events = fed(api, body)
    size = data.draw(st.integers(1, 40))
    pieces, piece_events = fed(api, body, size)
    assert repr((whole_events, result(whole))) == repr((piece_events, result(pieces)))
    for call in whole.get_tool_calls():
        assert call["id"] and call["function"]["name"] and isinstance(call["function"]["arguments"], str)


@pytest.mark.parametrize("api", sorted(MAKE))
@settings(max_examples=80, deadline=None)
@given(body=st.binary(max_size=200), prefix=st.sampled_from([b"", b"data: ", b"data: {", b"event: error\ndata: ", b"{"]))
def test_any_bytes_at_all_are_answered(api: str, body: bytes, prefix: bytes) -> None:
    processor, made = fed(api, prefix + body, 5)
    assert made[-1].type == "done" and not result(processor)["has"]


@settings(max_examples=100, deadline=None)
@given(recording=st.sampled_from(SHORT), data=st.data())
def test_a_recording_with_bytes_changed_lost_or_doubled_is_answered(recording: Recording, data: st.DataObject) -> None:
    start, end = (data.draw(st.integers(0, len(recording.body))) for _ in range(2))
    body = recording.body[:start] + data.draw(st.binary(max_size=6)) + recording.body[end:]
    processor, made = fed(recording.api, body, data.draw(st.integers(1, 99)))
    assert "done" in [event.type for event in made]
    result(processor)
    json.dumps([event.as_json() for event in made])


@pytest.mark.parametrize("api", sorted(MAKE))
@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_p40_a_body_past_its_caps_ends_with_a_sentence_and_keeps_what_came(api: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for made in (EventStream, Lines):
        names = made.__init__.__kwdefaults__
        monkeypatch.setattr(made.__init__, "__kwdefaults__", {**(names or {}), "max_body": 400})
    said = {
        "openai": {"choices": [{"index": 0, "delta": {"content": "a"}}]},
        "anthropic": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        "ollama": {"message": {"role": "assistant", "content": "a"}, "done": False},
    }
    body = framed(api, [{"type": "message_start", "message": {}, "choices": []}, *[said[api]] * 20])
    processor, made_events = fed(api, body, size)
    assert [event.text for event in made_events if event.type == "error"] == ["the body is larger than 400 bytes"]
    assert 0 < len(str(processor.message()["content"])) < 10 and not processor.complete
