"""Items on their way in: the `input` and the `output` of OpenAI's Responses as inner messages, with
what chat cannot say beside them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from vespe.adapters import arguments
from vespe.adapters.call_ids import Calls, decode_id, text_id
from vespe.adapters.messages import (
    ITEMS,
    check_messages,
    copied,
    kind,
    plain_text,
    quote,
    refuse,
    said,
)
from vespe.adapters.openai_responses.contents import to_parts
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

    What the model said between two turns of others is one message; what chat cannot say of it
    stands in `openai_items` (docs/adapters.md): reasoning, phases, ids, items that Vespe does not
    know. Instructions become a system message, and stay one. Raises InvalidDocument, naming the
    item's index, for what is not a conversation.
    """
    given: Any = [{"role": "user", "content": items}] if isinstance(items, str) else items
    made: list[JsonObject] = []
    if isinstance(instructions, str) and instructions:
        made.append({"role": "system", "content": said(instructions)})
    elif isinstance(instructions, list):
        given = [*instructions, *check_messages(given)]
    calls: Calls[None] = Calls()
    turn: _Turn | None = None
    for index, item in enumerate(check_messages(given)):
        sort = _sort(item)
        if sort == "message" and item.get("role") in _SPEAKERS:
            spoken = _spoken(item, index)
        elif sort in _RESULTS:
            spoken = _result(item, calls, index)
        else:
            if turn is None:
                turn = _Turn(calls)
            turn.add(item, index)
            continue
        made += [turn.message()] if turn is not None else []
        turn = None
        made.append(spoken)
    return [*made, turn.message()] if turn is not None else made


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
class _Turn:
    """What the model says until somebody else does."""

    calls: Calls[None]
    parts: list[JsonObject] = field(default_factory=list)
    made: list[JsonObject] = field(default_factory=list)
    order: list[JsonValue] = field(default_factory=list)
    begun: bool = False

    def begin(self) -> None:
        if not self.begun:
            self.begun = True
            self.calls.begin_turn()

    def add(self, item: JsonObject, index: int) -> None:
        """Take the next item."""
        sort = _sort(item)
        if sort in CALLS:
            self.begin()
            self.made.append(_call(item, str(sort), self.calls, index))
            rest = {key: copied(item[key], index) for key in item if key not in _CALL_WORDS}
            self.order.append(rest)
        elif sort == "message":
            self.begin()
            self.order.append(self._message(item, index))
        else:
            self.order.append(copied(item, index))

    def message(self) -> JsonObject:
        """Return the message; its content is a text where that is all there is."""
        text = plain_text(self.parts)
        made: JsonObject = {
            "role": "assistant",
            "content": text if text is not None else self.parts or None,
        }
        if self.made:
            made["tool_calls"] = self.made
        return made if self._is_usual() else made | {ITEMS: self.order}

    def _message(self, item: JsonObject, index: int) -> JsonObject:
        role = item.get("role")
        if role not in ("assistant", None):
            known = ", ".join((*_SPEAKERS, "assistant"))
            refuse(index, f"has the role {quote(role)}; there are {known}", pointer="/role")
        entry: JsonObject = {"type": "message", "role": "assistant"} | {
            key: copied(item[key], index) for key in item if key != "content"
        }
        content = item.get("content")
        if isinstance(content, str):
            if content:
                self.parts.append({"type": "text", "text": said(content)})
            else:
                entry["content"] = ""
        else:
            parts, entry["content"] = to_parts(content, index)
            self.parts += parts
        return entry

    def _is_usual(self) -> bool:
        """Whether the order says nothing that the message does not: texts, then calls."""
        usual: list[JsonValue] = [{"type": "message", "role": "assistant"}] * len(self.parts)
        return self.order == usual + [
            {"type": "custom_tool_call" if call["type"] == "custom" else "function_call"}
            for call in self.made
        ]


def _sort(item: JsonObject) -> JsonValue:
    """Return the type of an item; one with a role alone is a message."""
    return item.get("type") or ("message" if "role" in item else None)


def _spoken(item: JsonObject, index: int) -> JsonObject:
    rest = {key: copied(item[key], index) for key in item if key not in ("role", "content")}
    entry: JsonObject = {"type": "message"} | rest
    content = item.get("content")
    if isinstance(content, str):
        parts: JsonValue = said(content)
    else:
        parts, entries = to_parts(content, index)
        if any(one != {"type": "input_text"} for one in entries):
            entry["content"] = entries
    message: JsonObject = {"role": item["role"], "content": parts}
    return message if entry.keys() == {"type"} else message | {ITEMS: [entry]}


def _call(item: JsonObject, sort: str, calls: Calls[None], index: int) -> JsonObject:
    name = item.get("name")
    if not isinstance(name, str) or not name:
        refuse(index, f"a `{sort}` has no name", pointer="/name")
    name = said(name)
    identifier = decode_id(calls.add(item.get("call_id"), name, None).id)
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
    given = item.get("call_id")
    waiting = calls.answer(given)
    identifier = waiting.id if waiting is not None else text_id(given)
    if not identifier:
        refuse(
            index,
            f"a `{item['type']}` has no `call_id`, and no call before it is open",
            pointer="/call_id",
        )
    entry: JsonObject = {key: copied(item[key], index) for key in item if key not in _RESULT_WORDS}
    output = item.get("output")
    if output is None or isinstance(output, str):
        content: JsonValue = said(output or "")
    else:
        content, entries = to_parts(output, index)
        if any(one != {"type": "input_text"} for one in entries):
            entry["output"] = entries
    message: JsonObject = {
        "role": "tool",
        "tool_call_id": decode_id(identifier),
        "content": content or "",
    }
    return message if entry.keys() == {"type"} else message | {ITEMS: [entry]}
