"""How a model sees that a tool call failed. This module decides it for every API.

A failed call has a sentence and one of three signs:

- a field, where the API's results have one: `is_error` at Anthropic and on Vespe's inner tool
  messages, `isError` at MCP;
- a key of the result's object, for Gemini and for models without native tools: `error` instead of
  `result`;
- a mark in front of the text, the line `[tool error]`, everywhere else (OpenAI, Ollama).
"""

from typing import Final

from vespe.documents import strict_json
from vespe.errors import VespeError
from vespe.lazy import pattern
from vespe.models import Failure, JsonObject, JsonValue, Outcome

IS_ERROR: Final = "is_error"
"""The field of Vespe's inner tool messages and of Anthropic's `tool_result` blocks."""
MCP_IS_ERROR: Final = "isError"
"""The field of MCP's `tools/call` results."""
_ERROR: Final = "[tool error]\n"
_RESULT: Final = "[tool result]\n"
_MARKED: Final = pattern(r"(?:\[tool result\]\n)*\[tool error\]\n")


def outcome_of(output: object) -> tuple[JsonValue, bool]:
    """Return what a model gets to see of a result, an Outcome or an error of Vespe's, and whether
    it is an error.
    """
    if isinstance(output, Outcome):
        return (output.result, False) if output.error is None else (sentence(output.error), True)
    if isinstance(output, (VespeError, Failure)):
        return sentence(output), True
    return output, False


def sentence(error: VespeError | Failure) -> str:
    """Return an error as one text for a model, with what to do about it."""
    hint = f" ({error.hint})" if error.hint else ""
    # Recordings of runs hold these words, and a replay of one compares them byte by byte.
    return strict_json.repair_surrogates(
        f"{error.message}{hint}" + ("; mend the call and make it again" if error.retryable else "")
    )


def field_of(failed: bool) -> JsonObject:
    """Return the field of a message or block at Anthropic: `{}` for a call that succeeded."""
    return {IS_ERROR: True} if failed else {}


def mcp_field_of(failed: bool) -> JsonObject:
    """Return the field of a result at MCP, which every result of Vespe's has."""
    return {MCP_IS_ERROR: failed}


def key_of(failed: bool) -> str:
    """Return the key for the value, at an API whose results are objects of the caller's choice."""
    return "error" if failed else "result"


def is_failed(message: JsonObject) -> bool:
    """Whether an inner tool message is of a call that failed."""
    return bool(message.get(IS_ERROR))


def copied_field(message: JsonObject) -> JsonObject:
    """Return the field of an inner tool message for Anthropic, as far as the message has it."""
    return {IS_ERROR: is_failed(message)} if message.get(IS_ERROR) is not None else {}


def to_mcp(message: JsonObject) -> JsonObject:
    """Return the field of an inner tool message for MCP, as far as the message has it."""
    return {MCP_IS_ERROR: is_failed(message)} if message.get(IS_ERROR) is not None else {}


def from_mcp(result: JsonObject) -> JsonObject:
    """Return the field of an MCP result for the inner tool message, as far as the result has it."""
    failed = result.get(MCP_IS_ERROR)
    return {IS_ERROR: failed} if isinstance(failed, bool) else {}


def mark(text: str, *, error: bool) -> str:
    """Return the text with the mark in front where it is an error's."""
    return _ERROR + text if error else text


def mark_content(content: JsonValue) -> JsonValue:
    """Return the content of a failed call's message, a text or parts, with the mark in front."""
    return (
        mark(content, error=True)
        if isinstance(content, str)
        else [{"type": "text", "text": _ERROR}, *content]
    )


def mark_to_read_back(text: str, *, error: bool) -> str:
    """Return the text with the mark where it is an error's, so that `unmark` can read it back.

    A text that would read as marked, and is no error's, is put behind the line `[tool result]`.
    """
    return _RESULT + text if not error and _MARKED.match(text) else mark(text, error=error)


def unmark(text: str) -> tuple[str, bool]:
    """Return the text that `mark_to_read_back` was given, and whether it is an error's."""
    if not _MARKED.match(text):
        return text, False
    return (
        (text.removeprefix(_ERROR), True)
        if text.startswith(_ERROR)
        else (text.removeprefix(_RESULT), False)
    )
