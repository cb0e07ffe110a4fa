"""A conversation on its way out: inner messages as steps for Gemini's Interactions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import Waiting, custom_text_of, function_of, is_custom
from vespe.adapters.gemini_interactions.contents import CONTENTS, to_content
from vespe.adapters.item_contents import rest_of_item
from vespe.adapters.items_out import ItemsOut, Made, only_entry
from vespe.adapters.messages import STEPS, copied, refuse, said, told
from vespe.adapters.translated import translated
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue


def from_openai_messages(messages: Iterable[JsonObject]) -> JsonObject:
    """Translate a conversation to `{"system_instruction": …, "input": […]}` for a request to
    Gemini's Interactions, which contains all of it.

    `system_instruction` contains the texts of all system and developer messages, separated by empty
    lines, because the API has no other place for them; "" if there are none. Steps that came from
    Gemini are sent back unchanged in their positions, with the text of the message. Missing and
    repeated ids are corrected as for Anthropic.

    Raises InvalidDocument with the message's index for what the API refuses and Vespe cannot
    correct: a result without its call, a call without its result before the conversation continues,
    unsupported content.
    """
    made = translated(messages, ("gemini-interactions",), _Outward)
    return {"system_instruction": "\n\n".join(made.system), "input": made.items()}


@dataclass
class _Outward(ItemsOut):
    """A conversation on its way out; see `from_openai_messages`."""

    system: list[str] = field(default_factory=list)

    key, call_types, call_key, speech = STEPS, ("function_call",), "id", "model_output"

    def again(
        self, entry: JsonObject, waiting: Iterator[JsonObject], index: int
    ) -> Iterator[JsonObject]:
        held = entry.get("content")
        content = CONTENTS.filled(held, waiting, index)
        if content or not held:
            yield {**copied(entry, index), "content": content}

    def said(self, waiting: Iterator[JsonObject], index: int) -> Iterator[JsonObject]:
        if content := [to_content(part, index) for part in waiting]:
            yield {"type": "model_output", "content": content}

    def spoken(self, message: JsonObject, index: int) -> Iterator[JsonObject]:
        entry = only_entry(message, STEPS)
        content = CONTENTS.of_message(message, entry.get("content"), index)
        if message["role"] == "user":
            rest = rest_of_item(entry, ("content",), index)
            if content:
                yield {**rest, "type": "user_input", "content": content}
            return
        if any(one["type"] != "text" for one in content):
            refuse(index, "the system prompt holds text only", pointer="/content")
        self.system += [one["text"] for one in content]

    def result(self, message: JsonObject, call: Waiting[Made], index: int) -> JsonObject:
        message = told(message, index)
        entry = only_entry(message, STEPS)
        rest = rest_of_item(entry, ("type", "result"), index)
        held, given = entry.get("result"), message.get("content")
        result: JsonValue
        if isinstance(held, dict) and given == arguments.to_text(held):
            result = copied(held, index)
        elif isinstance(given, str) and not isinstance(held, list):
            result = said(given)
        else:
            result = CONTENTS.of_message(message, held, index) or ""
        return {
            "type": "function_result",
            **rest,
            "call_id": call.id,
            "name": call.kept.item["name"],
            "result": result,
            **tool_errors.copied_field(message),
        }

    def call(self, call: JsonObject, index: int, entry: JsonObject) -> JsonObject:
        function = function_of(call, index)
        item = rest_of_item(entry, (), index)
        item |= {"type": "function_call", "id": "", "name": said(function["name"])}
        if is_custom(call):
            item["arguments"] = arguments.custom_input(custom_text_of(function, index))
        else:
            try:
                item["arguments"] = arguments.to_input(function.get("arguments"))
            except InvalidDocument as error:
                refuse(index, f"a call's arguments {error.reason}", pointer="/tool_calls")
        return self.called(item, self.call_key, call.get("id"), index)
