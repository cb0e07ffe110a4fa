"""The provider of OpenAI's Responses against real loopback servers: what it sends, and what it
hears.
"""

import json
from pathlib import Path

import pytest

from tests.adapters.judges import accepts, complaint
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
from vespe.agents.recordings import RecordingProvider, ReplayProvider
from vespe.errors import Diverged, InvalidDocument, MissingKey, ProviderError, UsageError
from vespe.features.agents import providers
from vespe.features.agents.providers.openai_responses import OpenAIResponsesProvider
from vespe.models import JsonObject
from vespe.projects import user_config

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
REASONING = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAA"}
MESSAGE = {
    "type": "message",
    "id": "msg",
    "role": "assistant",
    "status": "completed",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
}
CALL = {
    "type": "function_call",
    "id": "fc",
    "call_id": "c1",
    "name": "add",
    "arguments": '{"a":1}',
    "status": "completed",
}
HELLO = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "m",
    "error": None,
    "output": [REASONING, MESSAGE, CALL],
    "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
}
LAST = HELLO | {"output": [MESSAGE | {"id": "msg2"}]}
EVENTS: list[JsonObject] = [
    {"type": "response.created", "response": HELLO | {"status": "in_progress", "output": []}},
    {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
    {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Hel"},
    {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "lo"},
    {"type": "response.completed", "response": HELLO},
]
STREAM = b"".join(
    f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in EVENTS
)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("", "/v1/responses"),
        ("/", "/v1/responses"),
        ("/v1", "/v1/responses"),
        ("/v1/", "/v1/responses"),
        ("/v1/responses", "/v1/responses"),
        ("/api/v1?x=1", "/api/v1/responses?x=1"),
    ],
)
def test_a_base_url_is_taken_with_or_without_its_path(path: str, target: str) -> None:
    with Loopback(said(HELLO)) as server:
        provider = OpenAIResponsesProvider(
            "m", base_url=server.url(path), api_key=KEY, organization="org", patience=QUICK
        )
        provider.create_message(USER)
        provider.close()
        found, headers, _ = sent(server)
    assert found == target and headers["authorization"] == f"Bearer {KEY}"
    assert headers["openai-organization"] == "org"


def test_a_request_is_one_that_openais_types_take_and_asks_the_vendor_to_keep_nothing() -> None:
    options = {
        "max_tokens": 9,
        "reasoning_effort": "low",
        "verbosity": "low",
        "tool_choice": {"type": "function", "function": {"name": "add"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
        "temperature": None,
    }
    messages: list[JsonObject] = [{"role": "system", "content": "Be brief."}, *USER]
    provider = OpenAIResponsesProvider("m", api_key=KEY)
    for streamed, kind in (
        (False, "openai-responses request"),
        (True, "openai-responses streamed request"),
    ):
        made = provider.payload(messages, [TOOL], options=options, stream=streamed)
        assert accepts(kind, made), complaint(kind, made)
        assert (made["store"], made["include"]) == (False, ["reasoning.encrypted_content"])
        assert (made["max_output_tokens"], made["reasoning"]) == (9, {"effort": "low"})
        assert made["tool_choice"] == {"type": "function", "name": "add"}
        assert made["text"] == {
            "format": {"type": "json_schema", "name": "n", "schema": {}},
            "verbosity": "low",
        }
    plain = provider.payload(USER, options={"response_format": {"type": "json_object"}})
    assert plain["text"] == {"format": {"type": "json_object"}} and "tools" not in plain


def test_a_request_is_one_that_the_document_of_open_responses_takes() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    answered: list[JsonObject] = [
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "g"},
        {"type": "message", "role": "assistant", "id": "m", "status": "completed"},
        {"type": "function_call", "id": "fc", "status": "completed"},
    ]
    function = {"name": "add", "arguments": "{}"}
    messages: list[JsonObject] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "See"}, picture]},
        {
            "role": "assistant",
            "content": "So.",
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
            "openai_items": answered,
        },
        {"role": "tool", "tool_call_id": "c", "content": [picture], "is_error": True},
    ]
    for options in (None, {"max_tokens": 99, "tool_choice": "required", "temperature": 0.1}):
        for streamed in (False, True):
            provider = OpenAIResponsesProvider("m", api_key=KEY)
            made = provider.payload(messages, [TOOL], options=options, stream=streamed)
            assert accepts("open responses request", made), complaint(
                "open responses request", made
            )


def test_an_option_that_the_api_does_not_know_is_named() -> None:
    provider = OpenAIResponsesProvider("m", api_key=KEY)
    with pytest.raises(UsageError, match="does not support `stop`"):
        provider.payload(USER, options={"stop": "."})
    with pytest.raises(UsageError, match="'input' cannot be set"):
        provider.payload(USER, options={"input": []})


def test_a_stream_gives_what_a_whole_answer_gives() -> None:
    with asking(in_turn(said(HELLO), stream(STREAM)), "openai-responses") as (provider, _):
        whole = provider.respond(USER)
        events: list[StreamEvent] = []
        streamed = provider.respond(USER, on_event=events.append)
    assert whole == streamed and whole.finish_reason == "tool_calls"
    assert whole.usage == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert whole.message["content"] == "Hello" and whole.message["tool_calls"][0]["id"] == "c1"
    assert [event.text for event in events if event.type == "text"] == ["Hel", "lo"]


def test_what_came_goes_back_as_it_came_with_the_results() -> None:
    with asking(in_turn(said(HELLO), said(LAST)), "openai-responses") as (provider, server):
        message = provider.create_message(USER, [TOOL])
        result = {"role": "tool", "tool_call_id": "c1", "content": "2"}
        provider.create_message([*USER, message, result], [TOOL])
        request = sent(server)[2]
    assert request["input"] == [
        {"type": "message", "role": "user", "content": "Hi"},
        REASONING,
        MESSAGE,
        CALL,
        {"type": "function_call_output", "call_id": "c1", "output": "2"},
    ]
    assert accepts("openai-responses request", request)


def test_a_conversation_that_the_api_refuses_is_not_sent() -> None:
    with asking(said(HELLO), "openai-responses") as (provider, server):
        with pytest.raises(InvalidDocument, match="answers no call"):
            provider.create_message([{"role": "tool", "tool_call_id": "c", "content": "2"}])
        assert server.requests == []


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (HELLO | {"status": "failed", "error": {"code": "x", "message": "no"}}, "an error: no"),
        (HELLO | {"status": "in_progress", "output": []}, "returned an empty answer"),
    ],
)
def test_an_answer_that_failed_or_is_none_yet_is_an_error(
    document: JsonObject, sentence: str
) -> None:
    with (
        asking(said(document), "openai-responses") as (provider, _),
        pytest.raises(ProviderError, match=sentence),
    ):
        provider.create_message(USER)


def test_a_stream_that_ends_in_an_error_is_one() -> None:
    failed = {"type": "error", "code": "server_error", "message": f"no, {KEY}"}
    body = STREAM.partition(b"event: response.completed")[0]
    body += f"data: {json.dumps(failed)}\n\n".encode()
    with (
        asking(stream(body), "openai-responses") as (provider, _),
        pytest.raises(ProviderError, match=r"no, \*\*\*") as caught,
    ):
        provider.create_message(USER, on_event=lambda event: None)
    assert (caught.value.vendor_code, caught.value.transient) == ("server_error", True)


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        OpenAIResponsesProvider("m").create_message(USER)


@pytest.mark.parametrize("api", ["openresponses", "openai-responses"])
def test_an_endpoint_of_the_users_own_name_speaks_it(home: Path, api: str) -> None:
    with Loopback(said(LAST)) as server:
        user_config.set_value(
            "providers.here", {"api": api, "base_url": server.url(""), "model": "qwen"}
        )
        provider = providers.provider_class("here")("")
        assert provider.create_message(USER)["content"] == "Hello"
        target, headers, request = sent(server)
    assert (target, request["model"], "authorization" in headers) == (
        "/v1/responses",
        "qwen",
        False,
    )
    assert (provider.name, provider.api) == ("here", "openai-responses")


def test_a_recording_says_again_what_was_said_and_holds_each_item_once(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    result = {"role": "tool", "tool_call_id": "c1", "content": "2"}
    with asking(in_turn(stream(STREAM), said(LAST)), "openai-responses") as (provider, _):
        recording = RecordingProvider(provider, path)
        first = recording.create_message(USER, [TOOL], on_event=lambda event: None)
        second = recording.create_message([*USER, first, result], [TOOL])
    turn = json.loads(path.read_text(encoding="utf-8"))["turns"][1]
    assert turn["same_messages"] == 1 and "store" in turn["same"]
    assert [item["type"] for item in turn["request"]["input"]] == [
        "reasoning",
        "message",
        "function_call",
        "function_call_output",
    ]
    replay = ReplayProvider(path)
    assert replay.create_message(USER, [TOOL], on_event=lambda event: None) == first
    assert replay.create_message([*USER, first, result], [TOOL]) == second
    replay.check_finished()
    again = ReplayProvider(path)
    with pytest.raises(Diverged, match="/input/0/content"):
        again.create_message(
            [{"role": "user", "content": "Ho"}], [TOOL], on_event=lambda event: None
        )
