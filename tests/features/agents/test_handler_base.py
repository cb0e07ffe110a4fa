"""What every handler does with a stream."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.streams.streamed import anthropic_body, context, ollama_body, openai_body
from tests.features.agents.agents_on_disk import NUMBER, Bench
from vespe import (
    ClaudeHandler,
    EventSystem,
    GptHandler,
    OllamaHandler,
    StreamContext,
    StreamingRequest,
)
from vespe.errors import UsageError
from vespe.projects import user_config

REQUEST = StreamingRequest(payload={"messages": [{"role": "user", "content": "go"}]})


def breaking(body: bytes) -> Iterator[bytes]:
    yield body
    raise ConnectionResetError


def test_events_come_as_the_bytes_do_and_results_after_them_with_the_time_that_they_waited(
    bench: Bench,
) -> None:
    heard: list[Any] = []
    result = GptHandler().process_stream(
        [openai_body()], REQUEST, {}, context(bench, on_event=heard.append)
    )
    kinds = [event.type for event in heard]
    assert kinds[0] == "text" and kinds[-2:] == ["tool_result"] * 2 and "tool_start" in kinds
    assert result.results[0].timing["wait_ms"] >= 0


def test_an_answer_without_calls_is_the_end(bench: Bench) -> None:
    body = (
        b'data: {"choices": [{"index": 0, "delta": {"content": "bye"}, "finish_reason": '
        b'"stop"}]}\n\ndata: [DONE]\n\n'
    )
    standard: dict[str, Any] = {}
    result = GptHandler().process_stream([body], REQUEST, standard, context(bench))
    assert (
        result.message["content"],
        result.continuation,
        result.next_request,
        standard["content"],
    ) == ("bye", (), None, "bye")


def test_an_error_in_the_stream_runs_nothing(bench: Bench) -> None:
    body = openai_body().replace(b"data: [DONE]", b'data: {"error": {"message": "overloaded"}}')
    result = GptHandler().process_stream([body], REQUEST, {}, context(bench))
    assert result.error is not None and result.results == () and bench.ran == []


def test_a_connection_that_breaks_while_it_is_read_runs_nothing(bench: Bench) -> None:
    with pytest.raises(ConnectionResetError):
        GptHandler().process_stream(
            breaking(openai_body().replace(b"data: [DONE]", b": and")), REQUEST, {}, context(bench)
        )
    assert bench.ran == []


@pytest.mark.parametrize(
    ("handler", "body"), [(GptHandler, openai_body()), (OllamaHandler, ollama_body())]
)
def test_what_comes_behind_the_end_of_an_answer_is_not_read(
    bench: Bench, handler: Any, body: bytes
) -> None:
    result = handler().process_stream(breaking(body), REQUEST, {}, context(bench))
    assert (result.complete, len(result.results), bench.ran) == (True, 2, ["double"])


def test_anthropics_stream_is_read_to_its_end_since_another_message_may_come(bench: Bench) -> None:
    with pytest.raises(ConnectionResetError):
        ClaudeHandler().process_stream(breaking(anthropic_body()), REQUEST, {}, context(bench))
    assert bench.ran == []


def test_p40c_who_says_no_policy_gets_that_of_the_configurations(bench: Bench) -> None:
    bench.tool("double", lambda n: n * 2, schema=NUMBER, annotations={"readOnlyHint": True})
    for denied in ([], ["double"]):
        user_config.set_value("approvals.deny", denied)
        path = bench.project().call_path()
        for runner in (path, EventSystem(path)):
            bench.ran.clear()
            GptHandler().process_stream(
                [openai_body()],
                REQUEST,
                {},
                StreamContext(tools=[path.tool("double")], runner=runner),
            )
            assert bench.ran == ([] if denied else ["double"])


def test_a_runner_without_a_project_needs_a_policy() -> None:
    with pytest.raises(UsageError, match="no policy decides"):
        StreamContext(tools=[], runner=EventSystem())


def test_p40c_cut_at_every_byte_a_call_that_is_not_whole_never_runs(bench: Bench) -> None:
    body, shared = openai_body(), context(bench)
    whole = body.index(b"}]}}]}") if b"}]}}]}" in body else 0
    for at in range(len(body)):
        bench.ran.clear()
        result = GptHandler().process_stream([body[:at]], REQUEST, {}, shared)
        assert len(bench.ran) <= 1 and (at >= whole or not bench.ran)
        assert len(result.results) == len(result.message.get("tool_calls") or ())
