"""The vendors' own types as judges: their JSON Schemas, closed, so that a field that a vendor does
not know is refused.
"""

import functools
from typing import Any

import anthropic.types
import jsonschema_rs
import mcp_types
import ollama
import openai.types.chat
import openai.types.responses
import openresponses_types.types
from pydantic import TypeAdapter

TYPES: dict[str, Any] = {
    "anthropic message": anthropic.types.MessageParam,
    "anthropic tool": anthropic.types.ToolParam,
    "openai message": openai.types.chat.ChatCompletionMessageParam,
    "openai tool": openai.types.chat.ChatCompletionToolParam,
    "openai-responses tool": openai.types.responses.FunctionToolParam,
    "openai-responses item": openai.types.responses.ResponseInputItemParam,
    "openai-responses request": openai.types.responses.response_create_params.ResponseCreateParamsNonStreaming,
    "openai-responses streamed request": openai.types.responses.response_create_params.ResponseCreateParamsStreaming,
    "open responses request": openresponses_types.types.CreateResponseBody,
    "ollama message": ollama.Message,
    "anthropic tool search": anthropic.types.ToolSearchToolBm25_20251119Param,
    "openai-responses tool search": openai.types.responses.ToolSearchToolParam,
    "ollama tool": ollama.Tool,
    "openai request": openai.types.chat.completion_create_params.CompletionCreateParamsNonStreaming,
    "openai streamed request": openai.types.chat.completion_create_params.CompletionCreateParamsStreaming,
    "anthropic request": anthropic.types.message_create_params.MessageCreateParamsNonStreaming,
    "anthropic streamed request": anthropic.types.message_create_params.MessageCreateParamsStreaming,
    "ollama request": ollama._types.ChatRequest,
    "mcp tool": mcp_types.Tool,
    "mcp result": mcp_types.CallToolResult,
}
OPEN = {"ollama message", "ollama tool", "ollama request", "open responses request"}
"""The SDK of Ollama lags behind its server: `id` and `tool_call_id`, which recorded servers send,
are not in its types. The document of Open Responses says a schema as an object without properties.
"""


@functools.cache
def judge(kind: str) -> Any:
    """Give the validator of a vendor's type."""
    schema = TypeAdapter(TYPES[kind]).json_schema()
    return jsonschema_rs.validator_for(schema if kind in OPEN else closed(schema))


def accepts(kind: str, value: Any) -> bool:
    """Whether the vendor's type takes a value, with no field that it does not know."""
    return bool(judge(kind).is_valid(value))


def complaint(kind: str, value: Any) -> str:
    """The first thing that the vendor's type has against a value, for a failing test's message."""
    return next(
        (f"{error.message} at {error.instance_path}" for error in judge(kind).iter_errors(value)),
        "",
    )


def closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and made.get("additionalProperties", True) is True:
        made["additionalProperties"] = False
    return made


def assert_anthropic_request(system: Any, messages: list[dict[str, Any]]) -> None:
    """Check a request as Anthropic's types and its documented rules on a conversation do."""
    for index, message in enumerate(messages):
        assert accepts("anthropic message", message), (
            index,
            complaint("anthropic message", message),
            message,
        )
    assert isinstance(system, str) or all(
        block["type"] == "text" and block["text"] for block in system
    )
    assert_rules(messages)


def assert_rules(messages: list[dict[str, Any]]) -> None:
    """Anthropic's rules that no type knows: alternation, unique ids in their alphabet, results
    right behind their calls and first.
    """
    spoken = [message for message in messages if message["role"] != "system"]
    seen: set[str] = set()
    for index, message in enumerate(messages):
        blocks = (
            message["content"]
            if isinstance(message["content"], list)
            else [{"type": "text", "text": message["content"]}]
        )
        assert blocks and all(block["text"] for block in blocks if block["type"] == "text"), message
        if index and messages[index - 1]["role"] == message["role"]:
            assert message["role"] == "system", (index, "two turns of one side")
        ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert not seen & set(ids) and len(set(ids)) == len(ids), (index, "ids repeat")
        seen |= set(ids)
        assert all(
            identifier and all(c.isascii() and (c.isalnum() or c in "_-") for c in identifier)
            for identifier in ids
        )
        kinds = [block["type"] == "tool_result" for block in blocks]
        assert kinds == sorted(kinds, reverse=True), (index, "a result behind other content")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        before = messages[index - 1]["content"] if index else []
        calls = [
            block["id"]
            for block in before
            if isinstance(block, dict) and block["type"] == "tool_use"
        ]
        assert set(results) <= set(calls) and len(set(results)) == len(results), (
            index,
            "a result without its call",
        )
        if calls and message is not spoken[-1] and message["role"] != "system":
            assert set(results) == set(calls), (index, "a call without its result")
