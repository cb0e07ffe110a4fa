"""A tool's result as text or as a copy: what the adapters share."""

from vespe.adapters.messages import detached
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, ToolExecutionError
from vespe.models import JsonValue


def text_of(value: JsonValue) -> str:
    """Return a result as text: a text as it is, anything else as compact JSON."""
    if isinstance(value, str):
        return strict_json.repair_surrogates(value)
    try:
        return strict_json.compact_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolExecutionError(f"the result cannot be represented in JSON: {error}") from None


def apart(value: JsonValue) -> JsonValue:
    """Return a copy of a result, so that nothing that is sent is shared with it; raises
    ToolExecutionError for what JSON cannot say.
    """
    text_of(value)
    try:
        made: JsonValue = detached(value, "the result")
    except InvalidDocument as error:
        raise ToolExecutionError(f"the result {error.reason}") from None
    return made
