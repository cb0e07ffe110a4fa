"""One turn of any provider: events as they come, errors inside of answers, and what an incomplete
answer says of itself.
"""

import pytest

from tests.features.agents.providers.serving import (
    CHUNKS,
    KINDS,
    USER,
    asking,
    chunked,
    kept_open,
    said,
    stream,
)
from tests.support.loopback import Exchange
from vespe.adapters.streams.base import StreamEvent
from vespe.errors import ProviderError
from vespe.features.agents.providers import turns
from vespe.features.agents.providers.base import ModelAnswer
from vespe.features.agents.providers.retries import Patience


def test_an_answer_that_did_not_end_says_so_with_the_calls_that_may_be_cut() -> None:
    call = b'{"tool_calls":[{"index":0,"id":"c9","function":{"name":"f","arguments":"{\\"a\\""}}]}'
    body = CHUNKS.partition(b"data: [DONE]")[0].replace(
        b'{"content":"lo"},"finish_reason":"stop"', call
    )
    with asking(stream(body)) as (provider, _):
        answer = provider.respond(USER, on_event=lambda event: None)
    assert (answer.complete, answer.cut_calls, answer.finish_reason) == (
        False,
        frozenset(["c9"]),
        None,
    )


@pytest.mark.parametrize(
    "error",
    [{"message": "no credit", "code": 402}, {"message": "no credit", "type": "t"}, "no credit"],
)
def test_an_error_in_a_successful_answer_is_an_error(error: object) -> None:
    with (
        asking(said({"error": error})) as (provider, _),
        pytest.raises(ProviderError, match="openai answered with an error: no credit"),
    ):
        provider.create_message(USER)


def test_the_events_of_a_whole_answer_are_told_in_its_order() -> None:
    events: list[StreamEvent] = []
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    message = {
        "role": "assistant",
        "content": "Hello",
        "reasoning_content": "hm",
        "tool_calls": calls,
    }
    turns.retell(
        ModelAnswer(message=message, finish_reason="tool_calls", usage={"total_tokens": 3}),
        events.append,
    )
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


ANTHROPIC = (
    b'data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}\n\n'
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}\n\n'
    b'data: {"type":"content_block_stop","index":0}\n\n'
    b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
    b'data: {"type":"message_stop"}\n\n'
)
OLLAMA = b'{"model":"m","message":{"role":"assistant","content":"Hello"},"done":true,"done_reason":"stop"}\n'
ENDED = {"openai": CHUNKS, "anthropic": ANTHROPIC, "ollama": OLLAMA}


def unheard(_: StreamEvent) -> None:
    return None


@pytest.mark.parametrize("trickle", [b"", b": still here\n\n"])
@pytest.mark.parametrize("api", ENDED)
def test_an_answer_ends_with_its_protocol_though_the_connection_stays_open(
    api: str, trickle: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_LAST_S", 0.2)
    monkeypatch.setattr(turns, "_DRAINED_S", 0.2)
    with asking(
        kept_open(ENDED[api], KINDS[api], trickle=trickle), api, patience=Patience(stall_s=600)
    ) as (provider, server):
        for _ in range(2):
            answer = provider.respond(USER, on_event=unheard)
            assert (answer.message["content"], answer.complete) == ("Hello", True)
        assert server.connections == 2


def test_an_answer_with_a_finish_reason_and_no_end_is_waited_for_a_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_LAST_S", 0.2)
    with asking(
        kept_open(CHUNKS.partition(b"data: [DONE]")[0]), patience=Patience(stall_s=600)
    ) as (provider, _):
        assert provider.create_message(USER, on_event=unheard)["content"] == "Hello"


def test_a_second_message_of_a_body_is_read_though_the_first_was_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_LAST_S", 0.2)
    both = ANTHROPIC + ANTHROPIC.replace(b"Hello", b"And more")
    with asking(chunked(both, size=len(ANTHROPIC)), "anthropic") as (provider, _):
        assert provider.create_message(USER, on_event=unheard)["content"] == "And more"


def test_a_connection_that_breaks_behind_the_end_of_an_answer_takes_nothing_from_it() -> None:
    def broken(exchange: Exchange) -> bool:
        kept_open_head = (
            b"HTTP/1.1 200 OK\r\nContent-Type: "
            b"text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        exchange.send(kept_open_head + f"{len(CHUNKS):x}\r\n".encode() + CHUNKS + b"\r\n")
        return False

    with asking(broken) as (provider, _):
        assert provider.respond(USER, on_event=unheard).complete


def test_an_error_in_a_stream_ends_it_though_the_connection_stays_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_DRAINED_S", 0.2)
    body = b'data: {"error": {"message": "no credit"}}\n\n'
    with asking(kept_open(body)) as (provider, _), pytest.raises(ProviderError, match="no credit"):
        provider.create_message(USER, on_event=unheard)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
@pytest.mark.parametrize("streamed", [True, False])
def test_a_stream_is_read_as_one_under_any_content_type_and_unasked(
    kind: str, *, streamed: bool
) -> None:
    with asking(stream(b"\xef\xbb\xbf" + CHUNKS, kind)) as (provider, _):
        assert (
            provider.create_message(USER, on_event=unheard if streamed else None)["content"]
            == "Hello"
        )


def test_lines_of_ollama_are_read_though_no_stream_was_asked_for() -> None:
    lines = (
        b'{"model":"m","message":{"role":"assistant","content":"Hel"},"done":false}\n'
        + OLLAMA.replace(b"Hello", b"lo")
    )
    with asking(stream(lines, KINDS["ollama"]), "ollama") as (provider, _):
        assert provider.create_message(USER)["content"] == "Hello"
