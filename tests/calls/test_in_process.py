"""Code of this process: its caller is free when the call ends, and async code runs in the caller's
loop.
"""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S
from vespe.calls import in_process
from vespe.calls.in_process import Bounds, FunctionImplementation
from vespe.errors import Interrupted, TimedOut, ToolExecutionError

FREE = Bounds(PATIENCE_S)
BOUNDED = Bounds(0.05, stated=True)


def code(function: Callable[..., Any]) -> FunctionImplementation:
    return FunctionImplementation("code", function)


class Sleeper:
    """Code that waits to be let go, and says what became of it."""

    def __init__(self) -> None:
        self.begun, self.go, self.over = threading.Event(), threading.Event(), threading.Event()
        self.cancelled = False

    def sync(self) -> str:
        self.begun.set()
        assert self.go.wait(PATIENCE_S)
        self.over.set()
        return "done"

    async def waits(self) -> None:
        self.begun.set()
        try:
            await asyncio.sleep(PATIENCE_S)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        finally:
            self.over.set()


@pytest.fixture
def sleeper() -> Any:
    made = Sleeper()
    yield made
    made.go.set()


def cancelled(function: Callable[..., Any], begun: threading.Event) -> Interrupted:
    """Call code whose caller cancels it as soon as it has begun."""
    with pytest.raises(Interrupted) as caught:
        in_process.run(code(function), {}, Bounds(PATIENCE_S, cancel=begun))
    return caught.value


def test_a_caller_that_cancels_is_free_while_sync_code_runs_on_and_is_told_so(
    sleeper: Sleeper,
) -> None:
    error = cancelled(sleeper.sync, sleeper.begun)
    assert (
        not sleeper.over.is_set()
        and "continues to run" in str(error)
        and error.details == {"runs_on": True}
    )


def test_async_code_is_cancelled_and_said_to_have_ended(sleeper: Sleeper) -> None:
    error = cancelled(sleeper.waits, sleeper.begun)
    assert sleeper.cancelled and "has been ended" in str(error) and error.details == {}


def test_async_code_that_does_not_yield_to_its_end_is_said_to_run_on(sleeper: Sleeper) -> None:
    async def stubborn() -> None:
        sleeper.sync()

    assert cancelled(stubborn, sleeper.begun).details == {"runs_on": True}


@pytest.mark.parametrize("kind", ["sync", "waits"])
def test_a_deadline_that_was_asked_for_frees_the_caller(sleeper: Sleeper, kind: str) -> None:
    with pytest.raises(TimedOut, match=r"within 1 s") as caught:
        in_process.run(code(getattr(sleeper, kind)), {}, Bounds(1, stated=True))
    assert ("continues to run" in str(caught.value)) == (kind == "sync")


@pytest.mark.parametrize("kind", ["sync", "waits"])
def test_code_that_was_left_before_it_began_never_begins(sleeper: Sleeper, kind: str) -> None:
    over = threading.Event()
    over.set()
    with pytest.raises(Interrupted) as caught:
        in_process.run(code(getattr(sleeper, kind)), {}, Bounds(PATIENCE_S, cancel=over))
    assert "runs on" not in str(caught.value) or sleeper.begun.wait(PATIENCE_S)


def test_what_is_done_before_anyone_cancels_gives_its_result_and_its_error() -> None:
    bounds = Bounds(PATIENCE_S, cancel=threading.Event())
    assert in_process.run(code(lambda: 3), {}, bounds) == 3
    with pytest.raises(ToolExecutionError, match="ZeroDivisionError"):
        in_process.run(code(lambda: 1 // 0), {}, bounds)


def test_code_that_nobody_can_leave_runs_in_the_caller_s_own_thread() -> None:
    assert in_process.run(code(threading.get_ident), {}, FREE) == threading.get_ident()


def test_code_beside_sees_the_caller_s_context_variables() -> None:
    seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="")
    seen.set("told")
    assert (
        in_process.run(code(seen.get), {}, Bounds(PATIENCE_S, cancel=threading.Event())) == "told"
    )


def test_sys_exit_and_a_cancellation_of_its_own_are_the_tool_s_failures() -> None:
    async def cancels_itself() -> None:
        raise asyncio.CancelledError

    for function in (lambda: exit(3), cancels_itself):
        with pytest.raises(ToolExecutionError):
            in_process.run(code(function), {}, FREE)


def arun(function: Callable[..., Any], bounds: Bounds = FREE) -> Any:
    return asyncio.run(in_process.arun(code(function), {}, bounds))


def test_async_code_shares_the_lock_of_its_caller_s_loop() -> None:
    async def caller() -> Any:
        lock = asyncio.Lock()

        async def tool() -> str:
            async with lock:
                return "held"

        await lock.acquire()
        running = asyncio.create_task(in_process.arun(code(tool), {}, FREE))
        await asyncio.sleep(0)
        lock.release()
        return await running

    assert asyncio.run(caller()) == "held"


def test_sync_code_does_not_hold_up_its_caller_s_loop(sleeper: Sleeper) -> None:
    async def caller() -> Any:
        running = asyncio.create_task(in_process.arun(code(sleeper.sync), {}, FREE))
        while not sleeper.begun.is_set():
            await asyncio.sleep(0.001)
        sleeper.go.set()
        return await running

    assert asyncio.run(caller()) == "done"


def test_what_sync_code_returns_to_be_awaited_is_awaited_in_the_caller_s_loop() -> None:
    async def loop() -> int:
        return id(asyncio.get_running_loop())

    async def caller() -> bool:
        return bool(await in_process.arun(code(lambda: loop()), {}, FREE) == await loop())

    assert asyncio.run(caller())


@pytest.mark.parametrize("kind", ["sync", "waits"])
def test_async_callers_have_deadlines_too(sleeper: Sleeper, kind: str) -> None:
    with pytest.raises(TimedOut):
        arun(getattr(sleeper, kind), BOUNDED)


@pytest.mark.parametrize("kind", ["sync", "waits"])
def test_a_task_that_is_cancelled_ends_its_call(sleeper: Sleeper, kind: str) -> None:
    async def caller() -> None:
        running = asyncio.create_task(in_process.arun(code(getattr(sleeper, kind)), {}, FREE))
        while not sleeper.begun.is_set():
            await asyncio.sleep(0.001)
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(caller())
    assert sleeper.cancelled == (kind == "waits")


def test_a_cancellation_that_nobody_asked_for_is_the_tool_s_failure() -> None:
    async def tool() -> None:
        raise asyncio.CancelledError

    with pytest.raises(ToolExecutionError, match="CancelledError"):
        arun(tool)


def test_work_in_a_thread_has_ended_when_its_cancelled_task_ends() -> None:
    ending, over = threading.Event(), threading.Event()

    def work() -> None:
        assert ending.wait(PATIENCE_S)
        time.sleep(0.05)
        over.set()

    async def caller() -> None:
        running = asyncio.create_task(in_process.in_thread(work, leave=ending.set))
        await asyncio.sleep(0.01)
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(caller())
    assert over.is_set()
