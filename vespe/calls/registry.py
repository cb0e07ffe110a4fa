"""Implementations by name: in-process objects first, then what a tool's directory says."""

import threading
from collections.abc import Callable, Container
from typing import Any, TypeVar

from vespe.calls import in_process
from vespe.calls.in_process import Bounds, FunctionImplementation, Renamed, ToolImplementation
from vespe.errors import ToolImplementationNotFound, UsageError
from vespe.models import Execution, JsonObject, Tool
from vespe.tool_types import Context, type_of

__all__ = ["ToolImplementation", "ToolRegistry"]
_T = TypeVar("_T", bound=ToolImplementation | Callable[..., Any])


class ToolRegistry:
    """Implementations in this process, by tool name. Registering is thread-safe.

    ```python
    from vespe import Project, ToolRegistry

    registry = ToolRegistry()
    registry.register(str.upper, name="loud")  # runs the tool of that name
    project = Project.init(".", registry=registry)
    project.create_tool("loud", {"type": "object", "properties": {}})
    assert "loud" in registry and project.get_tool("loud").implementation is None
    ```
    """

    def __init__(self) -> None:
        self._implementations: dict[str, ToolImplementation] = {}
        self._lock = threading.Lock()

    def register(self, implementation: _T, *, name: str | None = None) -> _T:
        """Register an implementation or a function under `name` (default: its own name), and return
        it.

        An implementation's `name` may also be a method. Raises UsageError if the name is already
        registered or is not a string, or if the object is not callable.
        """
        made = self._made(implementation, name)
        with self._lock:
            if made.name in self._implementations:
                raise UsageError(
                    f"an implementation of {made.name!r} is registered already",
                    hint="unregister it first",
                )
            self._implementations[made.name] = made
        return implementation

    def unregister(self, name: str) -> None:
        """Remove an implementation; raises ToolImplementationNotFound if there is none with that
        name.
        """
        with self._lock:
            if self._implementations.pop(name, None) is None:
                raise ToolImplementationNotFound(name)

    def get(self, name: str) -> ToolImplementation:
        """Return the implementation registered under `name`; raises ToolImplementationNotFound."""
        try:
            return self._implementations[name]
        except KeyError:
            raise ToolImplementationNotFound(name) from None

    def find(self, name: str) -> ToolImplementation | None:
        """Return the implementation registered under `name`, or None."""
        return self._implementations.get(name)

    def own_tools(self, beside: Container[object] = ()) -> dict[str, Tool]:
        """Return the functions that are tools themselves, by name: `@tool` functions, and plain
        functions whose name is not in `beside`.

        `beside` contains the names of a project's tools. A plain function with such a name
        implements that tool instead.
        """
        found = (
            (name, self.own_tool(name, beside=name in beside))
            for name in list(self._implementations)
        )
        return {name: tool for name, tool in found if tool is not None}

    def own_tool(self, name: str, *, beside: bool = False) -> Tool | None:
        """Return one of `own_tools`, or None; `beside` says whether the project has a tool of that
        name.
        """
        made: Any = self._implementations.get(name)
        return (
            made.definition
            if hasattr(made, "definition") and (made.stands_alone or not beside)
            else None
        )

    def __contains__(self, name: object) -> bool:
        return name in self._implementations

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Run a tool once, with the implementation registered under its name, or otherwise with the
        executor of its type.
        """
        if (here := self.find(tool.name)) is not None:
            return Execution(
                result=in_process.run(
                    here, inputs, Bounds(context.timeout_s, cancel=context.cancel)
                )
            )
        if tool.implementation is None:
            raise ToolImplementationNotFound(tool.name)
        return type_of(tool.implementation.type).executor().execute(tool, inputs, context)

    @staticmethod
    def _made(
        implementation: ToolImplementation | Callable[..., Any], name: str | None
    ) -> ToolImplementation:
        if isinstance(implementation, ToolImplementation):
            return _named(implementation, name)
        if not callable(implementation):
            raise UsageError(
                "an implementation must be a function, or an object with a name and a method "
                "execute(inputs)"
            )
        return FunctionImplementation(name or implementation.__name__, implementation)


def _named(implementation: ToolImplementation, name: str | None) -> ToolImplementation:
    """Return an implementation with the name that it goes by as its `name`."""
    kind = type(implementation).__name__
    if isinstance(implementation, type):
        raise UsageError(
            f"{implementation.__name__} is a class; register an instance of it",
            hint=f"register {implementation.__name__}()",
        )
    own: object = implementation.name
    if callable(own):
        own = own()
    if not isinstance(own, str) or not own:
        raise UsageError(
            "the name of an implementation must be a string, or a method that returns one; the "
            f"name of {kind} is {type(own).__name__}",
        )
    if own == implementation.name and name in (None, own):
        return implementation
    if hasattr(implementation, "definition"):
        raise UsageError(
            f"the tool is called {own!r}, so it cannot be registered as {name!r}",
            hint=f"make it with that name: tool(name={name!r})",
        )
    return Renamed(name or own, implementation)
