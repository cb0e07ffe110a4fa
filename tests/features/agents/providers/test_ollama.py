"""Ollama's provider against real loopback servers: what it sends, and that it hears what Ollama's
own SDK hears.
"""

import json
from pathlib import Path

import pytest

from tests.adapters.judges import accepts, complaint
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
from vespe.errors import ProviderError, UsageError
from vespe.features.agents.providers.ollama import OllamaProvider
from vespe.models import JsonObject

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
CALLS = [{"function": {"name": "add", "arguments": {"a": 1}}}]
LAST = {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4}
LINES = [
    {
        "model": "m",
        "message": {"role": "assistant", "content": "", "thinking": "hm"},
        "done": False,
    },
    {"model": "m", "message": {"role": "assistant", "content": "Hel"}, "done": False},
    {
        "model": "m",
        "message": {"role": "assistant", "content": "lo", "tool_calls": CALLS},
        "done": False,
    },
    {**LAST, "message": {"role": "assistant", "content": ""}},
]
STREAM = b"".join(json.dumps(line).encode() + b"\n" for line in LINES)
WHOLE = {
    **LAST,
    "message": {"role": "assistant", "content": "Hello", "thinking": "hm", "tool_calls": CALLS},
}


@pytest.mark.parametrize("path", ["", "/", "/api", "/api/", "/api/chat", "/v1"])
def test_a_base_url_is_taken_with_or_without_its_path(path: str) -> None:
    with Loopback(said(WHOLE)) as server:
        provider = OllamaProvider("m", base_url=server.url(path), patience=QUICK)
        provider.create_message(USER)
        provider.close()
        target, headers, _ = sent(server)
    assert (target, "authorization" in headers) == ("/api/chat", False)


def test_a_key_is_sent_where_there_is_one() -> None:
    with asking(said(WHOLE), "ollama") as (provider, server):
        provider.create_message(USER)
        assert sent(server)[1]["authorization"] == f"Bearer {KEY}"


def test_without_a_setting_it_is_asked_on_this_machine() -> None:
    assert str(OllamaProvider("m")._destination().url) == "http://127.0.0.1:11434/api/chat"


def test_a_request_is_one_that_ollamas_types_take() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}]
    result = {"role": "tool", "tool_call_id": "c1", "content": "3"}
    messages: list[JsonObject] = [
        *USER,
        {"role": "assistant", "content": None, "tool_calls": calls},
        result,
    ]
    options = {
        "temperature": 0.5,
        "max_tokens": 9,
        "tool_choice": "auto",
        "stop": ["x"],
        "seed": 7,
        "think": True,
        "keep_alive": "5m",
    }
    made = OllamaProvider("m").payload(messages, [TOOL], options=options, stream=True)
    assert accepts("ollama request", made), complaint("ollama request", made)
    assert made["options"] == {"temperature": 0.5, "num_predict": 9, "stop": ["x"], "seed": 7}
    assert (
        made["think"],
        made["keep_alive"],
        made["stream"],
        made["tools"][0]["function"]["name"],
    ) == (True, "5m", True, "add")


def test_a_stream_gives_what_a_whole_answer_gives() -> None:
    with asking(in_turn(stream(STREAM, "application/x-ndjson"), said(WHOLE)), "ollama") as (
        provider,
        _,
    ):
        answers = [provider.respond(USER, on_event=lambda event: None), provider.respond(USER)]
    for answer in answers:
        assert answer.message["tool_calls"][0].pop("id").startswith("vespe_call_")
    assert answers[0] == answers[1]
    assert (answers[0].finish_reason, answers[0].message["reasoning_content"]) == (
        "tool_calls",
        "hm",
    )


def test_an_error_of_ollamas_is_told() -> None:
    answer, told = (
        said({"error": "model 'm' not found"}, status=404),
        "(?m)^ollama answered with status 404: model 'm' not found$",
    )
    with asking(answer, "ollama") as (provider, _), pytest.raises(ProviderError, match=told):
        provider.create_message(USER)


def test_an_error_in_the_stream_is_told() -> None:
    body = STREAM.partition(b"\n")[0] + b'\n{"error": "out of memory"}\n'
    with (
        asking(stream(body, "application/x-ndjson"), "ollama") as (provider, _),
        pytest.raises(ProviderError, match="out of memory"),
    ):
        provider.create_message(USER, on_event=lambda event: None)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "add"}}])
def test_a_choice_that_ollama_cannot_be_told_is_a_sentence(choice: object) -> None:
    with pytest.raises(UsageError, match="Ollama does not support the tool_choice"):
        OllamaProvider("m").payload(USER, [TOOL], options={"tool_choice": choice})


def test_this_provider_and_the_sdk_hear_the_same_in_the_recordings() -> None:
    alike, different = sdks.unlike(streams.kept(), "ollama", ())
    assert (different, alike >= 3) == ([], True)


def test_both_this_provider_and_the_sdk_hear_the_same_in_the_whole_corpus(shared: Path) -> None:
    alike, different = sdks.unlike(streams.of_corpus(shared), "ollama", ())
    assert (different, alike > 10) == ([], True)
