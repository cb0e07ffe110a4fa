"""A model's answer as data, and its calls checked and run in-process: what the adapters share."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

from vespe import defaults
from vespe.adapters.messages import detached, quote, quoted_names
from vespe.documents import strict_json
from vespe.errors import (
    InvalidArguments,
    InvalidDocument,
    InvalidToolCall,
    ParsingError,
    ToolImplementationNotFound,
)
from vespe.models import Call, Execution, JsonObject, JsonValue, Tool
from vespe.schemas import validator
from vespe.schemas.explain import messages_of
from vespe.tool_types import Context

_MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024


class Registry(Protocol):
    """What `execute_tool` needs of a ToolRegistry."""

    def __contains__(self, name: object) -> bool:
        """Whether something is registered under `name`."""
        ...

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Run it."""
        ...


class OfTool(Protocol):
    """An adapter, as far as running its tool goes."""

    @property
    def tool(self) -> Tool:
        """The tool."""
        ...


def execute_tool(adapter: OfTool, call: Call, registry: Registry) -> JsonValue:
    """Check a call and run what is registered in-process under the tool's name; see
    `ToolAdapter.execute_tool`.

    What a tool's directory says never runs here: that is for the one call path, which asks for
    trust first.
    """
    tool = adapter.tool
    if call.tool != tool.name:
        own = quote(tool.name)
        raise InvalidToolCall(
            f"the call is of {quote(call.tool)}, and the tool here is {own}", hint=f"call {own}"
        )
    inputs = _inputs(tool, call.arguments)
    if tool.name not in registry:
        raise ToolImplementationNotFound(tool.name)
    context = Context(
        project_root="",
        directory="",
        timeout_s=call.timeout_s or tool.timeout_s or defaults.TIMEOUT_S,
    )
    return registry.execute(tool, inputs, context).result


def _inputs(tool: Tool, arguments: JsonObject | str | bytes) -> JsonObject:
    if isinstance(arguments, (str, bytes)):
        try:
            arguments = strict_json.parse_object(
                arguments or b"{}", limit=defaults.MAX_ARGUMENT_BYTES
            )
        except InvalidDocument as error:
            raise ParsingError(
                f"the arguments of {quote(tool.name)} cannot be read: the text {error.reason}",
                hint="pass one JSON object",
            ) from None
    if violations := validator.compile_schema(tool.input_schema, closed=True).violations(arguments):
        told = messages_of(violations)
        raise InvalidArguments(
            f"the arguments of {quote(tool.name)} do not fit its schema: {told}",
            violations=[one.to_json() for one in violations],
        )
    return validator.fill_defaults(tool.input_schema, arguments)


def read_answer(given: JsonValue, *, what: str) -> JsonObject:
    """Return a model's answer as an object; raises ParsingError where it is neither an object nor
    the text of one.
    """
    if isinstance(given, dict):
        return given
    if not isinstance(given, (str, bytes)):
        raise ParsingError(f"{what} must be an object or its JSON text, not {type(given).__name__}")
    try:
        return strict_json.parse_object(given, limit=_MAX_ANSWER_BYTES)
    except InvalidDocument as error:
        raise ParsingError(f"{what} cannot be read: the text {error.reason}") from None


def objects(value: JsonValue, what: str) -> Iterator[JsonObject]:
    """Return the objects of a list; raises InvalidToolCall where it is none, or holds anything
    else; null is an empty list.
    """
    if not isinstance(value, (list, tuple, type(None))):
        raise InvalidToolCall(f"{what} must be a list, not {type(value).__name__}")
    for item in value or ():
        if not isinstance(item, dict):
            raise InvalidToolCall(f"each of {what} must be an object, not {type(item).__name__}")
        yield item


def made_call(name: Any, arguments: Any, identifier: Any) -> Call:
    """Return a call as the model made it; raises InvalidToolCall where it names no tool. Absent
    arguments are `{}`.
    """
    if not isinstance(name, str) or not name:
        raise InvalidToolCall("the call names no tool", hint="name the tool to call")
    given = {} if arguments is None else arguments
    if not isinstance(given, str):
        given = _plain_arguments(given)
    return Call(
        tool=name,
        arguments=given,
        call_id=identifier if isinstance(identifier, str) and identifier else None,
    )


def _plain_arguments(given: Any) -> JsonObject | str:
    """Return arguments as they are where they are a JSON object, as their JSON text where they are
    another value.
    """
    try:
        text = strict_json.compact_json(given)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidToolCall(
            f"the arguments cannot be represented in JSON: {error}", hint="pass one JSON object"
        ) from None
    if not isinstance(given, dict):
        return text
    try:
        arguments: JsonObject = detached(given, "the arguments")
    except InvalidDocument as error:
        raise InvalidToolCall(
            f"the arguments cannot be taken: {error.reason}", hint="pass one JSON object"
        ) from None
    return arguments


def own_calls(tool: Tool, calls: Iterable[Call]) -> tuple[Call, ...]:
    """Return the calls of `tool`; raises InvalidToolCall where there are calls and all are of other
    tools.
    """
    every = list(calls)
    own = tuple(call for call in every if call.tool == tool.name)
    if every and not own:
        names = quoted_names(call.tool for call in every)
        raise InvalidToolCall(
            f"there is no tool called {names} here; there is {quote(tool.name)}",
            hint=f"call {quote(tool.name)}",
        )
    return own
