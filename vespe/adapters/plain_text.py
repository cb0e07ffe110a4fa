"""Models without native tools: a prompt that explains the one form of a call, and a strict reader
of their answers.
"""

import re
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from vespe.adapters import model_calls, result_parts, result_texts, tool_errors
from vespe.adapters.messages import quote
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, InvalidToolCall, ParsingError
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.records import dataclass
from vespe.schemas import validator
from vespe.schemas.explain import describe

METHOD: Final = "tools/call"
_FORM: Final = '{"method": "tools/call", "params": {"name": "TOOL", "arguments": {…}}}'
_HINT: Final = f"to call a tool, answer with exactly one JSON object: {_FORM}"
_FENCE: Final = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL | re.IGNORECASE)
_MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024


def tools_system_prompt(tools: Iterable[Tool]) -> str:
    """Return the system prompt that tells a model without native tools which there are and how to
    call one.
    """
    lines = [strict_json.compact_json(_definition(tool)) for tool in tools]
    return (
        "You can call the tools below, each given as one line of JSON with its name, what it does, "
        "and the JSON Schema of its arguments.\n"
        "To call one, answer with exactly one JSON object, "
        f"and nothing before or after it:\n{_FORM}\n"
        "The arguments must fit the tool's schema. The result comes in the next message. "
        "To answer without a tool, write plain text.\n\n" + "\n".join(lines)
    )


def parse_call(text: str) -> Call | None:
    """Return the call in a model's answer, or None where it is plain text; one Markdown fence
    around the whole is taken off.

    Raises ParsingError for an answer that tries to call a tool and is not exactly one JSON object,
    InvalidToolCall for an object that is no call; both say to the model what to write instead.
    """
    text = text.removeprefix("\ufeff")
    fenced = _FENCE.fullmatch(text)
    body = (fenced[1] if fenced else text).strip()
    body = _only_of_list(body)
    if not body.startswith("{"):
        if METHOD in body and '"method"' in body:
            raise ParsingError(
                "the answer has text beside the call, so nothing was run", hint=_HINT
            )
        return None
    try:
        return _call(strict_json.parse_object(body, limit=_MAX_ANSWER_BYTES))
    except InvalidDocument as error:
        if METHOD not in body and '"method"' not in body:
            return None
        place = (
            f" (line {error.line}, column {error.column})" if error.line and error.column else ""
        )
        raise ParsingError(
            f"the call cannot be read: the answer {error.reason}{place}", hint=_HINT
        ) from None


def _only_of_list(body: str) -> str:
    """Return the one object of a JSON list as text; raises ParsingError for several that hold a
    call. Other text is itself.
    """
    if not body.startswith("["):
        return body
    try:
        value: Any = strict_json.parse_json(
            body.encode("utf-8", "replace"), limit=_MAX_ANSWER_BYTES
        )
    except InvalidDocument:
        return body
    held = [item for item in value if isinstance(item, dict) and item.get("method") == METHOD]
    if len(held) > 1:
        raise ParsingError(
            f"the answer is a list of {len(held)} calls, so nothing was run: make one at a time",
            hint=_HINT,
        )
    return strict_json.compact_json(held[0]) if held and len(value) == 1 else body


def _call(answer: JsonObject) -> Call | None:
    if "method" not in answer and "params" not in answer:
        if answer.keys() == {"name", "arguments"}:
            raise InvalidToolCall(
                "the answer is the `params` of a call alone, so nothing was run", hint=_HINT
            )
        return None
    if answer.get("method") != METHOD:
        raise InvalidToolCall(
            f"the method must be {METHOD!r}, not {quote(answer.get('method'))}", hint=_HINT
        )
    params = answer.get("params")
    if not isinstance(params, dict):
        raise InvalidToolCall("`params` must be an object with `name` and `arguments`", hint=_HINT)
    arguments = params.get("arguments", {})
    if not isinstance(arguments, dict):
        raise InvalidToolCall(
            f"`arguments` must be an object, not {describe(arguments)}", hint=_HINT
        )
    return model_calls.made_call(
        params.get("name"),
        arguments,
        str(answer["id"]) if isinstance(answer.get("id"), (str, int)) else None,
    )


def _definition(tool: Tool) -> JsonObject:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": validator.closed_schema(tool.input_schema),
    }


@dataclass(frozen=True, slots=True)
class PlainTextAdapter:
    """One tool at a model that has no native tools."""

    name: ClassVar[str] = "text"
    tool: Tool
    execute_tool = model_calls.execute_tool

    def generate_tool_description(self) -> str:
        """Return the system prompt for this tool alone; `tools_system_prompt` makes one for
        several.
        """
        return tools_system_prompt([self.tool])

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Return the call in an answer, a text or a message whose `content` is one; none where it
        is plain text.
        """
        text = (
            text_or_message.get("content") if isinstance(text_or_message, dict) else text_or_message
        )
        if not isinstance(text, str | None):
            raise ParsingError(f"the answer must be a string, not {describe(text)}", hint=_HINT)
        call = parse_call(text or "")
        return () if call is None else model_calls.own_calls(self.tool, (call,))

    def format_tool_output(self, output: object, *, call_id: str = "") -> str:
        """Return the text of the next user message: `{"result": …}` or `{"error": …}` behind the
        tool's name; `[image/png]` stands in the place of an image.
        """
        value, failed = tool_errors.outcome_of(output)
        parts = result_parts.shown(value)
        if not isinstance(parts, str):
            value = result_parts.named(parts)
        return result_texts.text_of({"tool": self.tool.name, tool_errors.key_of(failed): value})
