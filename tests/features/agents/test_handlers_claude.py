"""Anthropic's streamed answers, handled."""

import json
from typing import Any

import pytest

from tests.adapters.streams.streamed import anthropic_body, context, cut
from tests.features.agents.agents_on_disk import Bench
from vespe import ClaudeHandler, StreamingRequest

REQUEST = StreamingRequest(payload={"model": "m", "messages": [{"role": "user", "content": "go"}]})


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_one_user_turn_of_results_stands_directly_behind_the_calls(bench: Bench, size: int) -> None:
    standard: dict[str, Any] = {}
    result = ClaudeHandler().process_stream(
        cut(anthropic_body(), size), REQUEST, standard, context(bench)
    )
    assistant, results = result.continuation
    assert [block["type"] for block in assistant["content"]] == ["tool_use"] * 2 and results[
        "role"
    ] == "user"
    assert results["content"][0] == {"type": "tool_result", "tool_use_id": "c0", "content": "4"}
    assert results["content"][1]["is_error"] is True and len(results["content"]) == 2


def test_the_system_prompt_stays_what_it_was_text_or_blocks() -> None:
    prepare = ClaudeHandler().prepare_payload
    assert prepare({"system": "A"}, [], "B")["system"] == "A\n\nB"
    assert prepare({"system": [{"type": "text", "text": "A"}]}, [], "B")["system"][1] == {
        "type": "text",
        "text": "B",
    }


def test_thinking_comes_back_with_its_signature_in_its_place(bench: Bench) -> None:
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    }
    deltas = [
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "S="},
    ]
    events = [
        start,
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
    ]
    head, marked, tail = anthropic_body().partition(b"event: content_block_start")
    shifted = (
        (marked + tail).replace(b'"index": 1', b'"index": 2').replace(b'"index": 0', b'"index": 1')
    )
    body = (
        head
        + b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
        )
        + shifted
    )
    result = ClaudeHandler().process_stream([body], REQUEST, {}, context(bench))
    assert result.continuation[0]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "S=",
    }
