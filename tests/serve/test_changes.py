"""When to tell clients of changes."""

import time

from vespe.serve.changes import Changes


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
