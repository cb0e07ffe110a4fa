"""When to tell clients of changes."""

import time

import pytest

from vespe.features.mcp.server.marks import Changes


class Shelf:
    version = 0

    def refresh(self) -> bool:
        return True


def looked(changes: Changes) -> bool:
    time.sleep(0.002)  # looking takes its share of the time only
    return changes.look()


def test_a_change_is_told_once_when_it_has_settled() -> None:
    shelf = Shelf()
    changes = Changes(shelf)
    assert not looked(changes)
    shelf.version = 1
    assert not looked(changes)
    shelf.version = 2
    assert not looked(changes)
    assert looked(changes) and not looked(changes)


def test_a_project_that_takes_long_to_look_at_is_looked_at_every_second_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # a look takes 90 ms, and two questions in between are too early
    clock = iter([0.0, 0.09, 0.5, 0.99, 1.0, 1.09])
    looks: list[bool] = []

    class Slow(Shelf):
        def refresh(self) -> bool:
            looks.append(True)
            return True

    changes = Changes(Slow())
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    for _ in range(3):
        changes.look()
    assert len(looks) == 1
    changes.look()
    assert len(looks) == 2


def test_an_error_that_nobody_foresaw_ends_no_watch_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Shelf):
        def refresh(self) -> bool:
            raise KeyError("gone")

    changes = Changes(Broken())
    assert [looked(changes) for _ in range(3)] == [False] * 3
    assert [record.message for record in caplog.records] == [
        "a bug in Vespe ended the watch for changes; please report it with the lines below"
    ]
