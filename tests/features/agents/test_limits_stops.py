"""One event for every reason to stop."""

import threading

from vespe.features.agents.limits import Stop


def test_it_is_set_by_itself_by_its_outer_event_and_by_its_deadline() -> None:
    outer = threading.Event()
    by_outer, by_itself, late = Stop(outer), Stop(), Stop(seconds=0.0)
    assert (by_outer.is_set(), by_itself.is_set(), late.reason) == (False, False, "max_seconds")
    outer.set()
    by_itself.set()
    assert (by_outer.reason, by_itself.reason) == ("cancelled", "cancelled")


def test_waiting_ends_with_the_timeout_or_with_whatever_says_stop() -> None:
    assert Stop().wait(0.01) is False
    assert Stop(seconds=0.05).wait(30) is True
    outer = threading.Event()
    threading.Timer(0.05, outer.set).start()
    assert Stop(outer).wait() is True
