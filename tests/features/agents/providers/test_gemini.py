"""The provider of Gemini's Interactions against real loopback servers: what it sends, and what it
hears.
"""

import json
from pathlib import Path

import pytest

from tests.adapters.google_judges import complaint
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
from vespe.errors import InvalidDocument, MissingKey, ProviderError, UsageError
from vespe.features.agents import providers
from vespe.features.agents.providers.gemini import GeminiProvider
from vespe.models import JsonObject
from vespe.projects import user_config

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
THOUGHT = {"type": "thought", "signature": "c2ln"}
OUTPUT = {"type": "model_output", "content": [{"type": "text", "text": "Hello"}]}
CALL = {"type": "function_call", "id": "c1", "name": "add", "arguments": {"a": 1}}
HELLO = {
    "id": "v1_x",
    "object": "interaction",
    "status": "requires_action",
    "model": "m",
    "steps": [THOUGHT, OUTPUT, CALL],
    "usage": {"total_input_tokens": 3, "total_output_tokens": 4, "total_tokens": 7},
}
LAST = HELLO | {"status": "completed", "steps": [OUTPUT]}
EVENTS: list[JsonObject] = [
    {"event_type": "interaction.created", "interaction": {"id": "v1_x", "status": "in_progress"}},
    {"event_type": "step.start", "index": 0, "step": THOUGHT},
    {"event_type": "step.stop", "index": 0},
    {"event_type": "step.start", "index": 1, "step": {"type": "model_output"}},
    {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "Hel"}},
    {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "lo"}},
    {"event_type": "step.stop", "index": 1},
    {"event_type": "step.start", "index": 2, "step": CALL},
    {"event_type": "step.stop", "index": 2},
    {
        "event_type": "interaction.completed",
        "interaction": {key: HELLO[key] for key in ("id", "status", "usage")},
    },
]
STREAM = b"".join(
    f"event: {event['event_type']}\ndata: {json.dumps(event)}\n\n".encode() for event in EVENTS
)
STREAM += b"event: done\ndata: [DONE]\n\n"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("", "/v1beta/interactions"),
        ("/", "/v1beta/interactions"),
        ("/v1beta", "/v1beta/interactions"),
        ("/v1beta/interactions", "/v1beta/interactions"),
        ("/gateway/v1?x=1", "/gateway/v1/interactions?x=1"),
    ],
)
def test_a_base_url_is_taken_with_or_without_its_path(path: str, target: str) -> None:
    with Loopback(said(HELLO)) as server:
        provider = GeminiProvider("m", base_url=server.url(path), api_key=KEY, patience=QUICK)
        provider.create_message(USER)
        provider.close()
        found, headers, _ = sent(server)
    assert found == target and headers["x-goog-api-key"] == KEY
    assert not headers.keys() & {"authorization", "x-api-key"}


def test_a_request_is_one_that_googles_types_take_and_asks_the_vendor_to_keep_nothing() -> None:
    options = {
        "max_tokens": 9,
        "stop": "x",
        "temperature": 0,
        "reasoning_effort": "low",
        "parallel_tool_calls": False,
        "tool_choice": {"type": "function", "function": {"name": "add"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
        "generation_config": {"top_p": 1, "temperature": 1},
        "service_tier": None,
    }
    messages: list[JsonObject] = [{"role": "system", "content": "Be brief."}, *USER]
    provider = GeminiProvider("m", api_key=KEY)
    for streamed in (False, True):
        made = provider.payload(messages, [TOOL], options=options, stream=streamed)
        assert complaint("request", made) == ""
        assert (made["store"], made["system_instruction"]) == (False, "Be brief.")
        assert made["generation_config"] == {
            "max_output_tokens": 9,
            "stop_sequences": ["x"],
            "temperature": 1,
            "top_p": 1,
            "thinking_level": "low",
            "tool_choice": {"allowed_tools": {"mode": "any", "tools": ["add"]}},
        }
        assert made["response_format"] == {
            "type": "text",
            "mime_type": "application/json",
            "schema": {},
        }
        assert made.get("stream") is (True if streamed else None)
    plain = provider.payload(USER, options={"tool_choice": "required"})
    assert plain["generation_config"] == {"tool_choice": "any"} and "tools" not in plain
    own: JsonObject = {"type": "text", "mime_type": "text/plain"}
    assert provider.payload(USER, options={"response_format": own})["response_format"] == own


def test_what_follows_from_the_conversation_is_no_option() -> None:
    for name in ("input", "system_instruction"):
        with pytest.raises(UsageError, match=f"'{name}' cannot be set"):
            GeminiProvider("m", api_key=KEY).payload(USER, options={name: "x"})


def test_a_stream_gives_what_a_whole_answer_gives() -> None:
    with asking(in_turn(said(HELLO), stream(STREAM)), "gemini") as (provider, _):
        whole = provider.respond(USER)
        events: list[StreamEvent] = []
        streamed = provider.respond(USER, on_event=events.append)
    assert whole == streamed and whole.finish_reason == "tool_calls"
    assert whole.usage == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert whole.message["content"] == "Hello" and whole.message["tool_calls"][0]["id"] == "c1"
    assert [event.text for event in events if event.type == "text"] == ["Hel", "lo"]


def test_what_came_goes_back_as_it_came_with_the_results() -> None:
    with asking(in_turn(said(HELLO), said(LAST)), "gemini") as (provider, server):
        message = provider.create_message(USER, [TOOL])
        result = {"role": "tool", "tool_call_id": "c1", "content": "2"}
        provider.create_message([*USER, message, result], [TOOL])
        request = sent(server)[2]
    assert request["input"] == [
        {"type": "user_input", "content": [{"type": "text", "text": "Hi"}]},
        THOUGHT,
        OUTPUT,
        CALL,
        {"type": "function_result", "call_id": "c1", "name": "add", "result": "2"},
    ]
    assert complaint("request", request) == ""


def test_a_conversation_that_the_api_refuses_is_not_sent() -> None:
    with asking(said(HELLO), "gemini") as (provider, server):
        with pytest.raises(InvalidDocument, match="answers no call"):
            provider.create_message([{"role": "tool", "tool_call_id": "c", "content": "2"}])
        assert server.requests == []


def test_an_answer_that_goes_on_elsewhere_is_incomplete_and_its_calls_do_not_run() -> None:
    short = HELLO | {"status": "requires_continuation", "continuation_token": "t"}
    with asking(said(short), "gemini") as (provider, _):
        answer = provider.respond(USER, [TOOL])
    assert (answer.complete, answer.finish_reason, set(answer.cut_calls)) == (
        False,
        "length",
        {"c1"},
    )


def test_errors_are_told_as_gemini_says_them() -> None:
    error = {"error": {"code": 400, "message": f"no, {KEY}", "status": "INVALID_ARGUMENT"}}
    failed = HELLO | {"status": "failed", "errors": [{"code": "x", "message": "broken"}]}
    with asking(in_turn(said([error], status=400), said(failed)), "gemini") as (provider, _):
        with pytest.raises(ProviderError, match=r"status 400: no, \*\*\*"):
            provider.create_message(USER)
        with pytest.raises(ProviderError, match="broken"):
            provider.create_message(USER)


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(MissingKey, match="GEMINI_API_KEY"):
        GeminiProvider("m").create_message(USER)


def test_an_endpoint_of_the_users_own_name_speaks_it(home: Path) -> None:
    with Loopback(said(LAST)) as server:
        user_config.set_value(
            "providers.here", {"api": "gemini", "base_url": server.url(""), "model": "flash"}
        )
        provider = providers.provider_class("here")("")
        assert provider.create_message(USER)["content"] == "Hello"
        target, headers, request = sent(server)
    assert (target, request["model"]) == ("/v1beta/interactions", "flash")
    assert "x-goog-api-key" not in headers


def test_a_recording_says_again_what_was_said_and_holds_each_step_once(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    result = {"role": "tool", "tool_call_id": "c1", "content": "2"}
    with asking(in_turn(stream(STREAM), said(LAST)), "gemini") as (provider, _):
        recording = RecordingProvider(provider, path)
        first = recording.create_message(USER, [TOOL], on_event=lambda event: None)
        second = recording.create_message([*USER, first, result], [TOOL])
    turn = json.loads(path.read_text(encoding="utf-8"))["turns"][1]
    assert turn["same_messages"] == 1
    assert [step["type"] for step in turn["request"]["input"]] == [
        *("thought", "model_output", "function_call", "function_result"),
    ]
    replay = ReplayProvider(path)
    assert replay.create_message(USER, [TOOL], on_event=lambda event: None) == first
    assert replay.create_message([*USER, first, result], [TOOL]) == second
    replay.check_finished()
