"""Stop reasons and usage, both ways."""

from typing import Any, get_args

import pytest
from anthropic.types import StopReason, Usage
from openai.types import CompletionUsage
from openai.types.chat.chat_completion import Choice

from vespe.adapters import stops
from vespe.errors import InvalidDocument

ANTHROPIC = get_args(StopReason)
OPENAI = get_args(Choice.model_fields["finish_reason"].annotation)
USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 200,
    "cache_creation_input_tokens": 30,
    "output_tokens": 5,
    "output_tokens_details": {"thinking_tokens": 2},
    "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 0},
    "service_tier": "standard",
}


@pytest.mark.parametrize("reason", ANTHROPIC)
def test_every_stop_reason_of_anthropics_types_is_one_of_openais_and_comes_back(
    reason: str,
) -> None:
    choice = stops.to_finish_reason(reason)
    assert choice["finish_reason"] in OPENAI
    assert stops.to_stop_reason(choice) == reason


@pytest.mark.parametrize("reason", OPENAI)
def test_every_finish_reason_of_openais_types_is_one_of_anthropics(reason: str) -> None:
    stop = stops.to_stop_reason({"finish_reason": reason})
    assert stop in ANTHROPIC
    expected = "tool_calls" if reason == "function_call" else reason
    assert stops.to_finish_reason(stop) == {"finish_reason": expected}


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "stop"),
        ("new", "stop"),
    ],
)
def test_the_pairs_are_the_documented_ones(stop: str, finish: str) -> None:
    assert stops.to_finish_reason(stop)["finish_reason"] == finish


def test_null_stays_null_and_what_nobody_documents_is_null() -> None:
    assert stops.to_finish_reason(None) == {"finish_reason": None}
    assert stops.to_stop_reason({"finish_reason": None}) is None
    assert stops.to_stop_reason({"finish_reason": ""}) is None


@pytest.mark.parametrize(
    ("done", "calls", "finish"),
    [
        ("stop", False, "stop"),
        ("stop", True, "tool_calls"),
        (None, True, "tool_calls"),
        ("length", True, "length"),
        ("load", False, "stop"),
        (None, False, None),
    ],
)
def test_ollamas_done_reason_is_read_beside_the_calls(
    done: str | None, calls: bool, finish: str | None
) -> None:
    assert stops.finish_reason_of_done(done, calls=calls) == finish


def test_ollamas_done_reason_of_a_finish_reason() -> None:
    assert [stops.done_reason_of(reason) for reason in ("stop", "tool_calls", "length", None)] == [
        "stop",
        "stop",
        "length",
        None,
    ]


def test_anthropics_usage_counts_the_cache_into_the_prompt_and_comes_back() -> None:
    made = stops.from_anthropic_usage(USAGE)
    assert (made["prompt_tokens"], made["completion_tokens"], made["total_tokens"]) == (240, 5, 245)
    assert made["prompt_tokens_details"] == {"cached_tokens": 200, "cache_write_tokens": 30}
    assert CompletionUsage.model_validate(made).completion_tokens_details is not None
    assert stops.to_anthropic_usage(made) == USAGE
    Usage.model_validate(stops.to_anthropic_usage(made))


def test_what_vespe_does_not_know_of_anthropics_usage_comes_back_and_nothing_is_shared() -> None:
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "server_tool_use": {"web_search_requests": 1},
        "iterations": [{"a": 1}],
    }
    made = stops.from_anthropic_usage(usage)
    assert (
        made["anthropic"] == {"iterations": [{"a": 1}]}
        and made["server_tool_use"] is not usage["server_tool_use"]
    )
    assert stops.to_anthropic_usage(made) == usage
    assert stops.to_anthropic_usage(made)["iterations"] is not made["anthropic"]["iterations"]


def test_usage_with_nulls_and_without_details_comes_back_too() -> None:
    for usage in (
        {"input_tokens": 1, "output_tokens": 2},
        {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": None},
    ):
        assert stops.to_anthropic_usage(stops.from_anthropic_usage(usage)) == usage


def test_openais_usage_without_what_anthropic_knows() -> None:
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": True,
        "prompt_tokens_details": {"cached_tokens": 9, "audio_tokens": 1},
        "cost": 1,
    }
    assert stops.to_anthropic_usage(usage) == {
        "input_tokens": 0,
        "cache_read_input_tokens": 9,
        "output_tokens": 0,
    }
    assert stops.to_anthropic_usage({"prompt_tokens_details": None}) == {
        "input_tokens": 0,
        "output_tokens": 0,
    }


def test_ollamas_counts() -> None:
    usage = stops.from_ollama_usage({"prompt_eval_count": 3, "eval_count": 4, "done": True})
    assert usage == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert stops.to_ollama_usage(usage) == {"prompt_eval_count": 3, "eval_count": 4}


def test_a_reason_that_nobody_documents_comes_back() -> None:
    assert stops.to_stop_reason(stops.to_finish_reason("compaction")) == "compaction"


def test_usage_that_is_null_counts_nothing_and_what_is_no_usage_is_said() -> None:
    wrong: Any = []
    assert stops.from_anthropic_usage(None) == {
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
    }
    assert stops.to_anthropic_usage(None) == {"input_tokens": 0, "output_tokens": 0}
    assert stops.to_ollama_usage(None) == {"prompt_eval_count": 0, "eval_count": 0}
    assert stops.from_ollama_usage(None)["total_tokens"] == 0
    for read in (
        stops.from_anthropic_usage,
        stops.to_anthropic_usage,
        stops.to_ollama_usage,
        stops.to_finish_reason,
        stops.to_stop_reason,
    ):
        with pytest.raises(InvalidDocument, match="must be"):
            read(wrong)
