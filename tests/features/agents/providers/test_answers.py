"""Answers of endpoints that do not quite keep to their API: read where they can be, else told in a
sentence.
"""

import json
import re
from typing import Any

import pytest

from tests.features.agents.providers.serving import KEY, USER, asking, said, stream
from vespe.errors import ProviderError
from vespe.features.agents.limits import Spent


def choice(content: str) -> bytes:
    return (
        b'{"choices":[{"index":0,"message":{"role":"assistant","content":'
        + content.encode()
        + b'},"finish_reason":"stop"}]}'
    )


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (choice('"a\\ud800"'), "a\ufffd"),
        (b"\xef\xbb\xbf" + choice('"a"'), "a"),
        (choice('"a","content":"b"'), "b"),
        (b"\n\n " + choice('"a\\nb"') + b"\r\n", "a\nb"),
    ],
)
def test_what_can_be_read_is_read(body: bytes, content: str) -> None:
    with asking(stream(body, "application/json")) as (provider, _):
        assert provider.create_message(USER)["content"] == content
        assert provider.create_message(USER, on_event=lambda event: None)["content"] == content


@pytest.mark.parametrize(
    "document", [{}, {"choices": None}, {"choices": []}, {"choices": [1, {"message": 7}]}]
)
def test_an_answer_that_says_nothing_is_an_error_that_may_pass(document: Any) -> None:
    with (
        asking(said(document)) as (provider, _),
        pytest.raises(ProviderError, match="openai returned an empty answer") as caught,
    ):
        provider.create_message(USER)
    assert caught.value.transient


@pytest.mark.parametrize(
    "document", [{"content": 7, "stop_reason": 7}, {"content": [7]}, {"usage": "x", "content": []}]
)
def test_an_answer_that_is_not_the_apis_is_a_sentence(document: Any) -> None:
    with (
        asking(said(document), "anthropic") as (provider, _),
        pytest.raises(ProviderError, match="the answer of anthropic cannot be read"),
    ):
        provider.create_message(USER)


@pytest.mark.parametrize("body", [b"\xff", b"[1]", b"{", b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_a_sentence(body: bytes) -> None:
    with (
        asking(stream(body)) as (provider, _),
        pytest.raises(ProviderError, match="the answer of openai cannot be read: it is n"),
    ):
        provider.create_message(USER)


def test_one_plain_text_is_a_text_whichever_api_it_came_from() -> None:
    document = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
        "usage": {},
    }
    with asking(stream(json.dumps(document).encode()), "anthropic") as (provider, _):
        assert provider.create_message(USER)["content"] == "Hi"


@pytest.mark.parametrize("document", [{}, {"detail": "not here"}, {"choices": []}])
def test_an_answer_that_says_nothing_is_quoted(document: object) -> None:
    with (
        asking(said(document)) as (provider, _),
        pytest.raises(ProviderError, match=re.escape(json.dumps(document, separators=(",", ":")))),
    ):
        provider.create_message(USER)


def test_an_empty_answer_says_so_and_a_page_is_quoted() -> None:
    with (
        asking(stream(b"", "application/json")) as (provider, _),
        pytest.raises(ProviderError, match="it is empty"),
    ):
        provider.create_message(USER)
    with (
        asking(stream(b"<html>log in", "text/html")) as (provider, _),
        pytest.raises(ProviderError, match="<html>log in"),
    ):
        provider.create_message(USER)


def test_an_answer_in_a_list_is_read_and_so_is_an_error_in_one() -> None:
    with asking(stream(b"[" + choice('"a"') + b"]", "application/json")) as (provider, _):
        assert provider.create_message(USER)["content"] == "a"
    with (
        asking(said([{"error": {"message": "no such key"}}])) as (provider, _),
        pytest.raises(ProviderError, match="no such key"),
    ):
        provider.create_message(USER)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("at", range(0, 120, 10))
@pytest.mark.parametrize("page", [b"<html>", b"error: ", b'{"x": '])
def test_p40b_no_part_of_a_key_stands_in_the_quote_of_a_page(
    page: bytes, at: int, *, streamed: bool
) -> None:
    body = page + b"." * at + KEY.encode() + b"." * 200
    with asking(stream(body, "text/html")) as (provider, _), pytest.raises(ProviderError) as caught:
        provider.create_message(USER, on_event=(lambda event: None) if streamed else None)
    assert not any(KEY[start : start + 8] in str(caught.value) for start in range(len(KEY) - 8))


USED: dict[str, dict[str, Any]] = {
    "openai": {
        "choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    },
    "openai-responses": {
        "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": "Hi"}],
        "usage": {
            "input_tokens": 100,
            "output_tokens": 20,
            "input_tokens_details": {"cached_tokens": 60},
            "output_tokens_details": {"reasoning_tokens": 5},
        },
    },
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 40,
            "cache_read_input_tokens": 60,
            "output_tokens": 20,
            "output_tokens_details": {"thinking_tokens": 5},
        },
    },
    "gemini": {
        "status": "completed",
        "steps": [{"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}],
        "usage": {
            "total_input_tokens": 100,
            "total_output_tokens": 15,
            "total_thought_tokens": 5,
            "total_cached_tokens": 60,
        },
    },
    "ollama": {
        "message": {"role": "assistant", "content": "Hi"},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 100,
        "eval_count": 20,
    },
}


@pytest.mark.parametrize("api", USED)
def test_tokens_are_told_alike_whoever_counts_them(api: str) -> None:
    spent = Spent()
    with asking(said(USED[api]), api) as (provider, _):
        for _ in range(2):
            spent.add_usage(provider.respond(USER).usage)
    told = {"prompt_tokens": 200, "completion_tokens": 40, "total_tokens": 240}
    apart = {"cached_tokens": 120, "reasoning_tokens": 10}
    assert spent.usage == told | ({} if api == "ollama" else apart)
