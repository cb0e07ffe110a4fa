"""One handler for each model API whose answers a program has in hand: OpenAI (chat completions and
Responses), Anthropic, Gemini, Ollama.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from vespe.adapters import anthropic, gemini_interactions, ollama, openai_responses
from vespe.adapters.anthropic import AnthropicShape
from vespe.adapters.base import ToolShape
from vespe.adapters.gemini_interactions import InteractionsShape
from vespe.adapters.messages import check_messages
from vespe.adapters.ollama import OllamaShape
from vespe.adapters.openai import OpenAIShape, to_wire
from vespe.adapters.openai_responses import OpenAIResponsesShape
from vespe.adapters.streams.anthropic import ClaudeStreamingProcessor
from vespe.adapters.streams.base import StreamingProcessor
from vespe.adapters.streams.gemini_interactions import InteractionsStreamingProcessor
from vespe.adapters.streams.ollama import OllamaStreamingProcessor
from vespe.adapters.streams.openai import GptStreamingProcessor
from vespe.adapters.streams.openai_responses import ResponsesStreamingProcessor
from vespe.features.agents import handler_base
from vespe.features.agents.handler_base import ToolHandler
from vespe.features.agents.providers import requests
from vespe.models import JsonObject, JsonValue, Tool


class _Handler:
    """What the handlers share; see `ToolHandler`."""

    processor: ClassVar[Callable[[], StreamingProcessor]]
    shape: ClassVar[ToolShape]
    supports_tools = handler_base.supports_tools
    process_stream = handler_base.process_stream

    def prepare_payload(
        self,
        payload: JsonObject,
        tool_definitions: Sequence[Tool | JsonObject],
        tools_system_prompt: str = "",
    ) -> JsonObject:
        """Return the payload with `tools`, and the prompt behind its system text, or as one;
        nothing given is changed.
        """
        made = self.prompted(payload, tools_system_prompt) if tools_system_prompt else dict(payload)
        given = payload.get("tools") or ()
        defined = requests.definitions(tool_definitions, self.shape, beside=given)
        return made | {"tools": [*given, *defined]} if defined else made

    def prompted(self, payload: JsonObject, prompt: str) -> JsonObject:
        """Return a payload whose first system (or developer) message ends in `prompt`; without one,
        a system message comes first.
        """
        messages = check_messages(payload.get("messages", ()))
        first = (
            messages[0] if messages and messages[0].get("role") in ("system", "developer") else None
        )
        if first is None:
            return payload | {"messages": [{"role": "system", "content": prompt}, *messages]}
        return payload | {
            "messages": [first | {"content": _joined(first.get("content"), prompt)}, *messages[1:]]
        }

    def extended(self, payload: JsonObject, said: Sequence[JsonObject]) -> JsonObject:
        """Return the request with what was said behind its messages."""
        return payload | {"messages": [*payload.get("messages", ()), *said]}


class _ItemsHandler(_Handler):
    """What the handlers of APIs share whose requests have an `input` of items."""

    instructions: ClassVar[str]
    """The key of a request's system text."""
    to_inner: "ClassVar[staticmethod[..., list[JsonObject]]]"
    from_inner: "ClassVar[staticmethod[..., JsonObject]]"
    listed: "ClassVar[staticmethod[..., list[JsonObject]]]"
    """Gives an `input` as items."""

    def prompted(self, payload: JsonObject, prompt: str) -> JsonObject:
        """Return the payload with the prompt behind its system text."""
        return payload | {self.instructions: _joined(payload.get(self.instructions), prompt)}

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Return the items of the input as messages in the inner format."""
        return self.to_inner(payload.get("input", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Return the items of the last messages: ids that an earlier turn has used are made
        unique.
        """
        every, before = (
            self.from_inner(said)["input"]
            for said in (messages, messages[: len(messages) - answered])
        )
        made: list[JsonObject] = every[len(before) :]
        return made

    def extended(self, payload: JsonObject, said: Sequence[JsonObject]) -> JsonObject:
        """Return the request with what was said behind its input."""
        return payload | {"input": [*self.listed(payload.get("input", ())), *said]}


def _joined(system: JsonValue, prompt: str) -> JsonValue:
    """Return a system text, or a list of its blocks, with the prompt behind it."""
    if isinstance(system, list):
        return [*system, {"type": "text", "text": prompt}]
    return "\n\n".join(filter(None, (system or "", prompt)))


class ClaudeHandler(_Handler):
    """Handles answers of Anthropic's Messages API; see `ToolHandler`.

    The next request adds the assistant's turn and one user turn of `tool_result` blocks.

    ```python
    from vespe import ClaudeHandler, Tool

    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tool = Tool(uid="", name="add", description="Add.", input_schema=schema)
    request = {"model": "claude-sonnet-4-5", "max_tokens": 99, "messages": []}
    payload = ClaudeHandler().prepare_payload(request, [tool], "")
    assert payload["tools"][0]["name"] == "add"
    ```
    """

    processor = ClaudeStreamingProcessor
    shape = AnthropicShape()

    def prompted(self, payload: JsonObject, prompt: str) -> JsonObject:
        """Return the payload with the prompt appended to its `system` (text or blocks)."""
        return payload | {"system": _joined(payload.get("system") or "", prompt)}

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Return the messages in the inner format."""
        return anthropic.to_openai_messages(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Return the last two turns. Ids that an earlier turn has used are made unique, in calls
        and results.
        """
        turns: list[JsonObject] = anthropic.from_openai_messages(messages)["messages"]
        first = max(index for index, turn in enumerate(turns) if turn["role"] == "assistant")
        return turns[first:]


class GptHandler(_Handler):
    """Handles answers of OpenAI's chat completions; see `ToolHandler`.

    The next request adds the assistant's message and one tool message for each call.

    ```python
    from vespe import GptHandler, Tool

    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tool = Tool(uid="", name="add", description="Add.", input_schema=schema)
    payload = GptHandler().prepare_payload({"model": "gpt-5", "messages": []}, [tool], "")
    assert payload["tools"][0]["function"]["name"] == "add"
    ```
    """

    processor = GptStreamingProcessor
    shape = OpenAIShape()

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Return the messages, which are already in the inner format."""
        return check_messages(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Return the last messages in OpenAI's format."""
        return to_wire(messages[len(messages) - answered :])


class ResponsesHandler(_ItemsHandler):
    """Handles answers of OpenAI's Responses API, and of endpoints of Open Responses; see
    `ToolHandler`.

    The next request adds the items of the answer unchanged, and one output for each call.

    ```python
    from vespe import ResponsesHandler, Tool

    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tool = Tool(uid="", name="add", description="Add.", input_schema=schema)
    payload = ResponsesHandler().prepare_payload({"model": "gpt-5", "input": "Hi"}, [tool], "")
    assert payload["tools"][0]["name"] == "add"
    ```
    """

    processor = ResponsesStreamingProcessor
    shape = OpenAIResponsesShape()
    instructions = "instructions"
    to_inner = staticmethod(openai_responses.to_openai_messages)
    from_inner = staticmethod(openai_responses.from_openai_messages)
    listed = staticmethod(openai_responses.as_items)


class InteractionsHandler(_ItemsHandler):
    """Handles answers of Gemini's Interactions; see `ToolHandler`.

    The next request adds the steps of the answer unchanged, and one result for each call.

    ```python
    from vespe import InteractionsHandler, Tool

    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tool = Tool(uid="", name="add", description="Add.", input_schema=schema)
    request = {"model": "gemini-3-flash-preview", "input": "Hi"}
    payload = InteractionsHandler().prepare_payload(request, [tool], "")
    assert payload["tools"][0]["name"] == "add"
    ```
    """

    processor = InteractionsStreamingProcessor
    shape = InteractionsShape()
    instructions = "system_instruction"
    to_inner = staticmethod(gemini_interactions.to_openai_messages)
    from_inner = staticmethod(gemini_interactions.from_openai_messages)
    listed = staticmethod(gemini_interactions.as_steps)


class OllamaHandler(_Handler):
    """Handles answers of Ollama's `/api/chat`; see `ToolHandler`.

    The next request adds the assistant's message and one tool message for each call.

    ```python
    from vespe import OllamaHandler, Tool

    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tool = Tool(uid="", name="add", description="Add.", input_schema=schema)
    payload = OllamaHandler().prepare_payload({"model": "qwen3", "messages": []}, [tool], "")
    assert payload["tools"][0]["function"]["name"] == "add"
    ```
    """

    processor = OllamaStreamingProcessor
    shape = OllamaShape()

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Return the messages in the inner format."""
        return ollama.to_openai_messages(payload.get("messages", ()))

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Return the last messages in Ollama's format."""
        made: list[JsonObject] = ollama.from_openai_messages(messages)["messages"]
        return made[len(made) - answered :]


HANDLERS: Final[dict[str, Callable[[], ToolHandler]]] = {
    "openai": GptHandler,
    "openai-responses": ResponsesHandler,
    "anthropic": ClaudeHandler,
    "gemini": InteractionsHandler,
    "ollama": OllamaHandler,
}
"""By an API's name, what makes its handler."""
