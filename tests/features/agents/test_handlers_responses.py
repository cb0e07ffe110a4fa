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


PROGRAM = {"type": "program", "id": "pr", "call_id": "p1", "code": "…", "fingerprint": "fp"}


def called_by(program: str, *before: dict[str, Any], call_id: str = "c1") -> bytes:
    call = {
        "type": "function_call",
        "id": "fc",
        "call_id": call_id,
        "name": "double",
        "arguments": '{"n": 2}',
        "caller": {"type": "program", "caller_id": program},
    }
    return json.dumps({"id": "r", "status": "completed", "output": [*before, call]}).encode()


@pytest.mark.parametrize(
    ("runner", "program", "said"),
    [
        ([{"type": "programmatic_tool_calling"}], "p1", "4"),
        ([{"type": "programmatic_tool_calling"}], "p2", "a program that is not in this"),
        ([], "p1", "programs may not call 'double'"),
    ],
)
def test_a_program_calls_a_tool_that_was_declared_to_be_its_to_call_and_no_stranger_does(
    bench: Bench, runner: list[Any], program: str, said: str
) -> None:
    shared = context(bench)
    request = {"model": "m", "input": "go", "tools": runner}
    payload = ResponsesHandler().prepare_payload(request, shared.tools)
    asked = StreamingRequest(payload=payload)
    result = ResponsesHandler().process_stream(called_by(program, PROGRAM), asked, {}, shared)
    kept, call, output = result.continuation
    assert kept == PROGRAM and output["caller"] == call["caller"]
    assert said in output["output"] and result.results[0].ran is (said == "4")
    assert result.next_request is not None
    told = complaint("openai-responses request", result.next_request.payload)
    assert not told, told


def test_a_program_of_an_earlier_turn_goes_on_calling(bench: Bench) -> None:
    shared = context(bench)
    request = {"model": "m", "input": [], "tools": [{"type": "programmatic_tool_calling"}]}
    asked = StreamingRequest(payload=ResponsesHandler().prepare_payload(request, shared.tools))
    first = ResponsesHandler().process_stream(called_by("p1", PROGRAM), asked, {}, shared)
    assert first.next_request is not None
    body = called_by("p1", call_id="c2")
    second = ResponsesHandler().process_stream(body, first.next_request, {}, shared)
    assert [one.outcome.result for one in second.results] == [4]
