"""Streamed answers of OpenAI's Responses, handled."""

import json
from typing import Any

import pytest

from tests.adapters.judges import accepts, complaint
from tests.adapters.streams.streamed import context, cut
from tests.features.agents.agents_on_disk import Bench
from vespe import ResponsesHandler, StreamingRequest

REASONING = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "g"}
REQUEST = StreamingRequest(payload={"model": "m", "input": "go"})


def body(*numbers: int) -> bytes:
    calls = [
        {
            "type": "function_call",
            "id": f"fc{n}",
            "call_id": f"c{n}",
            "name": "double",
            "arguments": json.dumps({"n": n}),
            "status": "completed",
        }
        for n in numbers
    ]
    response = {"id": "r", "status": "completed", "output": [REASONING, *calls]}
    event = {"type": "response.completed", "response": response}
    return f"data: {json.dumps(event)}\n\n".encode()


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_the_items_come_back_as_they_came_and_an_output_for_each_call(
    bench: Bench, size: int
) -> None:
    shared = context(bench)
    result = ResponsesHandler().process_stream(cut(body(2), size), REQUEST, {}, shared)
    reasoning, call, output = result.continuation
    assert (reasoning, call["id"]) == (REASONING, "fc2")
    assert output == {"type": "function_call_output", "call_id": "c2", "output": "4"}
    assert result.next_request is not None
    payload: dict[str, Any] = result.next_request.payload
    assert payload["input"] == [{"role": "user", "content": "go"}, *result.continuation]
    assert accepts("openai-responses request", payload), complaint(
        "openai-responses request", payload
    )


def test_an_id_that_an_earlier_turn_has_used_is_made_unique(bench: Bench) -> None:
    shared = context(bench)
    first = ResponsesHandler().process_stream([body(2)], REQUEST, {}, shared)
    assert first.next_request is not None
    second = ResponsesHandler().process_stream([body(2)], first.next_request, {}, shared)
    assert [item.get("call_id") for item in second.continuation] == [None, "c2_2", "c2_2"]


def test_the_prompt_comes_behind_the_instructions() -> None:
    made = ResponsesHandler().prepare_payload({"instructions": "Be brief."}, [], "Use tools.")
    assert made == {"instructions": "Be brief.\n\nUse tools."}
