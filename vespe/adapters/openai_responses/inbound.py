"""Items on their way in: the `input` and the `output` of OpenAI's Responses as inner messages, with
what chat cannot say beside them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from vespe.adapters import arguments
from vespe.adapters.call_ids import Calls, text_id
from vespe.adapters.item_contents import rest_of_item
from vespe.adapters.items_in import TurnIn, answered, called, messages_of, with_entry
from vespe.adapters.messages import (
    ITEMS,
    check_messages,
    copied,
    kind,
    quote,
    refuse,
    said,
)
from vespe.adapters.openai_responses.contents import CONTENTS
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

CALLS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
"""The types of calls that are ours to run, each with the type of its result."""
_RESULTS: Final = frozenset(CALLS.values())
_SPEAKERS: Final = ("system", "developer", "user")
_CALL_WORDS: Final = ("call_id", "name", "arguments", "input")
_RESULT_WORDS: Final = ("call_id", "output")


def to_openai_messages(
    items: Iterable[JsonObject] | str, instructions: JsonValue = None
) -> list[JsonObject]:
    """Translate a request's `input`, and its `instructions`, to inner messages, for
    `from_openai_messages` to give back.

    All items of one turn of the model become one message. Items that the chat format cannot express
    are stored in `openai_items` (docs/adapters.md): reasoning, phases, ids, unknown items.
    Instructions become a system message and stay one. Raises InvalidDocument with the item's index
    for an invalid conversation.
    """
    given = as_items(items)
    made: list[JsonObject] = []
    if isinstance(instructions, str) and instructions:
        made.append({"role": "system", "content": said(instructions)})
    elif isinstance(instructions, list):
        given = check_messages([*instructions, *given])
    calls: Calls[None] = Calls()
    others_calls: set[str] = set()

    def others(item: JsonObject, index: int) -> JsonObject | None:
        sort = _sort(item)
        if sort == "message" and item.get("role") in _SPEAKERS:
            return _spoken(item, index)
        if sort not in _RESULTS or (others_calls and text_id(item.get("call_id")) in others_calls):
            return None
        return _result(item, calls, index)

    return made + messages_of(given, lambda: _Turn(calls, others_calls=others_calls), others)


def as_items(items: Iterable[JsonObject] | str) -> list[JsonObject]:
    """Return an `input` as items. A text becomes one message of the user."""
    return [{"role": "user", "content": items}] if isinstance(items, str) else check_messages(items)


def assistant_message(items: Iterable[JsonObject]) -> JsonObject:
    """Return the one message that a response's `output` is. Calls that it answers itself are not
    ours to run: they stay items, and so does what no call can be made of.
    """
    listed = [item for item in items if isinstance(item, dict)]
    answered = {str(item.get("call_id")) for item in listed if item.get("type") in _RESULTS}
    turn = _Turn(Calls())
    turn.begin()
    for index, item in enumerate(listed):
        if _sort(item) in CALLS and str(item.get("call_id")) in answered:
            turn.order.append(copied(item, index))
            continue
        try:
            turn.add(item, index)
        except InvalidDocument:
            turn.order.append(copied(item, index))
    return turn.message()


@dataclass(slots=True)
class _Turn(TurnIn):
    begun: bool = False
    others_calls: set[str] = field(default_factory=set)
    """The ids of calls that are no function's, such as a search of tools: they stay items, and so
    does a result of such a call, whatever its type.
    """

    def begin(self) -> None:
        if not self.begun:
            self.begun = True
            self.calls.begin_turn()

    def add(self, item: JsonObject, index: int) -> None:
        """Take the next item."""
        sort = _sort(item)
        if sort in CALLS:
            self.begin()
            self.others_calls.discard(text_id(item.get("call_id")))
            self.made.append(_call(item, str(sort), self.calls, index))
            self.order.append(rest_of_item(item, _CALL_WORDS, index))
        elif sort == "message":
            self.begin()
            self.order.append(self._message(item, index))
        else:
            if sort not in _RESULTS and (identifier := text_id(item.get("call_id"))):
                self.others_calls.add(identifier)
            self.order.append(copied(item, index))

    def message(self) -> JsonObject:
        """Return the message; texts, then calls are its usual items."""
        usual: list[JsonValue] = [{"type": "message", "role": "assistant"}] * len(self.parts)
        usual += [
            {"type": "custom_tool_call" if call["type"] == "custom" else "function_call"}
            for call in self.made
        ]
        return self.with_order(ITEMS, usual=usual)

    def _message(self, item: JsonObject, index: int) -> JsonObject:
        role = item.get("role")
        if role not in ("assistant", None):
            known = ", ".join((*_SPEAKERS, "assistant"))
            refuse(index, f"has the role {quote(role)}; there are {known}", pointer="/role")
        entry: JsonObject = {"type": "message", "role": "assistant"}
        entry |= rest_of_item(item, ("content",), index)
        content = item.get("content")
        if isinstance(content, str):
            if content:
                self.parts.append({"type": "text", "text": said(content)})
            else:
                entry["content"] = ""
        else:
            parts, entry["content"] = CONTENTS.to_parts(content, index)
            self.parts += parts
        return entry


def _sort(item: JsonObject) -> JsonValue:
    """Return the type of an item; one with a role alone is a message."""
    return item.get("type") or ("message" if "role" in item else None)


def _spoken(item: JsonObject, index: int) -> JsonObject:
    entry: JsonObject = {"type": "message"} | rest_of_item(item, ("role", "content"), index)
    content = item.get("content")
    if isinstance(content, str):
        parts: JsonValue = said(content)
    else:
        parts, entries = CONTENTS.to_parts(content, index)
        if any(one != {"type": "input_text"} for one in entries):
            entry["content"] = entries
    return with_entry({"role": item["role"], "content": parts}, ITEMS, entry)


def _call(item: JsonObject, sort: str, calls: Calls[None], index: int) -> JsonObject:
    identifier, name = called(item, "call_id", calls, index)
    if sort == "custom_tool_call":
        text = item.get("input")
        if not isinstance(text, str):
            refuse(index, f"its `input` must be a string, not {kind(text)}", pointer="/input")
        return {"id": identifier, "type": "custom", "custom": {"name": name, "input": said(text)}}
    function = {"name": name, "arguments": _arguments(item.get("arguments"), index)}
    return {"id": identifier, "type": "function", "function": function}


def _arguments(given: JsonValue, index: int) -> str:
    if isinstance(given, str):
        return said(given)
    try:
        return "" if given is None else arguments.to_text(given)
    except InvalidDocument as error:
        refuse(index, f"a call's arguments {error.reason}", pointer="/arguments")


def _result(item: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    identifier = answered(item, calls, index)
    entry = rest_of_item(item, _RESULT_WORDS, index)
    output = item.get("output")
    if output is None or isinstance(output, str):
        content: JsonValue = said(output or "")
    else:
        content, entries = CONTENTS.to_parts(output, index)
        if any(one != {"type": "input_text"} for one in entries):
            entry["output"] = entries
    message = {"role": "tool", "tool_call_id": identifier, "content": content or ""}
    return with_entry(message, ITEMS, entry)
