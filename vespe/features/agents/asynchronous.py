"""A run of an agent from an event loop: the run has a thread of its own, and whatever it calls is
called in the loop.
"""

import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from vespe.errors import Interrupted
from vespe.features.agents.events import Runner
from vespe.lazy import asyncio, concurrent_futures
from vespe.models import Call, Outcome, Tool
from vespe.records import dataclass

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

T = TypeVar("T")
_LOOK_S: Final = 0.05
"""How often a cancelled run is looked for while something goes on in the loop."""


class AsyncRunner(Protocol):
    """What runs calls from an event loop, as a call path and a set of tools do."""

    async def arun_tool(self, tool: Tool, call: Call) -> Outcome:
        """Run one call of a tool to its Outcome; cancelling the task ends the call."""
        ...


@dataclass(frozen=True, slots=True)
class Home:
    """The event loop of whoever awaits a run, and what tells the run to end."""

    loop: "AbstractEventLoop"
    ending: threading.Event

    def call(self, function: Callable[[Any], Any], given: Any) -> Any:
        """Call a function, async or not, in the loop, from the thread of the run; its result is
        returned and what it raises is raised.
        """
        return self.wait(_called(function, given))

    def calling(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return what calls `function` in the loop."""
        return lambda given: self.call(function, given)

    def wait(self, work: Any, cancel: threading.Event | None = None) -> Any:
        """Have the loop do `work`, a coroutine, and wait for it; once the run or `cancel` says so
        it is cancelled: Interrupted.
        """
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        while True:
            try:
                return future.result(_LOOK_S)
            except concurrent_futures.CancelledError:
                raise Interrupted("the call was cancelled") from None
            except TimeoutError:
                if future.done():
                    raise
            if self.ending.is_set() or (cancel is not None and cancel.is_set()):
                future.cancel()
                raise Interrupted("the call was cancelled")


@dataclass(frozen=True, slots=True)
class RunnerInLoop:
    """Runs calls in the loop of whoever awaits the run, where async tools share its locks and
    clients.
    """

    runner: AsyncRunner
    home: Home

    def run_tool(self, tool: Tool, call: Call, *, cancel: threading.Event | None = None) -> Outcome:
        """Run one call of a tool to its Outcome."""
        outcome: Outcome = self.home.wait(self.runner.arun_tool(tool, call), cancel)
        return outcome


def runner_in(home: Home, runner: Runner) -> Runner:
    """Return what runs calls in the loop where `runner` can be awaited; any other runner is called
    in the thread of the run.
    """
    return RunnerInLoop(runner, home) if hasattr(runner, "arun_tool") else runner  # type: ignore[arg-type]  # by its method


async def _called(function: Callable[[Any], Any], given: Any) -> Any:
    answer = function(given)
    return await answer if isinstance(answer, Awaitable) else answer
