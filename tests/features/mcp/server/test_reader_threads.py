"""Threads that take turns at reading."""

import queue
import threading
from collections.abc import Iterator

from tests.support.ondisk import PATIENCE_S
from vespe.features.mcp.server.reader_threads import Turns


def test_items_are_handled_in_one_thread_as_long_as_none_is_slow() -> None:
    seen: list[tuple[int, str]] = []
    Turns(iter(range(100)), lambda item: seen.append((item, threading.current_thread().name))).run(
        lambda: None, tick_s=10
    )
    assert [item for item, _ in seen] == list(range(100)) and "MainThread" not in {
        name for _, name in seen
    }


def test_another_thread_reads_on_while_one_item_takes_long() -> None:
    second = threading.Event()

    def handle(item: int) -> None:
        if item == 1:
            assert second.wait(PATIENCE_S)
        if item == 2:
            second.set()

    Turns(iter([1, 2]), handle).run(lambda: None, tick_s=10)
    assert second.is_set()


def test_ticks_come_while_nothing_else_does() -> None:
    items: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    ticks: list[int] = []

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            items.put(None)

    source: Iterator[int] = iter(items.get, None)
    Turns(source, lambda item: None).run(tick, tick_s=0.01)
    assert len(ticks) >= 3
