"""Calls in flight."""

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S
from vespe.features.mcp.server.call_client import CallClient
from vespe.features.mcp.server.calls_in_flight import Flights, WaryPace
from vespe.features.mcp.server.protocol import PendingCall
from vespe.features.mcp.server.tool_results import Called
from vespe.models import Outcome


class Calls:
    """Each call waits until it is cancelled or let go; `here` says whether they are code of this
    process.
    """

    def __init__(self, *, here: bool = False) -> None:
        self.here, self.go = here, threading.Event()
        self.begun: queue.SimpleQueue[str] = queue.SimpleQueue()

    def in_process(self, name: str) -> bool:
        return self.here

    def call(
        self,
        name: str,
        arguments: Any,
        *,
        cancel: threading.Event | None,
        progress: Callable[[str], None] | None,
        by: CallClient | None = None,
    ) -> Any:
        self.begun.put(name)
        assert (cancel is None) == self.here
        while not (self.go.wait(0.01) or (cancel is not None and cancel.is_set())):
            pass
        return Called(Outcome(tool=name, uid="tool-x", result=name))


class Heard:
    """A client that keeps what it hears."""

    def __init__(self, kept: "queue.SimpleQueue[Any]") -> None:
        self.tell = self.finish = kept.put


def pending(identifier: int) -> PendingCall:
    return PendingCall(id=identifier, name=f"n{identifier}", arguments={}, revision="2025-11-25")


@pytest.fixture
def sent() -> "queue.SimpleQueue[Any]":
    return queue.SimpleQueue()


def test_calls_run_side_by_side_up_to_the_limit_and_the_rest_waits(sent: Any) -> None:
    calls = Calls()
    flights = Flights(calls, Heard(sent), limit=2)
    for number in range(3):
        assert flights.submit(pending(number), size=1) is None
    assert {calls.begun.get(timeout=PATIENCE_S) for _ in range(2)} == {
        "n0",
        "n1",
    } and calls.begun.empty()
    calls.go.set()
    assert {sent.get(timeout=PATIENCE_S)["id"] for _ in range(3)} == {0, 1, 2}
    assert flights.stop(grace_s=1, end_s=PATIENCE_S)


def test_a_call_that_still_waits_can_be_cancelled_before_it_begins(sent: Any) -> None:
    calls = Calls()
    flights = Flights(calls, Heard(sent), limit=1)
    for number in range(2):
        flights.submit(pending(number), size=1)
    calls.begun.get(timeout=PATIENCE_S)
    flights.cancel(1)
    flights.cancel(99)
    calls.go.set()
    assert (
        sent.get(timeout=PATIENCE_S)["id"] == 0
        and flights.stop(grace_s=1, end_s=PATIENCE_S)
        and sent.empty()
        and calls.begun.empty()
    )


def test_a_waiting_call_that_is_cancelled_makes_room_at_once(sent: Any) -> None:
    calls = Calls()
    flights = Flights(calls, Heard(sent), limit=1)
    flights.submit(pending(0), size=1)
    calls.begun.get(timeout=PATIENCE_S)
    for number in range(1, 1001):
        assert flights.submit(pending(number), size=60_000) is None
    refused = flights.submit(pending(1001), size=60_000)
    flights.cancel(500)
    assert refused is not None and flights.submit(pending(1001), size=60_000) is None
    flights.stop(grace_s=0, end_s=PATIENCE_S)


def test_an_id_twice_and_more_bytes_than_may_wait_are_refused(sent: Any) -> None:
    calls = Calls()
    flights = Flights(calls, Heard(sent), limit=1)
    flights.submit(pending(1), size=1)
    calls.begun.get(timeout=PATIENCE_S)
    twice, heavy = flights.submit(pending(1), size=1), flights.submit(pending(2), size=1 << 30)
    assert twice is not None and (twice["id"], twice["error"]["code"]) == (None, -32600)
    assert heavy is not None and (heavy["id"], heavy["error"]["code"]) == (2, -32000)
    flights.stop(grace_s=0, end_s=PATIENCE_S)


def test_p21_arguments_of_more_than_a_mebibyte_are_refused(sent: Any) -> None:
    large = PendingCall(id=1, name="x", arguments={"a": "y" * (1 << 20)}, revision="2025-11-25")
    refused = Flights(Calls(), Heard(sent)).submit(large, size=2 << 20)
    assert refused is not None and refused["error"]["code"] == -32602


def test_stopping_ends_what_runs_and_sends_nothing_more(sent: Any) -> None:
    calls = Calls()
    flights = Flights(calls, Heard(sent))
    flights.submit(pending(1), size=1)
    calls.begun.get(timeout=PATIENCE_S)
    assert flights.stop(grace_s=0, end_s=PATIENCE_S) and sent.empty()


def test_code_of_this_process_is_answered_on_return_until_it_is_slow_three_times(sent: Any) -> None:
    calls = Calls(here=True)
    calls.go.set()
    flights = Flights(calls, Heard(sent))
    flights.submit(pending(1), size=1)
    assert sent.get_nowait()["id"] == 1


def test_code_of_this_process_that_was_cancelled_meanwhile_is_let_be_and_not_answered(
    sent: Any,
) -> None:
    calls = Calls(here=True)
    flights = Flights(calls, Heard(sent))
    calling = threading.Thread(target=flights.submit, args=(pending(1),), kwargs={"size": 1})
    calling.start()
    calls.begun.get(timeout=PATIENCE_S)
    flights.cancel(1)
    calls.go.set()
    calling.join(PATIENCE_S)
    assert not calling.is_alive() and sent.empty() and flights.stop(grace_s=0, end_s=PATIENCE_S)


def test_at_the_end_what_calls_have_in_common_is_ended_once_they_were_told(sent: Any) -> None:
    calls, told = Calls(), []
    flights = Flights(calls, Heard(sent))
    flights.submit(pending(1), size=1)
    calls.begun.get(timeout=PATIENCE_S)
    assert flights.stop(grace_s=0, end_s=PATIENCE_S, ended=lambda: told.append("ended"))
    assert told == ["ended"] and sent.empty()


def test_ids_are_those_of_their_owner_and_each_client_gets_its_own_answer(sent: Any) -> None:
    calls, other = Calls(), queue.SimpleQueue[Any]()
    flights = Flights(calls, Heard(sent))
    assert flights.submit(pending(1), size=1) is None
    assert flights.submit(pending(1), size=1, client=Heard(other), owner="other") is None
    for _ in range(2):
        calls.begun.get(timeout=PATIENCE_S)
    flights.cancel(1, owner="other")
    calls.go.set()
    assert sent.get(timeout=PATIENCE_S)["id"] == 1
    assert flights.stop(grace_s=1, end_s=PATIENCE_S) and other.empty()


def test_calls_that_are_interrupted_are_answered_still(sent: Any) -> None:
    calls = Calls()
    flights = Flights(calls, Heard(sent))
    flights.submit(pending(1), size=1)
    calls.begun.get(timeout=PATIENCE_S)
    assert flights.busy
    flights.interrupt()
    assert sent.get(timeout=PATIENCE_S)["id"] == 1
    assert flights.stop(grace_s=1, end_s=PATIENCE_S) and not flights.busy


def test_a_wary_pace_lets_only_what_was_quick_three_times_run_here_and_what_was_then_slow_much_later() -> (
    None
):
    pace, wants_more = (
        WaryPace(),
        PendingCall(id=1, name="n1", arguments={}, revision="2025-11-25", progress_token=7),
    )
    for seconds, quick in ((0.001, False), (0.001, False), (0.001, True), (0.5, False)):
        pace.note("n1", seconds)
        assert pace.is_quick(pending(1)) == quick and not pace.is_quick(wants_more)
    for _ in range(1000):
        pace.note("n1", 0.0)
        assert not pace.is_quick(pending(1))
    for _ in range(3):
        pace.note("n1", 0.0)
    assert pace.is_quick(pending(1)) and not pace.is_quick(pending(2))


def test_a_wary_pace_tries_a_tool_again_the_later_the_longer_and_the_oftener_it_was_slow() -> None:
    pace = WaryPace()
    for seconds, owed in ((0.02, 40), (0.02, 80), (0.1, 200), (0.02, 400)):
        for _ in range(3):
            pace.note("n1", 0.0)
        assert pace.is_quick(pending(1))
        pace.note("n1", seconds)
        for _ in range(owed):
            pace.note("n1", 0.0)
        assert not pace.is_quick(pending(1))
    for _ in range(404):  # quick as often as it owed: what it did before is forgotten
        pace.note("n1", 0.0)
    pace.note("n1", 0.02)
    for _ in range(43):
        pace.note("n1", 0.0)
    assert pace.is_quick(pending(1))


def test_a_wary_pace_counts_the_work_of_a_call_that_waited_for_other_threads() -> None:
    pace = WaryPace()
    for _ in range(3):
        pace.note("n1", 0.015, worked=0.001)
        pace.note("n2", 0.015, worked=0.003)
        pace.note("n3", 0.03, worked=0.001)
    assert pace.is_quick(pending(1))
    assert not pace.is_quick(pending(2)) and not pace.is_quick(pending(3))
