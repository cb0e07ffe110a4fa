"""Streams that break off at any byte, and bodies of any bytes: never a crash, and never a call with
other arguments than the model's.
"""

import json
import random
from typing import Any

import pytest

from tests.adapters.streams.streams import MAKE, Recording, fed, kept, result, value
from tests.support.nonsense import Nonsense
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
    *(
        "usage",
        "error",
        "finish_reason",
        "reasoning",
        "reasoning_details",
        "logprobs",
        "text",
        "thinking",
        "refusal",
        "custom",
        "input",
    ),
    *(
        "content_block",
        "partial_json",
        "signature",
        "citation",
        "stop_reason",
        "done",
        "done_reason",
        "created_at",
        "prompt_eval_count",
    ),
)
KINDS = (
    *(
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
    ),
    *(
        "text_delta",
        "input_json_delta",
        "thinking_delta",
        "signature_delta",
        "citations_delta",
        "tool_use",
        "text",
        "thinking",
        "ping",
    ),
)
RESPONSE_KINDS = (
    "response.created",
    "response.output_item.added",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_item.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.output_text.annotation.added",
    "response.content_part.added",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.delta",
    "response.completed",
)


def document(source: Nonsense, api: str) -> Any:
    """Give a piece of an answer of an API, whose fields have its names and any values."""

    def leaf() -> Any:
        return source.choice(
            (
                None,
                True,
                -1,
                0,
                1,
                2,
                0.5 if source.random() < 0.97 else float("nan"),
                '{"a": 1}',
                source.choice(KINDS),
                source.text(4),
            )
        )

    def anything() -> Any:
        return source.anything(WORDS, leaf=leaf)

    def call() -> Any:
        function = {"name": lambda: source.choice(("add", leaf())), "arguments": anything}
        return source.fields(
            {
                "index": anything,
                "id": leaf,
                "type": leaf,
                "function": lambda: source.fields(function, 0.8),
            },
            0.7,
        )

    def choice() -> Any:
        delta = source.fields(
            {
                "content": anything,
                "tool_calls": lambda: source.some(call),
                "reasoning_details": anything,
            }
        )
        return {
            "delta": delta,
            **source.fields({"index": leaf, "finish_reason": leaf, "logprobs": anything}),
        }

    if api == "openai":
        return {"choices": source.some(choice, 2), **source.fields({"usage": anything, "id": leaf})}
    if api == "openai-responses":
        return response_event(source, leaf, anything)
    if api == "gemini":
        return interaction_event(source, leaf, anything)
    if api == "ollama":
        message = source.fields(
            {
                "role": lambda: "assistant",
                "content": anything,
                "tool_calls": lambda: source.some(call),
            },
            0.8,
        )
        return {
            "message": source.choice((message, anything())),
            **source.fields(dict.fromkeys(("done", "done_reason", "error", "eval_count"), leaf)),
        }

    def block() -> Any:
        made = {
            "id": leaf,
            "input": anything,
            "text": leaf,
            "name": lambda: source.choice(("add", leaf())),
        }
        return {
            "type": source.choice(("tool_use", source.choice(KINDS))),
            **source.fields(made, 0.7),
        }

    made = {
        "index": lambda: source.choice((0, 1, leaf())),
        "content_block": block,
        "delta": anything,
        "message": anything,
        "usage": anything,
    }
    return {"type": source.choice((*KINDS[1:4], source.choice(KINDS))), **source.fields(made, 0.7)}


def response_event(source: Nonsense, leaf: Any, anything: Any) -> Any:
    """Give an event of Responses whose fields are any values."""

    def item() -> Any:
        made = {
            "id": leaf,
            "call_id": leaf,
            "arguments": anything,
            "content": anything,
            "name": lambda: source.choice(("add", leaf())),
        }
        kinds = ("function_call", "message", "reasoning", leaf())
        return {"type": source.choice(kinds), **source.fields(made, 0.7)}

    made = {
        "output_index": lambda: source.choice((0, 1, leaf())),
        "item_id": leaf,
        "item": item,
        "delta": anything,
        "text": anything,
        "part": anything,
        "arguments": anything,
        "response": lambda: source.fields(
            {"status": leaf, "usage": anything, "output": lambda: source.some(item)}
        ),
    }
    return {"type": source.choice(RESPONSE_KINDS), **source.fields(made, 0.7)}


def interaction_event(source: Nonsense, leaf: Any, anything: Any) -> Any:
    """Give an event of Interactions whose fields are any values."""

    def step() -> Any:
        made = {
            "id": leaf,
            "arguments": anything,
            "content": anything,
            "summary": anything,
            "name": lambda: source.choice(("add", leaf())),
        }
        kinds = ("function_call", "model_output", "thought", leaf())
        return {"type": source.choice(kinds), **source.fields(made, 0.7)}

    def delta() -> Any:
        kinds = ("text", "arguments_delta", "thought_summary", "text_annotation_delta", leaf())
        made = {"text": anything, "arguments": anything, "content": anything, "annotations": leaf}
        return {"type": source.choice(kinds), **source.fields(made, 0.7)}

    made = {
        "index": lambda: source.choice((0, 1, leaf())),
        "step": step,
        "delta": delta,
        "interaction": lambda: source.fields({"status": leaf, "usage": anything, "id": leaf}),
    }
    kinds = ("step.start", "step.start", "step.delta", "step.stop", "interaction.created", leaf())
    return {"event_type": source.choice(kinds), **source.fields(made, 0.8)}


def framed(api: str, documents: list[Any]) -> bytes:
    ends = ("", "\n") if api == "ollama" else ("data: ", "\n\n")
    return "".join(f"{ends[0]}{json.dumps(document)}{ends[1]}" for document in documents).encode()


def assert_cut_is_told(recording: Recording) -> None:
    """Cut a body at every byte: what may be run is what the whole body calls, and the rest can be
    told from it.
    """
    whole = [
        (c["function"]["name"], value(c["function"]["arguments"]))
        for c in fed(recording.api, recording.body)[0].get_tool_calls()
    ]
    for at in range(len(recording.body)):
        processor, _ = fed(recording.api, recording.body[:at])
        cut = processor.cut_calls()
        for call in processor.get_tool_calls():
            if call["id"] not in cut:
                assert (call["function"]["name"], value(call["function"]["arguments"])) in whole, (
                    recording.name,
                    at,
                )
        assert not processor.complete or len(processor.get_tool_calls()) == len(whole), (
            recording.name,
            at,
        )


@pytest.mark.parametrize("recording", SHORT, ids=IDS)
def test_p40c_a_stream_cut_at_any_byte_runs_no_call_with_changed_arguments(
    recording: Recording,
) -> None:
    assert_cut_is_told(recording)


@pytest.mark.parametrize("recording", SHORT, ids=IDS)
def test_a_stream_cut_before_its_end_is_not_complete(recording: Recording) -> None:
    marks = (
        b'"finish_reason":"',
        b'"finish_reason": "',
        b'"stop_reason":"',
        b'"done":true',
        b'"done": true',
        b"[DONE]",
    )
    first_end = min(at for mark in marks if (at := recording.body.find(mark)) >= 0)
    processor, cut_events = fed(recording.api, recording.body[:first_end])
    assert not processor.complete and cut_events[-1].type == "done"
    assert cut_events[-1].data is not None and cut_events[-1].data["complete"] is False


@pytest.mark.parametrize("api", sorted(MAKE))
def test_any_sequence_of_events_gives_the_same_however_it_is_cut(api: str) -> None:
    called = 0
    for seed in range(400):
        source = Nonsense(seed)
        start = source.choice(([], [{"type": "message_start", "message": {}}]))
        body = framed(api, [*start, *(document(source, api) for _ in range(source.randint(0, 8)))])
        whole, whole_events = fed(api, body)
        pieces, piece_events = fed(api, body, source.randint(1, 40))
        assert repr((whole_events, result(whole))) == repr((piece_events, result(pieces))), seed
        for call in whole.get_tool_calls():
            assert (
                call["id"]
                and call["function"]["name"]
                and isinstance(call["function"]["arguments"], str)
            ), seed
        called += whole.has_tool_calls()
    assert called > 20


@pytest.mark.parametrize("api", sorted(MAKE))
@pytest.mark.parametrize("prefix", [b"", b"data: ", b"data: {", b"event: error\ndata: ", b"{"])
def test_any_bytes_at_all_are_answered(api: str, prefix: bytes) -> None:
    for seed in range(80):
        source = random.Random(seed)
        processor, made = fed(api, prefix + source.randbytes(source.randint(0, 200)), 5)
        assert made[-1].type == "done" and not result(processor)["has"], seed


@pytest.mark.parametrize("recording", SHORT, ids=IDS)
def test_a_recording_with_bytes_changed_lost_or_doubled_is_answered(recording: Recording) -> None:
    for seed in range(20):
        source = random.Random(seed)
        start, end = (source.randint(0, len(recording.body)) for _ in range(2))
        body = (
            recording.body[:start] + source.randbytes(source.randint(0, 6)) + recording.body[end:]
        )
        processor, made = fed(recording.api, body, source.randint(1, 99))
        assert "done" in [event.type for event in made], seed
        result(processor)
        json.dumps([event.as_json() for event in made])


@pytest.mark.parametrize("api", sorted(MAKE))
@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_p40_a_body_past_its_caps_ends_with_a_sentence_and_keeps_what_came(
    api: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for made in (EventStream, Lines):
        names = made.__init__.__kwdefaults__
        monkeypatch.setattr(made.__init__, "__kwdefaults__", {**(names or {}), "max_body": 400})
    said = {
        "openai": {"choices": [{"index": 0, "delta": {"content": "a"}}]},
        "anthropic": {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "a"},
        },
        "ollama": {"message": {"role": "assistant", "content": "a"}, "done": False},
        "gemini": {
            "event_type": "step.delta",
            "index": 0,
            "delta": {"type": "text", "text": "a"},
        },
        "openai-responses": {
            "type": "response.output_text.delta",
            "output_index": 0,
            "delta": "a",
        },
    }
    body = framed(api, [{"type": "message_start", "message": {}, "choices": []}, *[said[api]] * 20])
    processor, made_events = fed(api, body, size)
    assert [event.text for event in made_events if event.type == "error"] == [
        "the body is larger than 400 bytes"
    ]
    assert 0 < len(str(processor.message()["content"])) < 10 and not processor.complete
