"""A call's arguments: read from JSON, held to the tool's schema, and completed with its
defaults.
"""

from dataclasses import replace

from vespe import defaults, errors
from vespe.documents import strict_json
from vespe.documents.pointers import steps_of
from vespe.models import JsonObject, Tool
from vespe.schemas.explain import messages_of
from vespe.schemas.validator import CLOSED, NOT_JSON, compile_schema


def checked_inputs(tool: Tool, arguments: JsonObject | str | bytes) -> JsonObject:
    """Return a call's inputs as its tool's schema takes them, with the schema's defaults filled in.

    Those of a tool as models see it are without what its project gives and hides; `itself` gives
    the whole. Raises ParsingError for text that is not one strict JSON object, InvalidArguments
    with every violation.
    """
    schema = tool.input_schema
    # all that most calls need, without a call of another function, which would be a tenth of the
    # time
    try:
        known, _, judge, fill = CLOSED[id(schema)]
        if (
            known is schema
            and arguments.__class__ is dict
            and tool.behind is None
            and judge(arguments)
        ):
            return {**arguments} if fill is None else fill(arguments)
    except (KeyError, *NOT_JSON):
        pass  # what is wrong is said below
    if tool.behind is not None:
        _, whole = itself(tool, arguments)
        return {
            name: value
            for name, value in whole.items()
            if name not in tool.behind.hidden and name not in tool.behind.preset
        }
    validator = compile_schema(schema, closed=True)
    inputs = parsed_arguments(arguments) if isinstance(arguments, (str, bytes)) else arguments
    completed = validator.completed(inputs)
    if completed is None:
        violations = validator.violations(inputs)
        raise errors.InvalidArguments(
            f"the arguments of {tool.name!r} do not fit its schema: {messages_of(violations)}",
            violations=[one.to_json() for one in violations],
        )
    return completed


def itself(tool: Tool, arguments: JsonObject | str | bytes) -> tuple[Tool, JsonObject]:
    """Return the tool behind one as models see it, and a call's whole inputs, with what the project
    gives; any other tool is itself.

    Raises as `checked_inputs` does, InvalidArguments for an argument that is not the model's to
    give, and InvalidDocument where what the project gives does not fit the tool's schema.
    """
    facade = tool.behind
    if facade is None:
        return tool, checked_inputs(tool, arguments)
    given = parsed_arguments(arguments) if isinstance(arguments, (str, bytes)) else arguments
    if refused := [name for name in given if name in facade.preset or name in facade.hidden]:
        violations = [
            {"pointer": f"/{name}", "message": f"{name!r} is not an argument of {tool.name!r}"}
            for name in refused
        ]
        message = f"{tool.name!r} takes no argument {' or '.join(map(repr, refused))} here"
        raise errors.InvalidArguments(message, violations=violations, hint="call it without")
    try:
        return facade.tool, checked_inputs(
            replace(facade.tool, name=tool.name), {**given, **facade.preset}
        )
    except errors.InvalidArguments as error:
        for violation in error.details.get("violations", ()):
            name = next(iter(steps_of(violation["pointer"])), "")
            if name in facade.preset:
                path, _, pointer = facade.places[name].partition("#")
                raise errors.InvalidDocument(
                    f"presets an invalid argument of {facade.tool.name!r}: {violation['message']}",
                    path=path,
                    pointer=pointer,
                ) from None
        raise


def parsed_arguments(text: str | bytes) -> JsonObject:
    """Read a call's arguments from strict JSON; what does not parse is never run as `{}`."""
    try:
        return strict_json.parse_object(text, limit=defaults.MAX_ARGUMENT_BYTES)
    except errors.InvalidDocument as error:
        place = (
            f" (line {error.line}, column {error.column})" if error.line and error.column else ""
        )
        at = f" at {error.pointer}" if error.pointer else ""
        message = f"the arguments cannot be read: the text {error.reason}{at}{place}"
        raise errors.ParsingError(
            message + _quoted(text, error), hint="pass one JSON object"
        ) from None


def _quoted(text: str | bytes, error: errors.InvalidDocument) -> str:
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    lines = shown.split("\n")
    if not error.line or not error.column or error.line > len(lines):
        return ""
    line = lines[error.line - 1]
    return f", near {line[max(0, error.column - 21) : error.column + 20]!r}"
