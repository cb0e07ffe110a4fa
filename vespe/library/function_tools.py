"""Functions as tools: the decorator, and what a function's annotations and docstring say, as a Tool
that runs in this process.
"""

import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

from vespe import defaults
from vespe.documents.near import suggest
from vespe.errors import InvalidArguments, InvalidOutput, UsageError
from vespe.models import JsonObject, JsonValue, Tool
from vespe.tools.drafts import check_name
from vespe.tools.python.live import derive_live, is_async
from vespe.tools.python.live_classes import hints_of
from vespe.tools.python.signatures import Derived
from vespe.types.python_script import values as python_values

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
_HINTS: Final[Mapping[str, str]] = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


class ToolOptions(TypedDict, total=False):
    """The options of `tool`, for what the signature and the docstring do not say.

    `name` and `description` replace the function's own. `read_only`, `destructive`, `idempotent`
    and `open_world` are MCP's hints: a read-only tool runs without approval and in parallel with
    others. `timeout_s` is the time limit in seconds, `max_output_bytes` the maximum size of a
    result, and `model_tokens` the maximum that a model sees of it (a number, or "whole").
    `examples` have the same form as in config.json: `{"input": …, "output": …}`.
    """

    name: str
    description: str
    title: str
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    timeout_s: float
    max_output_bytes: int
    model_tokens: int | Literal["whole"]
    tags: Sequence[str]
    examples: Sequence[JsonObject]


class ToolFunction(Protocol[P, R]):
    """A function that is also a tool. You can call it as before."""

    @property
    def tool(self) -> "FunctionTool":
        """The tool."""
        ...

    @property
    def save(self) -> Callable[[str | os.PathLike[str]], Tool]:
        """See `FunctionTool.save`."""
        ...

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        ...


@overload
def tool(function: Callable[P, R], /) -> ToolFunction[P, R]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], ToolFunction[P, R]]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Make a function a tool: its name, schema and description come from its signature and
    docstring. The function stays a function.

    `@tool` and `@tool(read_only=True)` both work; see `ToolOptions`. The schema is derived when it
    is first needed. Raises UsageError for an object that is not callable, an unknown option, or an
    invalid tool name.

    ```python
    from typing import Annotated
    from vespe import Toolset, tool

    @tool(read_only=True)
    def search(query: str, limit: Annotated[int, "How many at most."] = 5) -> list[str]:
        \"""Search the notes.\"""
        return [query] * limit

    assert search("x", limit=2) == ["x", "x"]
    assert search.tool.description == "Search the notes."
    assert Toolset(search).call("search", query="x", limit=1).unwrap() == ["x"]
    ```
    """
    if function is None:
        return lambda given: _marked(given, options)
    return _marked(function, options)


def _marked(function: Callable[..., Any], options: ToolOptions) -> Any:
    made = FunctionTool(function, **options)
    bearer: Any = function
    # a method or an object: what it is need not take attributes
    if not isinstance(function, types.FunctionType):

        @functools.wraps(function)
        def bearer(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    bearer.tool, bearer.save = made, made.save
    return bearer


class FunctionTool:
    """A function of this process as a tool, with the definition that models see.

    Arguments are converted to the parameters' types (a dataclass parameter gets a dataclass), and
    the result is converted to JSON. `execute` is a coroutine function if the function is one.

    ```python
    from vespe import FunctionTool

    def double(n: int) -> int:
        \"""Double a number.\"""
        return 2 * n

    assert FunctionTool(double, name="twice").input_schema["required"] == ["n"]
    ```
    """

    def __init__(self, function: Callable[..., Any], /, **options: Unpack[ToolOptions]) -> None:
        if not callable(function):
            raise UsageError(f"a tool is a function, not {type(function).__name__}")
        for option in options:
            if option not in ToolOptions.__annotations__:
                known = tuple(ToolOptions.__annotations__)
                raise UsageError(
                    f"a tool has no option {option!r}",
                    hint=suggest(option, known) or f"there are {', '.join(known)}",
                )
        self.function = function
        self.name = (
            options.get("name") or getattr(function, "__name__", "") or type(function).__name__
        )
        check_name(self.name)
        self._options = options
        self.stands_alone = True
        """Whether it is a tool whatever a project has under its name; else it runs the project's
        tool.
        """
        self.execute: Callable[[JsonObject], Any] = (
            self._aexecute if is_async(function) else self._execute
        )

    def __repr__(self) -> str:
        return f"<tool {self.name} of {self.function!r}>"

    @property
    def description(self) -> str:
        """The description that models see."""
        return self.definition.description

    @property
    def input_schema(self) -> JsonObject:
        """The JSON Schema of the inputs."""
        return self.definition.input_schema

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about parts of the signature that the schemas cannot express."""
        return self.derived.notes

    @cached_property
    def derived(self) -> Derived:
        """The definition that is derived from the signature and the docstring; raises UsageError
        for a positional-only parameter.
        """
        return derive_live(self.function, name=self.name)

    @cached_property
    def definition(self) -> Tool:
        """The tool as a `Tool`, which adapters, agents and the call path accept."""
        given, derived = self._options, self.derived
        description = given.get("description", derived.description)
        hints: JsonObject = {hint: given[key] for key, hint in _HINTS.items() if key in given}  # type: ignore[literal-required]  # the keys are those of the typed dict
        annotations = hints | ({"title": given["title"]} if "title" in given else {})
        schema = {"input": derived.input_schema} | (
            {"output": derived.output_schema} if derived.output_schema is not None else {}
        )
        return Tool(
            uid="",
            name=self.name,
            description=description,
            input_schema=derived.input_schema,
            output_schema=derived.output_schema,
            tags=tuple(given.get("tags", ())),
            timeout_s=given.get("timeout_s"),
            max_output_bytes=given.get("max_output_bytes"),
            model_tokens=given.get("model_tokens"),
            annotations=annotations,
            examples=tuple(given.get("examples", ())),
            scope=defaults.PROGRAM,
            document={"name": self.name, "description": description, "schema": schema},
        )

    def save(self, directory: str | os.PathLike[str]) -> Tool:
        """Write the function as a tool directory below `directory`, and return the tool that is
        loaded from there.

        The function's file is copied, so the function must be at the top level of a file. A tool
        that is saved in a project's `.vespe/tools` is trusted, because you created it:
        `search.save(".vespe/tools")`. Raises UsageError if there is no such file or the name is
        taken.
        """
        from vespe.library import saving

        return saving.save(self.function, self.definition, directory)

    @cached_property
    def _converted(self) -> Mapping[str, Any]:
        hints = hints_of(inspect.unwrap(getattr(self.function, "__func__", self.function)))
        return {
            name: hint
            for name, hint in _plain_hints(hints).items()
            if not python_values.is_plain(hint)
        }

    def _inputs(self, inputs: JsonObject) -> JsonObject:
        """Return the inputs as the annotations ask for them."""
        try:
            made = {
                n: python_values.converted(v, self._converted[n], f"/{n}")
                if n in self._converted
                else v
                for n, v in inputs.items()
            }
        except python_values.Unfit as unfit:
            wrong = {"pointer": unfit.pointer, "message": unfit.why}
            raise InvalidArguments(
                f"the arguments of {self.name!r} do not fit: "
                f"`{unfit.pointer[1:].replace('/', '.')}` {unfit.why}",
                violations=[wrong],
            ) from None
        return made

    def _result(self, value: Any) -> JsonValue:
        """Return a result in JSON's own types; what is given one by one is gathered."""
        if value is None or type(value) in (str, int, bool):
            return value
        try:
            return python_values.plain(list(value) if hasattr(value, "__next__") else value, "", 0)
        except python_values.Unfit as unfit:
            where = f" at {unfit.pointer}" if unfit.pointer else ""
            raise InvalidOutput(
                f"the result{where} {unfit.why}", details={"pointer": unfit.pointer}
            ) from None

    def _execute(self, inputs: JsonObject) -> Any:
        value = self.function(**self._inputs(inputs))
        return self._awaited(value) if inspect.isawaitable(value) else self._result(value)

    async def _aexecute(self, inputs: JsonObject) -> JsonValue:
        value = self.function(**self._inputs(inputs))
        if hasattr(value, "__aiter__"):
            return self._result([item async for item in value])
        return await self._awaited(value)

    async def _awaited(self, value: Any) -> JsonValue:
        return self._result(await value)


def _plain_hints(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotations without what `Annotated` adds, which converting does not look at."""
    holder = type(
        "holder",
        (),
        {
            "__annotations__": {
                name: hint for name, hint in hints.items() if not isinstance(hint, str)
            }
        },
    )
    return typing.get_type_hints(holder)


def function_tool(given: object, *, name: str | None = None) -> FunctionTool | None:
    """Return the tool that a function is, or becomes, under another `name` where one is given; None
    for what is not a function.
    """
    made = given if isinstance(given, FunctionTool) else getattr(given, "tool", None)
    if isinstance(made, FunctionTool):
        return (
            made
            if name in (None, made.name)
            else FunctionTool(made.function, **(made._options | ToolOptions(name=name)))
        )
    if not callable(given) or isinstance(given, type) or hasattr(given, "execute"):
        return None
    plain = FunctionTool(given, **(ToolOptions(name=name) if name else ToolOptions()))
    plain.stands_alone = False
    return plain
