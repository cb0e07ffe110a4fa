"""Sessions of the older revisions: how many are kept, and which one makes room."""

from vespe.features.mcp.server.http_sessions import HttpSessions
from vespe.features.mcp.server.protocol import ProtocolSession


def test_the_session_that_was_used_longest_ago_makes_room() -> None:
    sessions = HttpSessions(limit=3)
    first, second, third = [str(sessions.opened(ProtocolSession())) for _ in range(3)]
    assert sessions.used(first) is not None
    fourth = sessions.opened(ProtocolSession())
    assert sessions.used(second) is None and len(sessions) == 3
    assert all(sessions.used(name) for name in (first, third, fourth))


def test_a_session_with_something_under_way_is_never_forgotten() -> None:
    sessions = HttpSessions(limit=1)
    name = sessions.opened(ProtocolSession())
    session = sessions.used(name)
    assert session is not None
    session.calls[1] = object()  # type: ignore[assignment]  # only that there is one counts
    assert sessions.opened(ProtocolSession()) is None and sessions.used(name) is session
    session.calls.clear()
    assert sessions.opened(ProtocolSession()) is not None and sessions.used(name) is None


def test_a_session_that_ended_or_never_was_is_not_found() -> None:
    sessions = HttpSessions()
    name = str(sessions.opened(ProtocolSession()))
    sessions.ended(name)
    sessions.ended("nope")
    assert sessions.used(name) is None and sessions.used(None) is None and not list(sessions)
