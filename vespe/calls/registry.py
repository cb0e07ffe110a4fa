"""Implementations by name: in-process objects first, then what a tool's directory says."""

import contextlib
import inspect
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from vespe.calls.executors import EXECUTORS
from vespe.calls.executors.base import Context
from vespe.errors import TimedOut, ToolExecutionError, ToolImplementationNotFound, UsageError, VespeError
from vespe.lazy import asyncio, concurrent_futures
from vespe.models import Execution, JsonObject, JsonValue, Tool

_BEGIN_S: Final = 0.01
"""How often it is looked whether code that is to end has begun: only then can it be told so."""


@runtime_checkable
class ToolImplementation(Protocol):
    """Python code that implements a tool in-process: a name, and `execute`, sync or async."""

    @property
    def name(self) -> str:
        """What the model calls."""
        ...

    def execute(self, inputs: JsonObject) -> JsonValue | Awaitable[JsonValue]:
        """Run with inputs that the tool's schema accepted; give a result that JSON can say, or raise."""
        ...


@dataclass(frozen=True, slots=True)
class _FunctionImplementation:
    """A plain or async function, called with the inputs as keywords."""

    name: str
    function: Callable[..., Any]

    def execute(self, inputs: JsonObject) -> Any:
        return self.function(**inputs)


class ToolRegistry:
    """Implementations that live in this process, by the tool's name. Registering is safe from several threads."""

    def __init__(self) -> None:
        self._implementations: dict[str, ToolImplementation] = {}
        self._lock = threading.Lock()

    def register(self, implementation: ToolImplementation | Callable[..., Any], *, name: str | None = None) -> None:
        """Add an implementation, or a function under `name` (its own name by default).

        Raises UsageError where the name is taken already, or what is given cannot be called.
        """
        made = self._made(implementation, name)
        with self._lock:
            if made.name in self._implementations:
                raise UsageError(f"an implementation of {made.name!r} is registered already", hint="unregister it first")
            self._implementations[made.name] = made

    def unregister(self, name: str) -> None:
        """Take an implementation out; raises ToolImplementationNotFound where there is none of that name."""
        with self._lock:
            if self._implementations.pop(name, None) is None:
                raise ToolImplementationNotFound(name)

    def get(self, name: str) -> ToolImplementation:
        """Return the implementation registered under `name`; raises ToolImplementationNotFound."""
        try:
            return self._implementations[name]
        except KeyError:
            raise ToolImplementationNotFound(name) from None

    def __contains__(self, name: object) -> bool:
        return name in self._implementations

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Run a tool once: by the implementation registered under its name, else by the executor of its type."""
        if tool.name in self._implementations:
            return Execution(result=_run_here(self.get(tool.name), inputs, context.timeout_s))
        if tool.implementation is None:
            raise ToolImplementationNotFound(tool.name)
        return EXECUTORS[tool.implementation.type].execute(tool, inputs, context)

    @staticmethod
    def _made(implementation: ToolImplementation | Callable[..., Any], name: str | None) -> ToolImplementation:
        if isinstance(implementation, ToolImplementation):
            return implementation
        if not callable(implementation):
            raise UsageError("an implementation is a function, or an object with a name and execute(inputs)")
        return _FunctionImplementation(name or implementation.__name__, implementation)


def _run_here(implementation: ToolImplementation, inputs: JsonObject, timeout_s: float) -> JsonValue:
    """Call in this thread: a hop to another costs more than everything else. Only async code can be ended at its deadline."""
    try:
        answer = implementation.execute(inputs)
        return _awaited(answer, implementation.name, timeout_s) if inspect.isawaitable(answer) else answer
    except VespeError:
        raise
    except Exception as error:
        raise ToolExecutionError(f"{type(error).__name__}: {error}", details={"exception": type(error).__name__}) from error


def _awaited(answer: Awaitable[JsonValue], name: str, timeout_s: float) -> JsonValue:
    """Wait for async code in an event loop of its own, in a thread of its own where this one runs a loop already.

    An interruption of the wait ends the code, too.
    """
    begun: list[Any] = []

    async def bounded() -> JsonValue:
        begun.append(asyncio.current_task())
        return await asyncio.wait_for(answer, timeout_s)

    def outcome() -> JsonValue:
        try:
            return asyncio.run(bounded())
        except asyncio.TimeoutError:
            raise TimedOut(f"the tool {name!r}", seconds=timeout_s) from None

    if asyncio._get_running_loop() is None:
        return outcome()
    with concurrent_futures.ThreadPoolExecutor(1, "vespe-async-tool") as pool:
        made = pool.submit(outcome)
        try:
            return made.result()
        finally:
            while not made.done() and not begun:
                concurrent_futures.wait([made], timeout=_BEGIN_S)
            if not made.done():
                with contextlib.suppress(RuntimeError):  # its loop has ended meanwhile
                    begun[0].get_loop().call_soon_threadsafe(begun[0].cancel)
