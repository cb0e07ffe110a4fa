"""A call's arguments: read from JSON, held to the tool's schema, and completed with its defaults."""

from vespe import defaults, errors
from vespe.documents import strict_json
from vespe.models import JsonObject, Tool
from vespe.schemas import validator as schema_validator
from vespe.schemas.explain import messages_of


def checked_inputs(tool: Tool, arguments: JsonObject | str | bytes) -> JsonObject:
    """Return a call's inputs as its tool's schema takes them, with the schema's defaults filled in.

    Raises ParsingError for text that is not one strict JSON object, InvalidArguments with every violation.
    """
    inputs = parsed_arguments(arguments) if isinstance(arguments, (str, bytes)) else arguments
    validator = schema_validator.compile_schema(tool.input_schema, closed=True)
    completed = validator.completed(inputs)
    if completed is None:
        violations = validator.violations(inputs)
        raise errors.InvalidArguments(
            f"the arguments of {tool.name!r} do not fit its schema: {messages_of(violations)}",
            violations=[one.to_json() for one in violations],
        )
    return completed


def parsed_arguments(text: str | bytes) -> JsonObject:
    """Read a call's arguments from strict JSON; what does not parse is never run as `{}`."""
    try:
        return strict_json.parse_object(text, limit=defaults.MAX_ARGUMENT_BYTES)
    except errors.InvalidDocument as error:
        place = f" (line {error.line}, column {error.column})" if error.line and error.column else ""
        at = f" at {error.pointer}" if error.pointer else ""
        message = f"the arguments cannot be read: the text {error.reason}{at}{place}"
        raise errors.ParsingError(message + _quoted(text, error), hint="give one JSON object") from None


def _quoted(text: str | bytes, error: errors.InvalidDocument) -> str:
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    lines = shown.split("\n")
    if not error.line or not error.column or error.line > len(lines):
        return ""
    line = lines[error.line - 1]
    return f", near {line[max(0, error.column - 21) : error.column + 20]!r}"
