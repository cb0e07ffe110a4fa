"""OpenAI's provider against real loopback servers: what it sends, and that it hears what OpenAI's
own SDK hears.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapters.judges import accepts, complaint
from tests.adapters.streams import streams
from tests.features.agents.providers import sdks
from tests.features.agents.providers.serving import (
    CHUNKS,
    HELLO,
    KEY,
    QUICK,
    USER,
    asking,
    chunked,
    compressed,
    said,
    sent,
    stream,
    unframed,
)
from tests.support.loopback import Exchange, Loopback
from tests.support.ondisk import vespe
from vespe.adapters.streams.base import StreamEvent
from vespe.errors import MissingKey, ProviderError, Refused
from vespe.features.agents.providers.openai import OpenAIProvider
from vespe.models import JsonObject
from vespe.projects import user_config

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
WRONG_IN_THE_SDK = {
    # It puts together what stands at one index, and every name that it is told again.
    "index0--deepseek-reasoning-block-order-streaming-reasoner-parallel-tool-turn-leads-with",
    "index0--deepseek-stream-with-tools-1",
    "cerebras-cererebras-structured-output-tools-1",
    "name_repeat--openrouter-testopenroutercommon-anthropic-multi-tool-streaming",
    "name_repeat--openrouter-testopenroutercommon-openai-multi-tool-streaming",
}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/api/openai/v2", "/api/openai/v2/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        (
            "/openai/deployments/d?api-version=2026-01",
            "/openai/deployments/d/chat/completions?api-version=2026-01",
        ),
    ],
)
def test_a_base_url_is_taken_with_or_without_its_version(path: str, target: str) -> None:
    with Loopback(said(HELLO)) as server:
        provider = OpenAIProvider("m", base_url=server.url(path), api_key=KEY, patience=QUICK)
        provider.create_message(USER)
        provider.close()
        assert sent(server)[0] == target


def test_key_organization_and_headers_go_with_each_request() -> None:
    with asking(said(HELLO), organization="org-1", headers={"X-Team": "tools"}) as (
        provider,
        server,
    ):
        provider.create_message(USER)
        headers = sent(server)[1]
    assert (headers["authorization"], headers["openai-organization"], headers["x-team"]) == (
        f"Bearer {KEY}",
        "org-1",
        "tools",
    )
    assert headers["content-type"] == "application/json"


def test_headers_of_the_users_own_count_before_others() -> None:
    with asking(
        said(HELLO), api_key=None, headers={"Authorization": "Basic abc", "api-key": KEY}
    ) as (provider, server):
        provider.create_message(USER)
        headers = sent(server)[1]
    assert (headers["authorization"], headers["api-key"]) == ("Basic abc", KEY)


def test_a_request_is_one_that_openais_types_take() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]
    result = {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "3",
        "is_error": False,
        "structured_content": {"a": 1},
    }
    messages: list[JsonObject] = [
        *USER,
        {"role": "assistant", "content": None, "tool_calls": calls, "reasoning_content": "hm"},
        result,
    ]
    options = {
        "temperature": 0.5,
        "max_tokens": 9,
        "tool_choice": "auto",
        "stop": ["x"],
        "seed": 7,
        "parallel_tool_calls": False,
    }
    provider = OpenAIProvider("m", api_key=KEY)
    for streamed, kind in ((False, "openai request"), (True, "openai streamed request")):
        made = provider.payload(messages, [TOOL], options=options, stream=streamed)
        assert accepts(kind, made), complaint(kind, made)
        assert options.items() <= made.items()


@pytest.mark.parametrize(
    "answer", [stream(CHUNKS), chunked(CHUNKS), compressed(CHUNKS), unframed(CHUNKS)]
)
def test_a_stream_gives_what_a_whole_answer_gives(answer: Callable[[Exchange], bool]) -> None:
    events: list[StreamEvent] = []
    with asking(answer) as (streamed, _), asking(said(HELLO)) as (whole, _):
        assert streamed.create_message(USER, on_event=events.append) == whole.create_message(USER)
    assert [event.text for event in events if event.type == "text"] == ["Hel", "lo"]


def test_an_endpoint_that_knows_no_streams_is_heard_all_the_same() -> None:
    events: list[StreamEvent] = []
    with asking(said(HELLO)) as (provider, _):
        assert provider.create_message(USER, on_event=events.append)["content"] == "Hello"
    assert [event.type for event in events] == ["text", "usage", "done"]


def test_a_body_without_announced_end_that_stops_early_is_an_error() -> None:
    with (
        asking(unframed(CHUNKS[:200])) as (provider, _),
        pytest.raises(ProviderError, match="ended before it was complete"),
    ):
        provider.create_message(USER, on_event=lambda event: None)


@pytest.mark.parametrize("body", [b"", b"<html>sign in</html>", b"[]", b'{"choices": '])
def test_a_successful_answer_that_is_none_is_a_sentence(body: bytes) -> None:
    with (
        asking(stream(body, "text/html")) as (provider, _),
        pytest.raises(ProviderError, match="the answer of openai cannot be read"),
    ):
        provider.create_message(USER)


# Keys


@pytest.mark.parametrize(("value", "state"), [(None, "not set"), ("", "empty"), (" \n", "empty")])
def test_without_a_key_a_sentence_names_the_variable_and_the_ways_to_give_one(
    value: str | None, state: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    else:
        monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(MissingKey) as caught:
        OpenAIProvider("m").create_message(USER)
    assert (
        str(caught.value)
        == f"openai needs an API key, but the environment variable OPENAI_API_KEY is {state}"
    )
    assert (
        "`export OPENAI_API_KEY=KEY`" in caught.value.hint
        and "`vespe secret set providers.openai.api_key`" in caught.value.hint
    )


def test_the_key_comes_from_the_caller_else_the_users_configuration_else_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seen(**given: str) -> str:
        with asking(said(HELLO), api_key=given.get("api_key")) as (provider, server):
            provider.create_message(USER)
            return sent(server)[1].get("authorization", "")

    assert seen() == ""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment\n")
    assert seen() == "Bearer sk-environment"
    user_config.set_value("providers.openai.api_key", " ")
    assert seen() == "Bearer sk-environment"
    user_config.set_value("providers.openai.api_key", "sk-configured")
    assert seen() == "Bearer sk-configured"
    assert seen(api_key="sk-given") == "Bearer sk-given"


def test_the_users_configuration_may_name_the_variable_the_endpoint_and_the_model(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-other")
    with Loopback(said(HELLO)) as server:
        for key, value in (
            ("api_key_env", "OTHER_KEY"),
            ("base_url", server.url("/v1")),
            ("model", "mine"),
            ("headers", {"X-A": "b"}),
        ):
            user_config.set_value(f"providers.openai.{key}", value)
        provider = OpenAIProvider()
        provider.create_message(USER)
        provider.close()
        _, headers, body = sent(server)
    assert (headers["authorization"], headers["x-a"], body["model"]) == (
        "Bearer sk-other",
        "b",
        "mine",
    )


def test_fields_that_an_endpoint_wants_back_are_kept_where_the_user_says_so(project: Path) -> None:
    spoken = [
        {
            "role": "assistant",
            "content": "Hi",
            "reasoning_content": "hm",
            "anthropic_blocks": ["part"],
        }
    ]
    assert "reasoning_content" not in OpenAIProvider("m").payload(spoken)["messages"][0]
    assert vespe("config", "set", "providers.openai.keep", '["reasoning_content"]').returncode == 0
    assert OpenAIProvider("m").payload(spoken)["messages"] == [
        {"role": "assistant", "content": "Hi", "reasoning_content": "hm"}
    ]


def test_a_variable_that_the_user_named_and_that_is_empty_is_told(home: Path) -> None:
    user_config.set_value("providers.openai.api_key_env", "OTHER_KEY")
    with asking(said(HELLO), api_key=None) as (provider, server):
        with pytest.raises(MissingKey, match="OTHER_KEY"):
            provider.create_message(USER)
        assert server.connections == 0


@pytest.mark.parametrize("key", ["sk-a\nb: c", "sk-é", "sk a"])
def test_p40b_a_key_that_no_header_can_carry_is_refused_and_not_quoted(key: str) -> None:
    with asking(said(HELLO), api_key=key) as (provider, server):
        with pytest.raises(
            Refused, match="a space, or a character that keys do not have"
        ) as caught:
            provider.create_message(USER)
        assert server.connections == 0
    assert key not in f"{caught.value!r}{caught.value.hint}{caught.value.details}"


def test_p40b_a_projects_configuration_moves_no_endpoint_and_names_no_key(project: Path) -> None:
    with Loopback(said(HELLO)) as mine, Loopback(said(HELLO)) as evil:
        settings = {
            "openai": {
                "base_url": evil.url("/v1"),
                "api_key_env": "HOME",
                "headers": {"X-Evil": "1"},
            }
        }
        document = {"active_kits": [], "providers": settings, "base_url": evil.url("/v1")}
        (project / ".vespe/config.json").write_text(json.dumps(document), encoding="utf-8")
        user_config.set_value("providers.openai.base_url", mine.url("/v1"))
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": evil.url("/v1")}
        done = vespe(
            "agent",
            "run",
            "Hi",
            "--provider",
            "openai",
            "--model",
            "m",
            "--no-stream",
            cwd=project,
            env=environment,
        )
        assert (done.returncode, done.stdout.strip()) == (0, "Hello"), done.stderr
        assert (len(mine.requests), evil.connections) == (1, 0)
        assert sent(mine)[1]["authorization"] == f"Bearer {KEY}" and "x-evil" not in sent(mine)[1]
    assert "/providers in config.json is ignored" in done.stderr and KEY not in done.stderr


# The same bytes through the vendor's SDK


def test_this_provider_and_the_sdk_hear_the_same_in_the_recordings() -> None:
    alike, different = sdks.unlike(streams.kept(), "openai", WRONG_IN_THE_SDK)
    assert (different, alike >= 8) == ([], True)


def test_both_this_provider_and_the_sdk_hear_the_same_in_the_whole_corpus(shared: Path) -> None:
    alike, different = sdks.unlike(streams.of_corpus(shared), "openai", WRONG_IN_THE_SDK)
    assert (different, alike > 140) == ([], True)
