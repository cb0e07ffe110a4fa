"""The calls of one turn."""

import functools
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import NUMBER, READ_ONLY, Bench
from tests.support.ondisk import PATIENCE_S
from vespe import CallPolicy, PersonReply, answered_by, ask
from vespe.features.agents.call_results import WAITS, CallResult
from vespe.features.agents.limits import Stop
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.tool_sets import chosen, tool_set
from vespe.features.agents.turns import TurnRunner
from vespe.models import Outcome


def runner(bench: Bench, **extra: Any) -> TurnRunner:
    path = bench.project().call_path()
    return TurnRunner(
        **{
            "tools": tool_set(chosen(path.workspace)).tools,
            "runner": path,
            "policy": CallPolicy(policy="all"),
            **extra,
        }
    )


def calls(*names: str, arguments: str = "{}") -> list[ModelCall]:
    return [
        ModelCall(call_id=f"c{place}", name=name, arguments=arguments, place=place)
        for place, name in enumerate(names)
    ]


def run(turns: TurnRunner, turn: Sequence[ModelCall], **extra: Any) -> dict[int, CallResult]:
    results: dict[int, CallResult] = {}
    turns.run(turn, results, **{"stop": Stop(), **extra})
    return results


def test_read_only_calls_run_at_the_same_time_but_no_more_than_are_allowed(bench: Bench) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def body() -> None:
        nonlocal now, most
        with lock:
            now, most = now + 1, max(most, now + 1)
        time.sleep(0.05)
        with lock:
            now -= 1

    bench.tool("read", body, annotations=READ_ONLY)
    results = run(runner(bench, max_parallel=3), calls(*["read"] * 9))
    assert (
        1 < most <= 3
        and sorted(results) == list(range(9))
        and all(result.outcome.ok for result in results.values())
    )


def test_a_call_that_writes_overlaps_no_other_call(bench: Bench) -> None:
    now, overlaps, lock = list[str](), set[tuple[str, ...]](), threading.Lock()

    def body(name: str) -> None:
        with lock:
            now.append(name)
            overlaps.add(tuple(sorted(now)))
        time.sleep(0.03)
        now.remove(name)

    for name, hints in (("read", READ_ONLY), ("write", {"idempotentHint": True})):
        bench.tool(name, functools.partial(body, name), annotations=hints)
    run(runner(bench), calls("read", "read", "write", "write", "read", "read", "write"))
    assert ("read", "read") in overlaps and not any(
        "write" in names and len(names) > 1 for names in overlaps
    )
    assert bench.ran == ["read", "read", "write", "write", "read", "read", "write"]


def test_a_call_reads_what_the_call_before_it_wrote(bench: Bench) -> None:
    held = {"n": 0}
    bench.tool(
        "write", lambda n: held.update(n=n), schema=NUMBER, annotations={"idempotentHint": True}
    )
    bench.tool("read", lambda: held["n"], annotations=READ_ONLY)
    turn = [
        ModelCall(call_id=f"c{n}", name="write", arguments=f'{{"n": {n}}}', place=n)
        for n in range(2)
    ]
    results = run(
        runner(bench),
        [
            *turn,
            ModelCall(call_id="c2", name="read", place=2),
            ModelCall(call_id="c3", name="read", place=3),
        ],
    )
    assert [results[place].outcome.result for place in (2, 3)] == [1, 1]


def test_a_call_that_cannot_run_holds_no_other_up_and_is_answered_in_its_place(
    bench: Bench,
) -> None:
    bench.tool("read", annotations=READ_ONLY)
    results = run(runner(bench), calls("read", "nothing", "read"))
    assert [results[place].ran for place in range(3)] == [True, False, True]


def test_the_most_calls_are_counted_across_the_groups_of_a_turn(bench: Bench) -> None:
    bench.tool("read", annotations=READ_ONLY)
    bench.tool("write")
    results = run(runner(bench), calls("write", "read", "read", "read", "write"), most=3)
    assert sorted(results) == [0, 1, 2] and sorted(bench.ran) == ["read", "read", "write"]


def test_whoever_is_told_is_told_in_the_thread_that_runs_the_turn(bench: Bench) -> None:
    bench.tool("read", annotations=READ_ONLY)
    heard: list[tuple[str, str]] = []
    turns = runner(
        bench,
        on_start=lambda ready: heard.append((ready.call.call_id, threading.current_thread().name)),
        on_result=lambda result: heard.append(
            (result.call.call_id, threading.current_thread().name)
        ),
    )
    run(turns, calls("read", "read"))
    assert len(heard) == 4 and {name for _, name in heard} == {threading.current_thread().name}


def test_nothing_begins_where_what_must_be_written_first_cannot_be(bench: Bench) -> None:
    bench.tool("write")

    def unwritable(_: object) -> None:
        raise OSError

    with pytest.raises(OSError):
        run(runner(bench, before=unwritable), calls("write"))
    assert bench.ran == []


@pytest.mark.parametrize("hints", [{}, READ_ONLY])
def test_no_more_than_the_most_run_and_the_rest_have_no_result(bench: Bench, hints: Any) -> None:
    bench.tool("step", annotations=hints)
    assert (
        sorted(run(runner(bench), calls(*["step"] * 4), most=2)) == [0, 1] and len(bench.ran) == 2
    )
    assert run(runner(bench), calls("step"), most=0) == {}


@pytest.mark.parametrize("hints", [{}, READ_ONLY])
def test_what_was_begun_when_the_turn_is_interrupted_has_a_result_and_the_rest_none(
    bench: Bench, hints: Any
) -> None:
    stop = Stop()

    def body(n: int) -> int:
        if n == 1:
            stop.set()
        return n

    bench.tool("step", body, schema=NUMBER, annotations=hints)
    turn = [
        ModelCall(call_id=f"c{n}", name="step", arguments=f'{{"n": {n}}}', place=n)
        for n in range(5)
    ]
    results = run(runner(bench, max_parallel=1), turn, stop=stop)
    assert sorted(results) == [0, 1] and len(bench.ran) == 2


def test_an_exception_of_whoever_is_told_ends_the_other_calls_and_passes_through(
    bench: Bench,
) -> None:
    stop, first = Stop(), iter([True])
    bench.tool("read", lambda: next(first, False) or stop.wait(PATIENCE_S), annotations=READ_ONLY)

    def failing(_: object) -> None:
        raise KeyboardInterrupt

    results: dict[int, CallResult] = {}
    with pytest.raises(KeyboardInterrupt):
        runner(bench, on_result=failing, max_parallel=2).run(
            calls(*["read"] * 6), results, stop=stop
        )
    # One that was about to begin may have a result, as interrupted, and not have run.
    assert len(bench.ran) <= len(results) < 6


def test_a_denied_call_does_not_run_and_the_model_is_told(bench: Bench) -> None:
    bench.tool("write")
    results = run(runner(bench, policy=CallPolicy()), calls("write"))
    assert bench.ran == [] and "there is no one to ask" in results[0].message["content"]


def test_a_call_that_a_recording_knows_is_neither_checked_nor_run(bench: Bench) -> None:
    bench.tool("write")
    turns = runner(
        bench,
        known=lambda call: Outcome(tool=call.name, uid=None, result="as then"),
        policy=CallPolicy(policy="none"),
    )
    results = run(turns, calls("write", "nonsense", arguments="{"))
    assert [result.message["content"] for result in results.values()] == [
        "as then"
    ] * 2 and bench.ran == []


def test_a_call_that_waited_in_a_recording_has_no_result_and_those_around_it_have_theirs(
    bench: Bench,
) -> None:
    bench.tool("write")
    turns = runner(bench, known=lambda call: WAITS if call.place == 1 else None)
    assert (
        list(run(turns, calls("write", "write", "write"))) == [0, 2] and bench.ran == ["write"] * 2
    )


def test_a_result_says_how_long_the_call_waited_and_ran(bench: Bench) -> None:
    bench.tool("step", lambda: time.sleep(0.01))
    timing = run(runner(bench), calls("step"), arrived={"c0": time.perf_counter()})[0].timing
    assert timing["wait_ms"] >= 0 and timing["duration_ms"] >= 10
    assert "wait_ms" not in run(runner(bench), calls("step"))[0].timing


def test_calls_that_may_be_cut_are_answered(bench: Bench) -> None:
    bench.tool("step")
    results = run(runner(bench), calls("step", "step"), cut={1})
    assert len(bench.ran) == 1 and "cut off" in results[1].message["content"]


def test_calls_that_run_together_ask_whoever_answers_around_the_run(bench: Bench) -> None:
    for name in ("first", "second"):
        bench.tool(name, lambda name=name: ask(f"{name}?"), annotations=READ_ONLY)
    with answered_by(lambda question: PersonReply(action="accept")):
        results = run(runner(bench, max_parallel=2), calls("first", "second"))
    assert [results[place].outcome.result for place in (0, 1)] == [{}, {}]
