"""A conversation on its way out: inner messages as the items of a request to OpenAI's Responses."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import (
    Calls,
    Waiting,
    calls_of,
    custom_text_of,
    function_of,
    is_custom,
)
from vespe.adapters.content_parts import readable_parts
from vespe.adapters.messages import (
    ITEMS,
    copied,
    is_empty,
    quote,
    quoted_names,
    refuse,
    said,
    told,
)
from vespe.adapters.openai_responses.contents import filled, to_content
from vespe.adapters.openai_responses.inbound import CALLS
from vespe.adapters.translated import translated
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

_SPEAKERS: Final = ("system", "developer", "user")
_RESULTS: Final = ("tool", "function")


@dataclass(frozen=True, slots=True)
class _Made:
    """The item of a call, and where it was said: its result has the type that belongs to the
    item's, and the same caller.
    """

    item: JsonObject
    index: int


def from_openai_messages(messages: Iterable[JsonObject]) -> JsonObject:
    """Translate a conversation: `{"input": […]}` for a request to OpenAI's Responses, which is told
    all of it.

    Items that came from there go back as they came, in their place, with the words of the message.
    System messages are items in their place. The text of a result with `is_error` begins with the
    line `[tool error]`. Ids that are missing or repeat are mended as for Anthropic.

    Raises InvalidDocument, naming the message's index, for what the API refuses and nothing can
    mend: a result without its call, a call without its result before the conversation goes on.
    """
    return translated(messages, ("openai-responses",), _Outward).request()


@dataclass(slots=True)
class _Outward:
    """A conversation on its way out; see `from_openai_messages`."""

    made: list[JsonObject] = field(default_factory=list)
    calls: Calls[_Made] = field(default_factory=Calls)
    open: list[Waiting[_Made]] = field(default_factory=list)
    missing: list[Waiting[_Made]] = field(default_factory=list)
    """Calls that have no result, though the conversation went on."""
    spoke: str = ""
    """Who spoke last."""

    def add(self, message: JsonObject, index: int) -> None:
        """Translate the next message."""
        role = message.get("role")
        if role in ("assistant", "user"):
            self.missing += [call for call in self.open if not call.answered]
            self.open = []
        if role in _RESULTS:
            items = [self._result(message, index)]
        elif role == "assistant":
            items = list(self._assistant(message, index))
        elif role in _SPEAKERS:
            items = list(_spoken(message, index))
        else:
            known = "system, developer, user, assistant and tool"
            refuse(index, f"has the role {quote(role)}; there are {known}", pointer="/role")
        self.made += items
        self.spoke = str(role)

    def request(self) -> JsonObject:
        """Return the request's part; a conversation may end in calls that wait."""
        self.missing = [call for call in self.missing if not call.answered]
        if self.missing:
            first = self.missing[0].kept.index
            ids = [call.id for call in self.missing if call.kept.index == first]
            refuse(
                first,
                f"the conversation goes on without the result of {quoted_names(ids)}",
                pointer="/tool_calls",
            )
        return {"input": list(self.made)}

    def _assistant(self, message: JsonObject, index: int) -> Iterator[JsonObject]:
        parts = [part for part in readable_parts(message, index) if not is_empty(part)]
        if not parts and isinstance(refusal := message.get("refusal"), str) and refusal:
            parts = [{"type": "refusal", "refusal": refusal}]
        waiting, calls = iter(parts), iter(calls_of(message, index))
        order = message.get(ITEMS)
        if self.spoke != "assistant":
            self.calls.begin_turn()
        for entry in order if isinstance(order, list) else ():
            if not isinstance(entry, dict):
                continue
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

    def _call(self, call: JsonObject, index: int, entry: JsonObject) -> JsonObject:
        function = function_of(call, index)
        item: JsonObject = {key: copied(entry[key], index) for key in entry}
        item |= {"call_id": "", "name": said(function["name"])}
        if is_custom(call):
            item |= {"type": "custom_tool_call", "input": custom_text_of(function, index)}
        else:
            text = _arguments(function.get("arguments"), index)
            item |= {"type": "function_call", "arguments": text}
        waiting = self.calls.add(call.get("id"), function["name"], _Made(item, index))
        item["call_id"] = waiting.id
        self.open.append(waiting)
        return item

    def _result(self, message: JsonObject, index: int) -> JsonObject:
        given = message.get("tool_call_id")
        waiting = self.calls.answer(given, message.get("name"))
        if waiting is None:
            which = f"of {quote(given)} " if given else ""
            refuse(
                index,
                f"the result {which}answers no call: none of that id is open before it",
                pointer="/tool_call_id",
            )
        message = told(message, index)
        entry = _only(message)
        call = waiting.kept.item
        made: JsonObject = {"type": CALLS[call["type"]]}
        if isinstance(call.get("caller"), dict):
            made["caller"] = copied(call["caller"], index)
        made |= {key: copied(entry[key], index) for key in entry if key not in ("type", "output")}
        output = _content(message, entry.get("output"), index)
        failed = message.get(tool_errors.IS_ERROR) is True
        if failed and isinstance(output, list):
            output = [{"type": "input_text", "text": tool_errors.mark("", error=True)}, *output]
        elif failed and isinstance(output, str):
            output = tool_errors.mark(output, error=True)
        return made | {"call_id": waiting.id, "output": output}


def _only(message: JsonObject) -> JsonObject:
    """The one entry of a message that is one item, `{}` where there is none."""
    order = message.get(ITEMS)
    entry = order[0] if isinstance(order, list) and len(order) == 1 else None
    return entry if isinstance(entry, dict) else {}


def _spoken(message: JsonObject, index: int) -> Iterator[JsonObject]:
    entry = _only(message)
    content = _content(message, entry.get("content"), index)
    if content:
        rest = {key: copied(entry[key], index) for key in entry if key not in ("type", "content")}
        yield {"type": "message", **rest, "role": message["role"], "content": content}


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
