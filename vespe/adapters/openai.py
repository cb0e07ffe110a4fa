"""OpenAI's chat completions: tools, calls and results; and the inner messages as they go over its wire."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from vespe.adapters import definitions, execution, shown
from vespe.adapters.anthropic_blocks import readable_parts
from vespe.adapters.identifiers import utf8_id
from vespe.adapters.inner import BLOCKS, checked, copied, quoted, told
from vespe.models import JsonObject, JsonValue, Tool
from vespe.outcomes import Call

_MESSAGE_KEYS: Final = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "refusal", "audio", "tool_calls", "function_call"),
    "tool": ("role", "content", "tool_call_id"),
    "function": ("role", "content", "name"),
}
_PART_KEYS: Final = ("type", "text", "refusal", "image_url", "input_audio", "file", "prompt_cache_breakpoint")
_CALL_KEYS: Final = ("id", "type", "function", "custom")


class OpenAIShape:
    """Tools as OpenAI's chat completions take them (API reference, `tools[].function`)."""

    name = "openai"

    def definition(self, tool: Tool) -> JsonObject:
        """Give `{"type": "function", "function": {"name", "description", "parameters"}}`."""
        own = shown.own_fields(tool, self.name)
        inner = own.pop("function", None)
        function = shown.described(tool) | {"parameters": shown.shown_schema(tool)}
        return own | {"type": "function", "function": (inner if isinstance(inner, dict) else {}) | function}

    def read(self, definition: JsonObject) -> Tool:
        """Give the tool of a definition; a custom tool, whose input is no object, is refused."""
        return read_function(self.name, definition)


def read_function(shape: str, definition: JsonObject) -> Tool:
    """Give the tool of `{"type": "function", "function": {…}}`, the definition that several APIs share."""
    function = definition.get("function")
    if definition.get("type") not in (None, "function") or not isinstance(function, dict):
        custom = definition.get("custom")
        name = custom.get("name") if isinstance(custom, dict) else definition.get("name")
        definitions.refuse(name, f"is of type {quoted(definition.get('type'))}, which is no function with a JSON object as its input")
    rest = definitions.others(definition, ("type", "function"))
    if inner := definitions.others(function, ("name", "description", "parameters")):
        rest["function"] = inner
    return definitions.foreign_tool(shape, function, schema=function.get("parameters"), rest=rest)


@dataclass(frozen=True, slots=True)
class OpenAIAdapter:
    """One tool at OpenAI's chat completions, or at any endpoint that speaks them."""

    name: ClassVar[str] = "openai"
    tool: Tool
    execute_tool = execution.execute_tool

    def generate_tool_description(self) -> JsonObject:
        """Give the entry of a request's `tools`."""
        return OpenAIShape().definition(self.tool)

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Give the calls of a message, or of every choice of a whole response."""
        given = execution.answered(text_or_message, what="OpenAI's message")
        choices = execution.objects(given.get("choices"), "`choices`")
        messages = list(execution.objects([choice.get("message") or {} for choice in choices], "`message`")) or [given]
        calls = (call for message in messages for call in _calls_of(message))
        return execution.own_calls(self.tool, (_call(call) for call in calls))

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonObject:
        """Give the tool message; an error bears the inner field `is_error`, which `to_wire` takes off."""
        value, failed = execution.told(output)
        message: JsonObject = {"role": "tool", "tool_call_id": call_id, "content": execution.text_of(value)}
        return message | ({"is_error": True} if failed else {})


def _calls_of(message: JsonObject) -> list[JsonObject]:
    """Give a message's `tool_calls`, or its deprecated `function_call` as the one that there is."""
    calls = list(execution.objects(message.get("tool_calls"), "`tool_calls`"))
    old = message.get("function_call")
    return calls or ([{"function": old}] if isinstance(old, dict) else [])


def _call(call: JsonObject) -> Call:
    function = call.get("custom") if call.get("type") == "custom" else call.get("function")
    held = function if isinstance(function, dict) else {}
    return execution.made_call(held.get("name"), held.get("arguments", held.get("input")), call.get("id"))


def to_wire(messages: Iterable[JsonObject], *, keep: Collection[str] = ()) -> list[JsonObject]:
    """Give inner messages as OpenAI takes them: without the fields that only Vespe, or another API, knows.

    Fields in `keep` stay, for a compatible server that wants them back (`reasoning_content`, `cache_control`). What is
    no text in a tool message, which OpenAI does not take there, follows in a user message of its own, behind the last
    of the results, under a text that names the call. Of blocks that only Anthropic knows the text goes, where they hold
    some; a message that says nothing else is left out. Raises InvalidDocument for what are no messages.
    """
    made: list[JsonObject] = []
    moved: list[JsonObject] = []
    for index, message in enumerate(checked(messages)):
        if moved and message.get("role") != "tool":
            made.append({"role": "user", "content": moved})
            moved = []
        sent = _sent(message, index, keep)
        if _says_nothing(sent):
            continue
        if message.get("role") == "tool" and isinstance(sent["content"], list):
            moved += _moved(sent)
        made.append(sent)
    return [*made, {"role": "user", "content": moved}] if moved else made


def _sent(message: JsonObject, index: int, keep: Collection[str]) -> JsonObject:
    keys = {*_MESSAGE_KEYS.get(str(message.get("role")), ("role", "content")), *keep}
    sent = {key: copied(value, index) for key, value in message.items() if key in keys}
    told_message = told(message, index) if message.get("role") == "tool" else message
    if message.get("role") == "tool":
        sent["content"] = copied(told_message.get("content"), index) or ""
    if isinstance(sent.get("content"), list) or isinstance(message.get(BLOCKS), list):
        sent["content"] = _content(sent, readable_parts(told_message, index), index=index, keep=keep)
    if isinstance(message.get("tool_call_id"), str) and "tool_call_id" in sent:
        sent["tool_call_id"] = utf8_id(message["tool_call_id"])
    if isinstance(calls := message.get("tool_calls"), list) and all(isinstance(call, dict) for call in calls):
        sent["tool_calls"] = [_sent_call(call, index) for call in calls]
    if "tool_calls" in sent and not sent["tool_calls"]:
        del sent["tool_calls"]
    return _answerable(sent)


def _answerable(sent: JsonObject) -> JsonObject:
    """Take off what an answer of OpenAI's holds and a request may not: a null name, a call of nothing, all of an audio but its id."""
    if sent.get("name", "") is None:
        del sent["name"]
    if isinstance(call := sent.get("function_call"), dict) and not call.get("name"):
        del sent["function_call"]
    if isinstance(audio := sent.pop("audio", None), dict) and isinstance(audio.get("id"), str) and audio["id"]:
        sent["audio"] = {"id": audio["id"]}
    return sent


def _content(sent: JsonObject, parts: list[JsonObject], *, index: int, keep: Collection[str]) -> JsonValue:
    """Give the parts with the keys that OpenAI knows; a text stays one where nothing else came to it, and no part is no content."""
    if isinstance(sent.get("content"), str) and len(parts) <= 1 and (not parts or parts[0].get("text") == sent["content"]):
        return sent["content"]
    known = {*_PART_KEYS, *keep}
    copies: list[JsonObject] = [copied(part, index) for part in parts]
    shown: JsonValue = [{k: v for k, v in part.items() if k in known or str(part.get("type")) not in known} for part in copies]
    return shown or ("" if sent.get("role") == "tool" else None)


def _sent_call(call: JsonObject, index: int) -> JsonObject:
    sent = {key: copied(value, index) for key, value in call.items() if key in _CALL_KEYS}
    kind = {} if isinstance(sent.get("type"), str) else {"type": "custom" if "custom" in sent else "function"}
    return sent | kind | ({"id": utf8_id(call["id"])} if isinstance(call.get("id"), str) else {})


def _says_nothing(sent: JsonObject) -> bool:
    """Whether a message holds neither content nor anything else to say, so that OpenAI would refuse it."""
    return "role" in sent and sent.get("content") is None and not any(value for key, value in sent.items() if key not in ("role", "name"))


def _moved(sent: JsonObject) -> Iterator[JsonObject]:
    """Take what is no text out of a tool message, and give it behind a text that says whose it is."""
    others = [part for part in sent["content"] if part.get("type") != "text"]
    if others:
        sent["content"] = [part for part in sent["content"] if part.get("type") == "text"] or ""
        yield {"type": "text", "text": f"[from the result of {sent.get('tool_call_id')}]"}
        yield from others
