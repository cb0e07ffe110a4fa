"""What every handler does with a stream."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conversation.agents_on_disk import Bench
from tests.conversation.streamed import context, openai_body
from vespe import GptHandler, StreamingRequest

REQUEST = StreamingRequest(payload={"messages": [{"role": "user", "content": "go"}]})


def test_events_come_as_the_bytes_do_and_results_after_them_with_the_time_that_they_waited(bench: Bench) -> None:
    heard: list[Any] = []
    result = GptHandler().process_stream([openai_body()], REQUEST, {}, context(bench, on_event=heard.append))
    kinds = [event.type for event in heard]
    assert kinds[0] == "text" and kinds[-2:] == ["tool_result"] * 2 and "tool_start" in kinds
    assert result.results[0].timing["wait_ms"] >= 0


def test_an_answer_without_calls_is_the_end(bench: Bench) -> None:
    body = b'data: {"choices": [{"index": 0, "delta": {"content": "bye"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    standard: dict[str, Any] = {}
    result = GptHandler().process_stream([body], REQUEST, standard, context(bench))
    assert (result.message["content"], result.continuation, result.next_request, standard["content"]) == ("bye", (), None, "bye")


def test_an_error_in_the_stream_runs_nothing(bench: Bench) -> None:
    body = openai_body().replace(b"data: [DONE]", b'data: {"error": {"message": "overloaded"}}')
    result = GptHandler().process_stream([body], REQUEST, {}, context(bench))
    assert result.error is not None and result.results == () and bench.ran == []


def test_a_connection_that_breaks_while_it_is_read_runs_nothing(bench: Bench) -> None:
    def broken() -> Iterator[bytes]:
        yield openai_body()
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        GptHandler().process_stream(broken(), REQUEST, {}, context(bench))
    assert bench.ran == []


def test_p40c_cut_at_every_byte_a_call_that_is_not_whole_never_runs(bench: Bench) -> None:
    body, shared = openai_body(), context(bench)
    whole = body.index(b"}]}}]}") if b"}]}}]}" in body else 0
    for at in range(len(body)):
        bench.ran.clear()
        result = GptHandler().process_stream([body[:at]], REQUEST, {}, shared)
        assert len(bench.ran) <= 1 and (at >= whole or not bench.ran)
        assert len(result.results) == len(result.message.get("tool_calls") or ())
