"""A batch on a cluster: chunks of items as tasks of an engine that others wrote, which does the
scheduling.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from vespe.features.batch import parcel as parcels
from vespe.features.batch.items import Item, ItemOutcome, failed, is_repeatable, run_item, unknown
from vespe.features.batch.local import Plan
from vespe.features.batch.parcel import Parcel
from vespe.models import Call, Failure, Outcome, Tool

_TASK_S: Final = 1.0
"""How long a chunk should take: long against the milliseconds that a task costs, short against
losing a worker.
"""
_TASKS_PER_S: Final = 100
"""How many chunks a driver and a scheduler get through: with more workers than these, chunks are
longer.
"""
_FIRST: Final = 8
_LARGEST: Final = 5_000
_AHEAD: Final = 2


@dataclass(frozen=True)
class Chunk:
    """Items that one task calls, and how; `claim` says whether the task may begin (never twice),
    None where that may be.
    """

    items: tuple[Item, ...]
    retries: int
    timeout_s: float | None
    claim: Callable[[], bool] | None = None


class Engine(Protocol):
    """What a cluster's library does for a batch."""

    threads: int

    def submit(self, chunk: Chunk, number: int, *, again: bool) -> Any:
        """Start the task of a chunk, again on another worker if its worker is lost and `again`;
        return a handle.
        """
        ...

    def wait(self, handles: Sequence[Any]) -> Any:
        """Return a handle whose task has ended."""
        ...

    def outcomes(self, handle: Any) -> list[ItemOutcome] | None:
        """Return what a task gave; None if its worker was lost."""
        ...

    def cancel(self, handles: Sequence[Any]) -> None:
        """End tasks."""
        ...


def run_chunk(parcel: Parcel, chunk: Chunk) -> list[ItemOutcome] | None:
    """Call the tool for each item of a chunk, on a worker; None if the chunk was begun before and
    must not run twice.
    """
    if chunk.claim is not None and not chunk.claim():
        return None
    path, tool = parcels.opened(parcel)

    def run(call: Call) -> Outcome:
        return path.run_tool(tool, call)

    return [
        run_item(item, tool, run, retries=chunk.retries, timeout_s=chunk.timeout_s)
        for item in chunk.items
    ]


def run_on_engine(
    items: Iterable[Item], tool: Tool, engine: Engine, plan: Plan
) -> Iterator[ItemOutcome]:
    """Yield the outcome of each item; a lost worker costs its chunk: it runs again, or its end is
    not known if it must not.
    """
    again = is_repeatable(tool)
    running: dict[Any, tuple[int, Chunk, float]] = {}
    ended: dict[int, list[ItemOutcome]] = {}
    chunks = _Chunks(items, plan, seconds=max(_TASK_S, engine.threads / _TASKS_PER_S))
    following = 0
    try:
        while True:
            while len(running) < engine.threads * _AHEAD and (chunk := chunks.take()):
                running[engine.submit(chunk, chunks.taken, again=again)] = (
                    chunks.taken,
                    chunk,
                    time.monotonic(),
                )
            if not running:
                break
            handle = engine.wait(list(running))
            number, chunk, began = running.pop(handle)
            outcomes = engine.outcomes(handle)
            chunks.learn(chunk, (time.monotonic() - began) / _AHEAD)
            ended[number] = (
                [_lost(item, tool, again) for item in chunk.items] if outcomes is None else outcomes
            )
            if not plan.ordered:
                yield from ended.pop(number)
            while (following + 1) in ended:
                following += 1
                yield from ended.pop(following)
    finally:
        engine.cancel(list(running))


class _Chunks:
    """Items in chunks that take about so many seconds; `taken` counts them."""

    def __init__(self, items: Iterable[Item], plan: Plan, *, seconds: float = _TASK_S) -> None:
        self._seconds = seconds
        self._items = iter(items)
        self._plan = plan
        self._size = _FIRST
        self.taken = 0

    def take(self) -> Chunk | None:
        items = tuple(itertools.islice(self._items, self._size))
        if not items:
            return None
        for item in items:
            if self._plan.begin is not None and item.failure is None:
                self._plan.begin(item)
        self.taken += 1
        return Chunk(items, self._plan.retries, self._plan.timeout_s)

    def learn(self, chunk: Chunk, seconds: float) -> None:
        # what is not called takes no time, and says nothing of what is
        if calls := sum(item.failure is None for item in chunk.items):
            wanted = calls * self._seconds / max(seconds, 0.001)
            self._size = max(1, min(int(min(wanted, 2 * self._size)), _LARGEST))


def with_claim(chunk: Chunk, claim: Callable[[], bool] | None) -> Chunk:
    """Return a chunk that begins only if `claim` says so."""
    return replace(chunk, claim=claim)


def _lost(item: Item, tool: Tool, again: bool) -> ItemOutcome:
    if item.failure is not None:
        return failed(item, tool, item.failure)
    if not again:
        return unknown(item, tool)
    message = "the worker was lost, and so were all other workers that tried this call"
    return failed(item, tool, Failure(code="worker_lost", message=message, retryable=False))
