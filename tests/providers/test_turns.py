"""One turn of any provider: events as they come, errors inside of answers, and what an incomplete answer says of itself."""

import pytest

from tests.providers.serving import CHUNKS, USER, asking, said, stream
from vespe.conversation.stream_base import StreamEvent
from vespe.errors import ProviderError
from vespe.providers import turns
from vespe.providers.base import Answer


def test_an_answer_that_did_not_say_that_it_was_over_tells_so_with_the_calls_that_may_be_cut() -> None:
    call = b'{"tool_calls":[{"index":0,"id":"c9","function":{"name":"f","arguments":"{\\"a\\""}}]}'
    body = CHUNKS.partition(b"data: [DONE]")[0].replace(b'{"content":"lo"},"finish_reason":"stop"', call)
    with asking(stream(body)) as (provider, _):
        answer = provider.respond(USER, on_event=lambda event: None)
    assert (answer.complete, answer.cut_calls, answer.finish_reason) == (False, frozenset(["c9"]), None)


@pytest.mark.parametrize("error", [{"message": "no credit", "code": 402}, {"message": "no credit", "type": "t"}, "no credit"])
def test_an_error_in_a_successful_answer_is_an_error(error: object) -> None:
    with asking(said({"error": error})) as (provider, _), pytest.raises(ProviderError, match="openai answered with an error: no credit"):
        provider.create_message(USER)


def test_the_events_of_a_whole_answer_are_told_in_its_order() -> None:
    events: list[StreamEvent] = []
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    message = {"role": "assistant", "content": "Hello", "reasoning_content": "hm", "tool_calls": calls}
    turns.retell(Answer(message=message, finish_reason="tool_calls", usage={"total_tokens": 3}), events.append)
    assert [(event.type, event.text, event.call_id) for event in events] == [
        ("reasoning", "hm", ""),
        ("text", "Hello", ""),
        ("tool_start", "", "c1"),
        ("tool_arguments", "{}", "c1"),
        ("usage", "", ""),
        ("done", "", ""),
    ]


def test_what_an_event_s_hearer_raises_ends_the_turn_and_its_connection() -> None:
    def stop(_: StreamEvent) -> None:
        raise KeyboardInterrupt

    with asking(stream(CHUNKS)) as (provider, server):
        with pytest.raises(KeyboardInterrupt):
            provider.create_message(USER, on_event=stop)
        assert provider.create_message(USER, on_event=lambda event: None)["content"] == "Hello"
        assert server.connections == 2
