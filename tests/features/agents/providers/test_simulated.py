"""The simulated provider: what a script says, streamed or not, its failures and mismatches; without
a network.
"""

import threading
from pathlib import Path
from typing import Any

import pytest

from vespe.adapters.streams.base import StreamEvent
from vespe.errors import Diverged, Interrupted, ProviderError, TimedOut
from vespe.features.agents.providers.retries import Patience
from vespe.features.agents.providers.simulated import SimulatedProvider
from vespe.models import JsonObject

USER: list[JsonObject] = [{"role": "user", "content": "What is the weather in Paris?"}]
TURN = {
    "reasoning": "Let me see.",
    "text": "One moment, please.",
    "tool_calls": [{"name": "weather", "arguments": {"city": "Paris"}}],
}


def turns(*given: Any, **options: Any) -> SimulatedProvider:
    return SimulatedProvider({"turns": list(given)}, **options)


def test_a_turn_is_answered_as_the_script_says() -> None:
    answer = turns(TURN | {"usage": {"prompt_tokens": 5, "completion_tokens": 7}}).respond(USER)
    function = {"name": "weather", "arguments": '{"city":"Paris"}'}
    calls = [{"id": "call_1_1", "type": "function", "function": function}]
    assert answer.message == {
        "role": "assistant",
        "content": TURN["text"],
        "tool_calls": calls,
        "reasoning_content": TURN["reasoning"],
    }
    assert (answer.finish_reason, answer.usage) == (
        "tool_calls",
        {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    )


def test_streamed_and_whole_answers_are_the_same_each_time() -> None:
    streams: list[list[StreamEvent]] = [[], []]
    answers = [turns(TURN).respond(USER, on_event=events.append) for events in streams]
    assert answers[0] == answers[1] == turns(TURN).respond(USER)
    assert streams[0] == streams[1] and len(streams[0]) > 8


def test_arguments_may_be_the_very_text_that_a_model_writes() -> None:
    message = turns(
        {"tool_calls": [{"name": "f", "arguments": '{"a": '}, {"name": "g", "id": "mine"}]}
    ).create_message(USER)
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"a": ', "{}"]
    assert [call["id"] for call in message["tool_calls"]] == ["call_1_1", "mine"]


def test_turns_come_in_order_and_then_no_more() -> None:
    provider = turns({"text": "one"}, {"text": "two"})
    assert [provider.create_message(USER)["content"] for _ in range(2)] == ["one", "two"]
    with pytest.raises(Diverged, match="is exhausted: request 3 of 2") as caught:
        provider.create_message(USER)
    assert (caught.value.turn, caught.value.pointer) == (3, "/turns")


def test_a_request_that_does_not_match_is_told_with_the_turn_and_the_reason() -> None:
    provider = turns({"text": "one"}, {"match": {"contains": "London"}, "text": "two"})
    provider.create_message(USER)
    with pytest.raises(
        Diverged, match=r"^turn 2 does not match: the request should end in a message with 'London'"
    ) as caught:
        provider.create_message(USER)
    assert (caught.value.turn, caught.value.pointer) == (2, "/turns/1/match/contains")


def test_p40c_a_scripted_storm_of_429_ends_after_the_retries() -> None:
    with pytest.raises(
        ProviderError, match="the simulated provider answered with status 429: as the script says"
    ) as caught:
        turns({"fail": {"status": 429, "retry_after": 0, "code": "rate_limit"}}).create_message(
            USER
        )
    assert (caught.value.status, caught.value.vendor_code, caught.value.transient) == (
        429,
        "rate_limit",
        True,
    )


def test_a_failure_that_passes_is_tried_again_and_the_turn_is_answered() -> None:
    assert (
        turns({"fail": {"status": 503, "times": 2}, "text": "at last"}).create_message(USER)[
            "content"
        ]
        == "at last"
    )
    assert (
        turns({"fail": {"cut": 0}, "text": "at last"}).create_message(USER)["content"] == "at last"
    )
    with pytest.raises(ProviderError, match="503"):
        turns({"fail": {"status": 503, "times": 3}, "text": "too late"}).create_message(USER)


@pytest.mark.parametrize("cut", [True, 1, 50])
def test_an_answer_that_is_cut_is_an_error_and_not_tried_again(cut: bool | int) -> None:
    provider = turns({"fail": {"cut": cut}, "text": "Hello you there"})
    with pytest.raises(ProviderError, match="broke off"):
        provider.create_message(USER, on_event=lambda event: None)
    assert provider.create_message(USER)["content"] == "Hello you there"


def test_a_stall_ends_at_the_deadline_or_as_soon_as_it_is_cancelled() -> None:
    with pytest.raises(TimedOut, match=r"brought nothing within 0\.1 s"):
        turns({"fail": {"stall": True}}, patience=Patience(stall_s=0.1)).create_message(USER)
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    with pytest.raises(Interrupted):
        turns({"fail": {"stall": True}}).create_message(USER, cancel=cancel)


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("model: tiny\nturns:\n  - text: Hello\n", encoding="utf-8")
    for given in (path, str(path)):
        provider = SimulatedProvider(given)
        assert (provider.model, provider.create_message(USER)["content"]) == ("tiny", "Hello")
        provider.close()
