"""A conversation on its way out: inner messages as the items of a request to OpenAI's Responses."""

from collections.abc import Iterable, Iterator

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import Waiting, calls_of, custom_text_of, function_of, is_custom
from vespe.adapters.content_parts import readable_parts
from vespe.adapters.items_out import ItemsOut, Made, entries_of, only_entry, said_parts
from vespe.adapters.messages import ITEMS, copied, is_empty, quote, refuse, said, told
from vespe.adapters.openai_responses.contents import filled, to_content
from vespe.adapters.openai_responses.inbound import CALLS
from vespe.adapters.translated import translated
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue


def from_openai_messages(messages: Iterable[JsonObject]) -> JsonObject:
    """Translate a conversation: `{"input": […]}` for a request to OpenAI's Responses, which is told
    all of it.

    Items that came from there go back as they came, in their place, with the words of the message.
    System messages are items in their place. The text of a result with `is_error` begins with the
    line `[tool error]`. Ids that are missing or repeat are mended as for Anthropic.

    Raises InvalidDocument, naming the message's index, for what the API refuses and nothing can
    mend: a result without its call, a call without its result before the conversation goes on.
    """
    return {"input": translated(messages, ("openai-responses",), _Outward).items()}


class _Outward(ItemsOut):
    """A conversation on its way out; see `from_openai_messages`."""

    def assistant(self, message: JsonObject, index: int) -> Iterator[JsonObject]:
        waiting, calls = iter(said_parts(message, index)), iter(calls_of(message, index))
        for entry in entries_of(message, ITEMS):
            if entry.get("type") in CALLS and "call_id" not in entry:
                if (call := next(calls, None)) is not None:
                    yield self._call(call, index, entry)
            elif entry.get("type") == "message":
                yield from _again(entry, waiting, index)
            else:
                yield copied(entry, index)
        for part in waiting:
            yield {"type": "message", "role": "assistant", "content": _text_of(part, index)}
        for call in calls:
            yield self._call(call, index, {})

    def spoken(self, message: JsonObject, index: int) -> Iterator[JsonObject]:
        entry = only_entry(message, ITEMS)
        content = _content(message, entry.get("content"), index)
        if content:
            rest = {
                key: copied(entry[key], index) for key in entry if key not in ("type", "content")
            }
            yield {"type": "message", **rest, "role": message["role"], "content": content}

    def result(self, message: JsonObject, call: Waiting[Made], index: int) -> JsonObject:
        message = told(message, index)
        entry, item = only_entry(message, ITEMS), call.kept.item
        made: JsonObject = {"type": CALLS[item["type"]]}
        if isinstance(item.get("caller"), dict):
            made["caller"] = copied(item["caller"], index)
        made |= {key: copied(entry[key], index) for key in entry if key not in ("type", "output")}
        output = _content(message, entry.get("output"), index)
        failed = message.get(tool_errors.IS_ERROR) is True
        if failed and isinstance(output, list):
            output = [{"type": "input_text", "text": tool_errors.mark("", error=True)}, *output]
        elif failed and isinstance(output, str):
            output = tool_errors.mark(output, error=True)
        return made | {"call_id": call.id, "output": output}

    def _call(self, call: JsonObject, index: int, entry: JsonObject) -> JsonObject:
        function = function_of(call, index)
        item: JsonObject = {key: copied(entry[key], index) for key in entry}
        item["name"] = said(function["name"])
        if is_custom(call):
            item |= {"type": "custom_tool_call", "input": custom_text_of(function, index)}
        else:
            text = _arguments(function.get("arguments"), index)
            item |= {"type": "function_call", "arguments": text}
        return self.called(item, "call_id", call.get("id"), index)


def _content(message: JsonObject, entries: JsonValue, index: int) -> str | list[JsonObject]:
    """Return a message's content as it was, a text or parts."""
    parts = [part for part in readable_parts(message, index) if not is_empty(part)]
    if isinstance(message.get("content"), str) and len(parts) <= 1:
        return said(message["content"])
    waiting = iter(parts)
    made = filled(entries, waiting, index)
    return [*made, *(to_content(part, index, spoken=False) for part in waiting)] or ""


def _again(entry: JsonObject, waiting: Iterator[JsonObject], index: int) -> Iterator[JsonObject]:
    """Give a message of the model's back as it came, with its words; one that has none left is left
    out.
    """
    held = entry.get("content")
    if isinstance(held, list):
        content = filled(held, waiting, index)
        if content or not held:
            yield {**copied(entry, index), "content": content}
    elif "content" in entry:
        yield copied(entry, index)
    elif (part := next(waiting, None)) is not None:
        yield {**copied(entry, index), "content": _text_of(part, index)}


def _text_of(part: JsonObject, index: int) -> str:
    """Return what the model said, of which the API takes text alone where it has no id."""
    content = to_content(part, index, spoken=True)
    text = content.get("text", content.get("refusal"))
    if not isinstance(text, str):
        refuse(
            index,
            f"Responses takes no content of type {quote(part.get('type'))} from the model",
            pointer="/content",
        )
    return text


def _arguments(given: JsonValue, index: int) -> str:
    if isinstance(given, str):
        return said(given)
    try:
        return arguments.to_text({} if given is None else given)
    except InvalidDocument as error:
        refuse(index, f"a call's arguments {error.reason}", pointer="/tool_calls")
