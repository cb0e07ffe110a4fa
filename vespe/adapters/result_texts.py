"""What a model is told of a result or of an error, as text: what the adapters share."""

from vespe.adapters.messages import ERROR_MARK, detached
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, ToolExecutionError, VespeError
from vespe.models import Failure, JsonValue, Outcome


def told(output: object) -> tuple[JsonValue, bool]:
    """Return (what to tell the model, whether it is an error) of a result, an Outcome or an error
    of Vespe's.
    """
    if isinstance(output, Outcome):
        return (output.result, False) if output.error is None else (sentence(output.error), True)
    if isinstance(output, (VespeError, Failure)):
        return sentence(output), True
    return output, False


def marked_text(output: object) -> str:
    """Return what to tell the model as text; an error's begins with `ERROR_MARK`, for an API
    without a field that says so.
    """
    value, failed = told(output)
    return ERROR_MARK + text_of(value) if failed else text_of(value)


def sentence(error: VespeError | Failure) -> str:
    """Return an error as one text for a model, with what to do about it."""
    hint = f" ({error.hint})" if error.hint else ""
    return strict_json.repair_surrogates(
        f"{error.message}{hint}" + ("; mend the call and make it again" if error.retryable else "")
    )


def text_of(value: JsonValue) -> str:
    """Return a result as text: a text as it is, anything else as compact JSON."""
    if isinstance(value, str):
        return strict_json.repair_surrogates(value)
    try:
        return strict_json.compact_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolExecutionError(f"the result cannot be said in JSON: {error}") from None


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
