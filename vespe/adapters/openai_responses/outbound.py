"""A conversation on its way out: inner messages as the items of a request to OpenAI's Responses."""

from collections.abc import Iterable, Iterator

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import Waiting, custom_text_of, function_of, is_custom
from vespe.adapters.item_contents import rest_of_item
from vespe.adapters.items_out import ItemsOut, Made, only_entry
from vespe.adapters.messages import BLOCKS, ITEMS, copied, quote, refuse, said, told
from vespe.adapters.openai_responses.contents import CONTENTS, to_content
from vespe.adapters.openai_responses.inbound import CALLS
from vespe.adapters.translated import translated
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue


def from_openai_messages(messages: Iterable[JsonObject]) -> JsonObject:
    """Translate a conversation to `{"input": […]}` for a request to OpenAI's Responses, which
    contains all of it.

    Items that came from OpenAI are sent back unchanged in their positions, with the text of the
    message. System messages become items at the same position. The text of a result with `is_error`
    begins with the line `[tool error]`. Missing and repeated ids are corrected as for Anthropic.

    Raises InvalidDocument with the message's index for what the API refuses and Vespe cannot
    correct: a result without its call, a call without its result before the conversation continues.
    """
    return {"input": translated(messages, ("openai-responses",), _Outward).items()}


class _Outward(ItemsOut):
    """A conversation on its way out; see `from_openai_messages`."""

    key, call_types, call_key, speech = ITEMS, CALLS, "call_id", "message"

    def again(
        self, entry: JsonObject, waiting: Iterator[JsonObject], index: int
    ) -> Iterator[JsonObject]:
        held = entry.get("content")
        if isinstance(held, list):
            content = CONTENTS.filled(held, waiting, index)
            if content or not held:
                yield {**copied(entry, index), "content": content}
        elif "content" in entry:
            yield copied(entry, index)
        elif (part := next(waiting, None)) is not None:
            yield {**copied(entry, index), "content": _text_of(part, index)}

    def said(self, waiting: Iterator[JsonObject], index: int) -> Iterator[JsonObject]:
        for part in waiting:
            yield {"type": "message", "role": "assistant", "content": _text_of(part, index)}

    def spoken(self, message: JsonObject, index: int) -> Iterator[JsonObject]:
        entry = only_entry(message, ITEMS)
        content = _content(message, entry.get("content"), index)
        if content:
            rest = rest_of_item(entry, ("type", "content"), index)
            yield {"type": "message", **rest, "role": message["role"], "content": content}

    def result(self, message: JsonObject, call: Waiting[Made], index: int) -> JsonObject:
        message = told(message, index)
        entry, item = only_entry(message, ITEMS), call.kept.item
        made: JsonObject = {"type": CALLS[item["type"]]}
        if isinstance(item.get("caller"), dict):
            made["caller"] = copied(item["caller"], index)
        made |= rest_of_item(entry, ("type", "output"), index)
        output = _content(message, entry.get("output"), index)
        failed = message.get(tool_errors.IS_ERROR) is True
        if failed and isinstance(output, list):
            output = [{"type": "input_text", "text": tool_errors.mark("", error=True)}, *output]
        elif failed and isinstance(output, str):
            output = tool_errors.mark(output, error=True)
        return made | {"call_id": call.id, "output": output}

    def call(self, call: JsonObject, index: int, entry: JsonObject) -> JsonObject:
        function = function_of(call, index)
        item = rest_of_item(entry, (), index)
        item["name"] = said(function["name"])
        if is_custom(call):
            item |= {"type": "custom_tool_call", "input": custom_text_of(function, index)}
        else:
            text = _arguments(function.get("arguments"), index)
            item |= {"type": "function_call", "arguments": text}
        return self.called(item, self.call_key, call.get("id"), index)


def _content(message: JsonObject, entries: JsonValue, index: int) -> str | list[JsonObject]:
    """Return a message's content as it was, a text or parts."""
    text = message.get("content")
    if isinstance(text, str) and not entries and BLOCKS not in message:
        return said(text)
    made = CONTENTS.of_message(message, entries, index)
    plain = isinstance(text, str) and not entries and len(made) <= 1
    return said(str(text)) if plain else made or ""


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
