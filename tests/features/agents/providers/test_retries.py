"""When a request is made again: which failures pass, how long is waited, and what an endpoint may
ask for.
"""

import threading
import time
from email.utils import formatdate

import pytest

from vespe.errors import Interrupted, ProviderError, TimedOut
from vespe.features.agents.providers.retries import (
    Patience,
    is_transient,
    persistently,
    retry_after,
)


def failing(transient: bool = True, after: float | None = None) -> ProviderError:
    error = ProviderError("no", transient=transient)
    error.retry_after_s = after
    return error


@pytest.mark.parametrize(
    ("status", "passing"),
    [
        (200, False),
        (302, False),
        (400, False),
        (401, False),
        (408, True),
        (409, True),
        (429, True),
        (500, True),
        (529, True),
    ],
)
def test_a_status_tells_whether_a_failure_passes(status: int, passing: bool) -> None:
    assert is_transient(status, {}) is passing
    assert is_transient(status, {"x-should-retry": "true"}) and not is_transient(
        status, {"x-should-retry": "false"}
    )
    assert is_transient(status, {"x-should-retry": "perhaps"}) is passing


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Thu, 99 Foo 1970"}, None),
    ],
)
def test_what_an_endpoint_asks_to_wait_is_read(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


def test_a_date_is_read_as_the_time_until_then() -> None:
    wait = retry_after({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert wait is not None and 20 < wait <= 30


def test_waits_double_up_to_a_bound_and_are_never_the_same_for_all() -> None:
    patience = Patience(retries=9)
    waits = [
        [patience.wait_after(failing(), tries) or 0 for _ in range(50)] for tries in (1, 2, 3, 9)
    ]
    for found, most in zip(waits, (0.5, 1.0, 2.0, 8.0), strict=True):
        assert all(most / 2 <= wait <= most for wait in found) and len(set(found)) > 1


def test_what_an_endpoint_asks_for_is_waited_up_to_the_cap() -> None:
    patience = Patience(retry_after_cap_s=10)
    assert [patience.wait_after(failing(after=seconds), 1) for seconds in (0.0, 10.0, 10.1)] == [
        0.0,
        10.0,
        None,
    ]


def test_what_does_not_pass_is_not_tried_again() -> None:
    assert Patience().wait_after(failing(transient=False), 1) is None
    assert Patience(retries=0).wait_after(failing(), 1) is None


def test_a_wait_that_the_deadline_would_cut_short_is_not_begun() -> None:
    patience = Patience(total_s=5, retries=3)
    with pytest.raises(ProviderError):
        persistently(
            raising(failing(after=30)), patience, limits=patience.limits("it", None), cancel=None
        )


def test_a_wait_that_is_asked_for_is_no_silence() -> None:
    patience = Patience(stall_s=0.05, total_s=20, retries=1)
    tries: list[int] = []

    def attempt() -> None:
        tries.append(1)
        raise failing(after=0.1)

    with pytest.raises(ProviderError):
        persistently(attempt, patience, limits=patience.limits("it", None), cancel=None)
    assert len(tries) == 2


def test_the_total_deadline_holds_over_all_tries() -> None:
    patience = Patience(total_s=0.2, retries=1000, backoff_s=0.05)
    with pytest.raises((TimedOut, ProviderError)):
        persistently(raising(failing()), patience, limits=patience.limits("it", None), cancel=None)


def test_cancelling_ends_a_wait() -> None:
    patience, cancel = Patience(), threading.Event()
    threading.Timer(0.1, cancel.set).start()
    with pytest.raises(Interrupted):
        persistently(
            raising(failing(after=50)),
            patience,
            limits=patience.limits("it", cancel),
            cancel=cancel,
        )


def test_each_wait_is_told_before_it_begins() -> None:
    told: list[tuple[str, float]] = []
    patience = Patience(
        retries=2, on_wait=lambda error, seconds: told.append((error.message, seconds))
    )
    with pytest.raises(ProviderError):
        persistently(
            raising(failing(after=0.01)), patience, limits=patience.limits("it", None), cancel=None
        )
    assert [seconds for _, seconds in told] == [0.01, 0.01] and all(message for message, _ in told)


def raising(error: ProviderError) -> "Raises":
    return Raises(error)


class Raises:
    def __init__(self, error: ProviderError) -> None:
        self._error = error

    def __call__(self) -> None:
        raise self._error
