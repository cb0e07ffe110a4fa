"""A batch in threads of this machine."""

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from vespe.errors import NotTrusted
from vespe.features.batch.items import Item, numbered
from vespe.features.batch.local import Plan, run_batch
from vespe.models import Call, Outcome, Tool

TOOL = Tool(uid="tool-t", name="t", description="", input_schema={"type": "object"})


def answer(call: Call, *, cancel: threading.Event | None = None) -> Outcome:
    assert isinstance(call.arguments, dict)
    time.sleep(call.arguments.get("s", 0))
    return Outcome(tool="t", uid="u", result=call.arguments)


@pytest.mark.parametrize("jobs", [1, 4])
def test_every_input_has_one_outcome(jobs: int) -> None:
    found = list(run_batch(numbered({"n": n} for n in range(50)), TOOL, answer, Plan(jobs=jobs)))
    assert sorted((outcome.id, outcome.outcome.result["n"]) for outcome in found) == [
        (n + 1, n) for n in range(50)
    ]


def test_ordered_outcomes_come_in_the_order_of_the_inputs() -> None:
    inputs: list[dict[str, Any]] = [{"s": 0.1}, *({"s": 0} for _ in range(20))]
    assert [
        outcome.id
        for outcome in run_batch(numbered(inputs), TOOL, answer, Plan(jobs=3, ordered=True))
    ] == list(range(1, 22))


def test_what_is_slow_does_not_hold_the_others() -> None:
    inputs: list[dict[str, Any]] = [{"s": 0.5}, *({"s": 0} for _ in range(20))]
    assert (
        next(outcome.id for outcome in run_batch(numbered(inputs), TOOL, answer, Plan(jobs=2))) != 1
    )


def test_no_more_inputs_are_read_than_are_needed_soon() -> None:
    read = itertools.count()

    def endless() -> Iterator[Item]:
        for number in read:
            yield Item(number, {})

    outcomes = run_batch(endless(), TOOL, answer, Plan(jobs=2))
    for _ in range(100):
        next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]  # a generator is what is returned
    assert next(read) <= 100 + 2 * 4 + 1


def test_whoever_stops_reading_ends_the_calls() -> None:
    ended = threading.Event()

    def wait(call: Call, *, cancel: threading.Event) -> Outcome:
        if call.arguments == {"last": True}:
            cancel.wait(60)
            ended.set()
        return Outcome(tool="t", uid="u")

    outcomes = run_batch(numbered([{}, *[{"last": True}] * 7]), TOOL, wait, Plan(jobs=2))
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]  # a generator is what is returned
    assert ended.wait(60)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_may_not_run_at_all_ends_the_batch(jobs: int) -> None:
    def refuse(call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        raise NotTrusted("/somewhere")

    with pytest.raises(NotTrusted):
        list(run_batch(numbered([{}, {}]), TOOL, refuse, Plan(jobs=jobs)))


def test_each_call_is_told_before_it_begins() -> None:
    begun: list[object] = []
    outcomes = run_batch(
        numbered([{}, {}]), TOOL, answer, Plan(jobs=1, begin=lambda item: begun.append(item.id))
    )
    next(outcomes)
    assert begun == [1]


def test_without_a_number_there_is_a_thread_for_each_core() -> None:
    assert Plan().threads >= 1 and Plan(jobs=7).threads == 7
