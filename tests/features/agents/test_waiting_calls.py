"""The calls that a kept conversation ends in."""

import pytest

from tests.features.agents.agents_on_disk import Bench, results
from tests.features.agents.test_open_calls import USER, turn
from vespe import CallPolicy, Transcript
from vespe.errors import NotFound
from vespe.features.agents.tool_sets import tool_set
from vespe.features.agents.turns import TurnRunner
from vespe.features.agents.waiting_calls import deny_waiting, run_waiting, selected


@pytest.fixture
def turns(bench: Bench) -> TurnRunner:
    bench.tool("f")
    path = bench.project().call_path()
    return TurnRunner(
        tools=tool_set([path.tool("f")]).tools, runner=path, policy=CallPolicy(policy="all")
    )


def test_chosen_calls_run_once_and_the_others_wait(bench: Bench, turns: TurnRunner) -> None:
    transcript = Transcript([USER, turn("a", "b", "c")])
    run_waiting(transcript, selected(transcript, ["b"]), turns)
    assert bench.ran == ["f"] and [call.call_id for call in transcript.open] == ["a", "c"]
    run_waiting(transcript, selected(transcript), turns)
    assert len(bench.ran) == 3 and [call_id for call_id, _ in results(transcript.messages)] == [
        "a",
        "b",
        "c",
    ]


def test_one_that_an_earlier_session_began_is_answered_and_not_run(
    bench: Bench, turns: TurnRunner
) -> None:
    transcript = Transcript([USER, turn("a", "b")], started=[0])
    assert [
        result.outcome.ok for result in run_waiting(transcript, selected(transcript), turns)
    ] == [False, True] and len(bench.ran) == 1


def test_p40c_one_that_was_begun_stays_begun_while_others_are_answered(
    bench: Bench, turns: TurnRunner
) -> None:
    transcript = Transcript([USER, turn("a", "b")], started=[0])
    run_waiting(transcript, selected(transcript, ["b"]), turns)
    assert transcript.started == {0} and bench.ran == ["f"]
    assert "earlier session" in run_waiting(transcript, selected(transcript), turns)[0].message[
        "content"
    ] and bench.ran == ["f"]


def test_each_result_is_kept_as_it_is_there(bench: Bench, turns: TurnRunner) -> None:
    kept: list[int] = []
    transcript = Transcript(
        [USER, turn("a", "b")], keep=lambda changed: kept.append(len(changed.open))
    )
    run_waiting(transcript, selected(transcript), turns)
    assert kept == [2, 1, 1, 0, 0]


def test_denied_calls_are_answered_in_words() -> None:
    transcript = Transcript([USER, turn("a", "b")], started=[1])
    first, second = deny_waiting(transcript, selected(transcript))
    assert (
        "denied" in first.message["content"]
        and "earlier session" in second.message["content"]
        and transcript.open == []
    )


def test_an_id_that_does_not_wait_is_not_found_and_those_that_do_are_named() -> None:
    with pytest.raises(NotFound) as caught:
        selected(Transcript([USER, turn("a")]), ["z"])
    assert "a" in caught.value.hint
