"""Anthropic's provider against real loopback servers: what it sends, and that it hears what
Anthropic's own SDK hears.
"""

from pathlib import Path

import pytest

from tests.adapters.judges import accepts, assert_rules, complaint
from tests.adapters.streams import streams
from tests.features.agents.providers import sdks
from tests.features.agents.providers.serving import (
    KEY,
    QUICK,
    USER,
    asking,
    in_turn,
    said,
    sent,
    stream,
)
from tests.support.loopback import Loopback
from vespe.adapters.streams.base import StreamEvent
from vespe.errors import MissingKey, ProviderError
from vespe.features.agents.providers.anthropic import AnthropicProvider
from vespe.models import JsonObject

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
HELLO = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "text", "text": "Hello"},
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 4},
}
STREAM = (
    b"event: message_start\ndata: "
    b'{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m",'
    b'"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}\n\n'
    b"event: content_block_start\ndata: "
    b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
    b"event: content_block_delta\ndata: "
    b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}\n\n'
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":1,'
    b'"content_block":{"type":"tool_use","id":"toolu_1","name":"add","input":{}}}\n\n'
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,'
    b'"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}}\n\n'
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}\n\n'
    b"event: message_delta\ndata: "
    b'{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},'
    b'"usage":{"output_tokens":4}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)
BY_DESIGN = {
    # Of several messages in one body the last one counts; the SDK puts them all together.
    "anthropic-anthropic-tool-search-deferred-bm25",
    "anthropic-anthropic-tool-search-deferred-regex",
    # Arguments that are cut stay as they came, and never run; the SDK mends them.
    "anthropic-incomplete-partial-json-response",
}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("", "/v1/messages"),
        ("/", "/v1/messages"),
        ("/v1", "/v1/messages"),
        ("/v1/", "/v1/messages"),
        ("/v1/messages", "/v1/messages"),
        ("/gateway/anthropic", "/gateway/anthropic/v1/messages"),
    ],
)
def test_a_base_url_is_taken_with_or_without_its_version(path: str, target: str) -> None:
    with Loopback(said(HELLO)) as server:
        provider = AnthropicProvider("m", base_url=server.url(path), api_key=KEY, patience=QUICK)
        provider.create_message(USER)
        provider.close()
        assert sent(server)[0] == target


def test_the_key_goes_as_anthropic_wants_it_with_the_version_of_the_api() -> None:
    with asking(said(HELLO), "anthropic", headers={"anthropic-beta": "tools"}) as (
        provider,
        server,
    ):
        provider.create_message(USER)
        headers = sent(server)[1]
    assert (headers["x-api-key"], headers["anthropic-version"], headers["anthropic-beta"]) == (
        KEY,
        "2023-06-01",
        "tools",
    )
    assert "authorization" not in headers


def test_a_request_is_one_that_anthropics_types_and_rules_take() -> None:
    calls = [{"id": "c.1", "type": "function", "function": {"name": "add", "arguments": ""}}]
    result = {"role": "tool", "tool_call_id": "c.1", "content": "no", "is_error": True}
    messages: list[JsonObject] = [
        {"role": "system", "content": "Be brief."},
        *USER,
        {"role": "assistant", "tool_calls": calls},
        result,
    ]
    later = {"role": "system", "content": "Now French."}
    options = {
        "max_completion_tokens": 9,
        "tool_choice": "required",
        "stop": "x",
        "parallel_tool_calls": False,
        "user": "u",
    }
    provider = AnthropicProvider("m", api_key=KEY)
    for streamed, kind in ((False, "anthropic request"), (True, "anthropic streamed request")):
        made = provider.payload([*messages, later, *USER], [TOOL], options=options, stream=streamed)
        assert accepts(kind, made), complaint(kind, made)
        assert_rules(made["messages"])
        assert (made["max_tokens"], made["stop_sequences"], made["metadata"]) == (
            9,
            ["x"],
            {"user_id": "u"},
        )
        assert made["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}


def test_a_stream_gives_what_a_whole_answer_gives() -> None:
    events: list[StreamEvent] = []
    with asking(in_turn(stream(STREAM), said(HELLO)), "anthropic") as (provider, _):
        streamed = provider.respond(USER, on_event=events.append)
        assert streamed == provider.respond(USER)
    assert streamed.message["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a":1}'}
    assert (streamed.finish_reason, streamed.usage) == (
        "tool_calls",
        {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    )
    assert "tool_start" in [event.type for event in events]


def test_an_error_of_anthropics_is_told_with_its_kind_and_request_id() -> None:
    body = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "max_tokens: required"},
        "request_id": "req_1",
    }
    with (
        asking(said(body, "request-id: req_1", status=400), "anthropic") as (provider, _),
        pytest.raises(ProviderError) as caught,
    ):
        provider.create_message(USER)
    assert (
        str(caught.value)
        == "anthropic answered with status 400: max_tokens: required (request req_1)"
    )
    assert (caught.value.vendor_code, caught.value.request_id) == ("invalid_request_error", "req_1")


def test_an_overloaded_endpoint_is_asked_again_but_not_once_it_streams() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    within = (
        STREAM[:600].rpartition(b"event:")[0] + b"event: error\ndata: "
        b'{"type":"error","error":{"type":"overloaded_error","message":"Over"}}\n\n'
    )
    with asking(in_turn(said(body, status=529), stream(within)), "anthropic") as (provider, server):
        with pytest.raises(ProviderError, match="anthropic answered with an error: Over") as caught:
            provider.create_message(USER, on_event=lambda event: None)
        assert len(server.requests) == 2
    assert (caught.value.vendor_code, caught.value.transient) == ("overloaded_error", True)


def test_without_a_key_a_sentence_names_the_variable_and_the_setting() -> None:
    with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY is not set"):
        AnthropicProvider("m").create_message(USER)


def test_this_provider_and_the_sdk_hear_the_same_in_the_recordings() -> None:
    alike, different = sdks.unlike(streams.kept(), "anthropic", BY_DESIGN)
    assert (different, alike >= 4) == ([], True)


def test_both_this_provider_and_the_sdk_hear_the_same_in_the_whole_corpus(shared: Path) -> None:
    alike, different = sdks.unlike(streams.of_corpus(shared), "anthropic", BY_DESIGN)
    assert (different, alike > 30) == ([], True)
