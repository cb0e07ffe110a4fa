"""OpenAI's streamed answers, handled."""

from typing import Any

import pytest

from tests.adapters.streams.streamed import context, cut, openai_body
from tests.features.agents.agents_on_disk import Bench
from vespe import GptHandler, StreamingRequest

REQUEST = StreamingRequest(payload={"model": "m", "messages": [{"role": "user", "content": "go"}]})


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_the_assistants_message_and_one_tool_message_for_each_call_follow(
    bench: Bench, size: int
) -> None:
    standard: dict[str, Any] = {}
    result = GptHandler().process_stream(
        cut(openai_body(), size), REQUEST, standard, context(bench)
    )
    assistant, first, second = result.continuation
    assert [call["id"] for call in assistant["tool_calls"]] == ["c0", "c1"] and first == {
        "role": "tool",
        "tool_call_id": "c0",
        "content": "4",
    }
    assert (
        second["tool_call_id"] == "c1"
        and "mend the call" in second["content"]
        and "is_error" not in second
    )
    assert result.next_request is not None and result.next_request.payload["messages"] == [
        *REQUEST.payload["messages"],
        *result.continuation,
    ]
    assert standard["finish_reason"] == "tool_calls" and len(standard["tool_calls"]) == 2


def test_an_id_that_the_request_already_holds_is_not_run_again(bench: Bench) -> None:
    shared = context(bench)
    first = GptHandler().process_stream([openai_body()], REQUEST, {}, shared)
    assert first.next_request is not None and bench.ran == ["double"]
    again = GptHandler().process_stream([openai_body()], first.next_request, {}, shared)
    assert bench.ran == ["double"] and all(
        "runs only once" in result.message["content"] for result in again.results
    )


def test_an_answer_may_be_given_whole(bench: Bench) -> None:
    assert (
        len(GptHandler().process_stream(openai_body(), REQUEST, {}, context(bench)).continuation)
        == 3
    )
