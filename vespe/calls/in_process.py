"""Code of this process that implements a tool: called where its caller is, or beside it where the
caller may leave before it ends.
"""

import contextlib
import contextvars
import inspect
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, runtime_checkable

from vespe.errors import Interrupted, TimedOut, ToolExecutionError, VespeError
from vespe.lazy import asyncio
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

if TYPE_CHECKING:
    from asyncio import Future, Task

_POLL_S: Final = 0.02
"""How often `cancel` is looked at: it need not be an event that can be waited for together with
another.
"""
_LOOK_S: Final = 0.5
"""How long a wait may be: Python hears a signal that comes just before one begins only when it
ends.
"""
_GRACE_S: Final = 0.2
"""How long a caller that leaves waits for async code to unwind; it is cancelled, and goes on
unwinding afterwards.
"""

_READY: Final = frozenset({dict, list, str, int, float, bool, NoneType})
"""Results of these classes need no event loop."""


@runtime_checkable
class ToolImplementation(Protocol):
    """Python code that implements a tool in-process. It has a name and a method `execute`, sync or
    async.
    """

    @property
    def name(self) -> str:
        """The name that models use to call the tool."""
        ...

    def execute(self, inputs: JsonObject) -> JsonValue | Awaitable[JsonValue]:
        """Run with inputs that match the tool's schema. Return a result that JSON can represent, or
        raise an exception.
        """
        ...


@dataclass(frozen=True, slots=True)
class FunctionImplementation:
    """A plain or async function, called with the inputs as keywords."""

    name: str
    function: Callable[..., Any]

    def execute(self, inputs: JsonObject) -> Any:
        """Call the function."""
        return self.function(**inputs)


@dataclass(frozen=True, slots=True)
class Renamed:
    """An implementation under another name than its own, or whose own name is a method."""

    name: str
    given: ToolImplementation

    @property
    def execute(self) -> Callable[[JsonObject], JsonValue | Awaitable[JsonValue]]:
        """Run what was given: its own method, so that an async one is seen to be one."""
        return self.given.execute


class Pause:
    """How long the deadline of a call, or of a program, stands still: while a person is asked, by
    one thread or by several at a time.
    """

    def __init__(self) -> None:
        self._past = self._since = 0.0
        self._within, self._lock = 0, threading.Lock()
        self._deadline: asyncio.Timeout | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def seconds(self) -> float:
        """How long it has stood still up to now."""
        with self._lock:
            return self._seconds()

    def __enter__(self) -> None:
        with self._lock:
            self._within += 1
            if self._within == 1:
                self._since = time.monotonic()
                self._in_loop(self._hold)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within:
                self._past, self._since = self._seconds(), 0.0
                self._in_loop(self._go_on)

    @contextlib.asynccontextmanager
    async def timeout(self, seconds: float) -> "AsyncIterator[asyncio.Timeout]":
        """Bound what runs within, as `asyncio.timeout` does, by so many seconds besides the
        pauses.
        """
        self._loop = asyncio.get_running_loop()
        self._until = self._loop.time() + seconds
        try:
            async with asyncio.timeout(seconds) as self._deadline:
                yield self._deadline
        finally:
            self._deadline = self._loop = None

    def _seconds(self) -> float:
        return self._past + (time.monotonic() - self._since if self._since else 0.0)

    def _in_loop(self, change: Callable[[], None]) -> None:
        if (loop := self._loop) is None:
            return
        if running_loop() is loop:
            change()
            return
        with contextlib.suppress(RuntimeError):  # the loop has ended, and the call with it
            loop.call_soon_threadsafe(change)

    def _hold(self) -> None:
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(None)

    def _go_on(self) -> None:
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(self._until + self._past)


class Bounds(NamedTuple):
    """What ends a call: its deadline in seconds from now, `stated` where the caller or the tool
    asked for it, and `cancel`; the deadline stands still for `pause`.
    """

    timeout_s: float
    stated: bool = False
    cancel: threading.Event | None = None
    pause: Pause | None = None


def run(implementation: ToolImplementation, inputs: JsonObject, bounds: Bounds) -> JsonValue:
    """Call an implementation and return its result; what it raises becomes ToolExecutionError.

    A call that can be cancelled, or whose deadline somebody asked for, runs in a thread of its own,
    and the caller is free as soon as either comes: Interrupted, TimedOut. Async code is cancelled
    then; sync code cannot be ended, runs on, and the error says so. Any other call runs in the
    caller's thread, since a hop to another costs more than everything else, and only async code
    ends at its deadline.
    """
    try:
        if bounds.cancel is not None or bounds.stated:
            return _Beside(
                partial(implementation.execute, inputs),
                implementation.name,
                bounds,
                is_async=_is_async(implementation),
            ).result()
        answer = implementation.execute(inputs)
        # `isinstance` asks the abstract class for its hook, which takes as long as the rest
        if type(answer) in _READY or not isinstance(answer, Awaitable):
            return answer
        return _awaited(answer, implementation.name, bounds)
    except VespeError:
        raise
    except (Exception, SystemExit) as error:
        raise _failure(error) from error


async def arun(implementation: ToolImplementation, inputs: JsonObject, bounds: Bounds) -> JsonValue:
    """Call an implementation as `run` does: async code in the caller's event loop, sync code in a
    thread of its own.

    Cancelling the caller's task cancels async code; sync code runs on, and its result is dropped.
    """
    try:
        answer = (
            implementation.execute(inputs)
            if _is_async(implementation)
            else await _in_thread(implementation, inputs, bounds)
        )
        return (
            await _before_deadline(answer, implementation.name, bounds)
            if isinstance(answer, Awaitable)
            else answer
        )
    except VespeError:
        raise
    except (Exception, SystemExit) as error:
        raise _failure(error) from error


async def in_thread(work: Callable[[], Any], *, leave: Callable[[], object]) -> Any:
    """Do `work` in a thread of its own without blocking the event loop.

    Where the caller's task is cancelled, `leave` must end the work; that is waited for before
    CancelledError is raised.
    """
    done = _begin(work)
    try:
        await asyncio.wait([done])
    except asyncio.CancelledError:
        leave()
        await asyncio.wait([done])
        raise
    return _unwrapped(done.result())


def _awaited(answer: Awaitable[JsonValue], name: str, bounds: Bounds) -> JsonValue:
    if running_loop() is not None:
        return _Beside(lambda: answer, name, bounds, is_async=True).result()
    return asyncio.run(_before_deadline(answer, name, bounds))


class _Beside:
    """One call in a thread of its own, whose caller may leave. The thread is a daemon: what runs on
    keeps no program alive.
    """

    def __init__(
        self,
        begin: Callable[[], JsonValue | Awaitable[JsonValue]],
        name: str,
        bounds: Bounds,
        *,
        is_async: bool,
    ) -> None:
        self._begin, self._name, self._bounds, self._is_async = begin, name, bounds, is_async
        # No Event: Ctrl-C at the wrong step of its wait leaves its lock taken for good
        # (https://bugs.python.org/issue29988).
        self._is_over = False
        self._running = threading.Lock()
        self._running.acquire()
        self._lock = threading.Lock()
        self._left = self._has_begun = False
        self._task: Task[Any] | None = None
        self._answer: JsonValue = None
        self._error: BaseException | None = None

    def result(self) -> JsonValue:
        """Wait for the result, the deadline or `cancel`; an interruption of the wait ends the code,
        too.
        """
        run = contextvars.copy_context().run
        try:
            from vespe.calls import threads

            threads.start(partial(run, self._work))
            cancelled = self._wait()
        finally:
            over = self._is_over
            ended = over or self._leave()
        if not over:
            raise _left(self._name, self._bounds, cancelled=cancelled, ended=ended)
        if self._error is not None:
            raise self._error
        return self._answer

    def _wait(self) -> bool:
        """Return whether the call was cancelled."""
        until = time.monotonic() + self._bounds.timeout_s
        cancel, pause = self._bounds.cancel, self._bounds.pause
        while (left := until + (pause.seconds if pause else 0.0) - time.monotonic()) > 0:
            if cancel is not None and cancel.is_set():
                return True
            if self._ends_within(min(left, _LOOK_S if cancel is None else _POLL_S)):
                return False
        return False

    def _ends_within(self, seconds: float) -> bool:
        return self._is_over or self._running.acquire(timeout=seconds)

    def _leave(self) -> bool:
        """Cancel async code, and let none begin that has not; return whether nothing runs on."""
        with self._lock:
            self._left = True
            task = self._task
            if task is not None and not self._is_over:
                task.get_loop().call_soon_threadsafe(task.cancel)
        return not self._has_begun or (
            (self._is_async or task is not None) and self._ends_within(_GRACE_S)
        )

    def _work(self) -> None:
        try:
            with self._lock:
                self._has_begun = not self._left
            answer = self._begin() if self._has_begun or self._is_async else None
            self._answer = (
                asyncio.run(self._cancellable(answer)) if isinstance(answer, Awaitable) else answer
            )
        except BaseException as error:  # it is the waiting thread's
            self._error = error
        finally:
            self._is_over = True
            self._running.release()

    async def _cancellable(self, answer: Awaitable[JsonValue]) -> JsonValue:
        with self._lock:
            self._task, left = asyncio.current_task(), self._left
        if left:
            if hasattr(answer, "close"):  # a coroutine, which warns where nobody awaits it
                answer.close()
            raise asyncio.CancelledError
        try:
            return await _before_deadline(answer, self._name, self._bounds)
        finally:
            with self._lock:
                self._task = None


async def _in_thread(implementation: ToolImplementation, inputs: JsonObject, bounds: Bounds) -> Any:
    """Call sync code; where the deadline or a cancelled task comes first, it runs on.

    The future is awaited itself: `asyncio.wait` with a timeout takes a fifth of such a call.
    """
    done = _begin(partial(implementation.execute, inputs))
    loop, pause = done.get_loop(), bounds.pause
    until = time.monotonic() + bounds.timeout_s
    deadline = loop.call_later(bounds.timeout_s, lambda: expire())

    def expire() -> None:
        nonlocal deadline
        left = until + (pause.seconds if pause else 0.0) - time.monotonic()
        if left > 0:
            deadline = loop.call_later(left, expire)
        else:
            late = _left(implementation.name, bounds, cancelled=False, ended=False)
            _settle(done, (None, late))

    try:
        return _unwrapped(await done)
    except asyncio.CancelledError:
        if done.done() and not done.cancelled():
            _drop(done.result())
        raise
    finally:
        deadline.cancel()


def _begin(work: Callable[[], Any]) -> "Future[tuple[Any, BaseException | None]]":
    """Begin work in a thread; the future gets its result or its error, as a pair that can be left
    alone.
    """
    loop = asyncio.get_running_loop()
    done: Future[tuple[Any, BaseException | None]] = loop.create_future()

    def thread() -> None:
        try:
            found: tuple[Any, BaseException | None] = (work(), None)
        except BaseException as error:  # it is the waiting task's
            found = (None, error)
        try:
            loop.call_soon_threadsafe(_settle, done, found)
        except RuntimeError:  # the loop has ended, so nobody waits any more
            _drop(found)

    from vespe.calls import threads

    threads.start(partial(contextvars.copy_context().run, thread))
    return done


def _settle(done: "Future[Any]", found: tuple[Any, BaseException | None]) -> None:
    """Give a future its pair, unless nobody waits for it any more."""
    if done.done():
        _drop(found)
    else:
        done.set_result(found)


def _drop(found: tuple[Any, BaseException | None]) -> None:
    """Close a coroutine that nobody will await: it would warn of that."""
    if inspect.iscoroutine(found[0]):
        found[0].close()


def _unwrapped(found: tuple[Any, BaseException | None]) -> Any:
    result, error = found
    if error is not None:
        raise error
    return result


async def _before_deadline(answer: Awaitable[JsonValue], name: str, bounds: Bounds) -> JsonValue:
    bounded = asyncio.timeout if bounds.pause is None else bounds.pause.timeout
    try:
        async with bounded(bounds.timeout_s) as deadline:
            return await answer
    except TimeoutError:
        if not deadline.expired():
            raise
        raise TimedOut(f"the tool {name!r}", seconds=bounds.timeout_s) from None
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _failure(error) from error  # the code's own: nobody cancelled its caller


def _is_async(implementation: ToolImplementation) -> bool:
    function = (
        implementation.function
        if isinstance(implementation, FunctionImplementation)
        else implementation.execute
    )
    return inspect.iscoroutinefunction(function)


def running_loop() -> "asyncio.AbstractEventLoop | None":
    """Return the event loop that runs in this thread."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _left(name: str, bounds: Bounds, *, cancelled: bool, ended: bool) -> VespeError:
    """Return what a caller is told that left before the code ended."""
    known = {} if ended else {"runs_on": True}
    state = (
        "has been ended"
        if ended
        else "continues to run, because a Python function cannot be ended from outside; its result "
        "is discarded"
    )
    if cancelled:
        return Interrupted(f"the tool {name!r} was cancelled and {state}", details=known)
    late = TimedOut(f"the tool {name!r}", seconds=bounds.timeout_s, then=state)
    late.details |= known
    return late


def _failure(error: BaseException) -> ToolExecutionError:
    return ToolExecutionError(
        f"{type(error).__name__}: {error}", details={"exception": type(error).__name__}
    )
