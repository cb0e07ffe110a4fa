"""A batch on this machine: calls in a bounded number of threads, each through the call path."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from vespe.calls import tracing
from vespe.features.batch.items import Item, ItemOutcome, Run, run_item
from vespe.lazy import concurrent_futures
from vespe.models import Outcome, Tool
from vespe.processes.signals import uninterruptible

_AHEAD: Final = 4
"""Inputs that are read ahead for each thread: memory holds these, however long the input is."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a batch runs: `jobs` at the same time (0: one for each core), in the order of the inputs
    if `ordered`.

    `begin` is told of each call before it starts. `retries` and `timeout_s` are as in `run_item`.
    """

    jobs: int = 0
    ordered: bool = False
    retries: int = 0
    timeout_s: float | None = None
    begin: Callable[[Item], None] | None = None

    @property
    def threads(self) -> int:
        """The number of calls at the same time."""
        return self.jobs or os.cpu_count() or 1


def run_batch(
    items: Iterable[Item], tool: Tool, run: Callable[..., Outcome], plan: Plan
) -> Iterator[ItemOutcome]:
    """Yield the outcome of each item. Closing the iterator, or an exception in it, ends the calls
    that run, and waits for their ends.

    `run` takes a call, and an event `cancel` that ends it. What it raises (the tool may not run, or
    is broken) passes through: no call could be made.
    """
    if plan.threads == 1:
        # Between two calls there is none to end, and to watch for that would cost a thread for each
        # call of a function.
        alone = partial(
            run_item, tool=tool, run=run, retries=plan.retries, timeout_s=plan.timeout_s
        )
        yield from map(
            alone if plan.begin is None else partial(_run, tool=tool, run=run, plan=plan), items
        )
        return
    ending = threading.Event()
    waiting: deque[concurrent_futures.Future[ItemOutcome]] = deque()
    run_one = tracing.carry(partial(_run, tool=tool, run=partial(run, cancel=ending), plan=plan))
    with concurrent_futures.ThreadPoolExecutor(
        plan.threads, thread_name_prefix="vespe-batch"
    ) as pool:
        try:
            for item in items:
                # a thread whose start is cut short is one that the pool would not wait for
                with uninterruptible():
                    waiting.append(pool.submit(run_one, item))
                if len(waiting) >= plan.threads * _AHEAD:
                    yield _next(waiting, plan.ordered)
            while waiting:
                yield _next(waiting, plan.ordered)
        finally:
            ending.set()
            pool.shutdown(cancel_futures=True)


def _run(item: Item, tool: Tool, run: Run, plan: Plan) -> ItemOutcome:
    if plan.begin is not None and item.failure is None:
        plan.begin(item)
    return run_item(item, tool, run, retries=plan.retries, timeout_s=plan.timeout_s)


def _next(waiting: "deque[concurrent_futures.Future[ItemOutcome]]", ordered: bool) -> ItemOutcome:
    """Return the outcome of the first call, or of one that has ended, once there is one."""
    if ordered:
        return waiting.popleft().result()
    done, _ = concurrent_futures.wait(waiting, return_when=concurrent_futures.FIRST_COMPLETED)
    future = next(iter(done))
    waiting.remove(future)
    return future.result()
