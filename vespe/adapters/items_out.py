"""A conversation on its way out to an API whose turns are lists of items: calls and results paired
by id, and what the API refuses refused.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from vespe.adapters.call_ids import Calls, Waiting, calls_of
from vespe.adapters.content_parts import readable_parts
from vespe.adapters.messages import copied, is_empty, quote, quoted_names, refuse
from vespe.models import JsonObject, JsonValue

SPEAKERS: Final = ("system", "developer", "user")
_RESULTS: Final = ("tool", "function")


@dataclass(frozen=True, slots=True)
class Made:
    """The item of a call, and where it was said: its result has the type that belongs to the
    item's, and the same caller.
    """

    item: JsonObject
    index: int


@dataclass
class ItemsOut:
    """A conversation on its way out; a subclass says what the items of each message are."""

    made: list[JsonObject] = field(default_factory=list)
    calls: Calls[Made] = field(default_factory=Calls)
    open: list[Waiting[Made]] = field(default_factory=list)
    missing: list[Waiting[Made]] = field(default_factory=list)
    """Calls that have no result, though the conversation went on."""
    spoke: str = ""
    """Who spoke last."""

    key: ClassVar[str]
    """Where a message keeps what is left of the items that it came as."""
    call_types: ClassVar[Collection[str]]
    call_key: ClassVar[str]
    """The types of the items of calls, and where these hold the id."""
    speech: ClassVar[str]
    """The type of the items of what the model said."""

    def again(
        self, entry: JsonObject, waiting: Iterator[JsonObject], index: int
    ) -> Iterable[JsonObject]:
        """Return what the model said as it came, with the words of the parts that wait."""
        raise NotImplementedError

    def said(self, waiting: Iterator[JsonObject], index: int) -> Iterable[JsonObject]:
        """Return the items of what the model said, in the parts that wait."""
        raise NotImplementedError

    def call(self, call: JsonObject, index: int, entry: JsonObject) -> JsonObject:
        """Return the item of a call, made with `called`; `entry` is what is left of it."""
        raise NotImplementedError

    def spoken(self, message: JsonObject, index: int) -> Iterable[JsonObject]:
        """Return the items of what the user or the system says."""
        raise NotImplementedError

    def result(self, message: JsonObject, call: Waiting[Made], index: int) -> JsonObject:
        """Return the item of the result of a call."""
        raise NotImplementedError

    def add(self, message: JsonObject, index: int) -> None:
        """Translate the next message."""
        role = message.get("role")
        if role in ("assistant", "user"):
            self.missing += [call for call in self.open if not call.answered]
            self.open = []
        if role in _RESULTS:
            items = [self.result(message, self._answered(message, index), index)]
        elif role == "assistant":
            if self.spoke != "assistant":
                self.calls.begin_turn()
            items = list(self.assistant(message, index))
        elif role in SPEAKERS:
            items = list(self.spoken(message, index))
        else:
            known = "system, developer, user, assistant and tool"
            refuse(index, f"has the role {quote(role)}; there are {known}", pointer="/role")
        self.made += items
        self.spoke = str(role)

    def assistant(self, message: JsonObject, index: int) -> Iterator[JsonObject]:
        """Return the items of what the model said, those that it came as in their places."""
        waiting, calls = iter(said_parts(message, index)), iter(calls_of(message, index))
        for entry in entries_of(message, self.key):
            if entry.get("type") in self.call_types and self.call_key not in entry:
                if (call := next(calls, None)) is not None:
                    yield self.call(call, index, entry)
            elif entry.get("type") == self.speech:
                yield from self.again(entry, waiting, index)
            else:
                yield copied(entry, index)
        yield from self.said(waiting, index)
        for call in calls:
            yield self.call(call, index, {})

    def called(self, item: JsonObject, key: str, given: object, index: int) -> JsonObject:
        """Return the item of a call with its id under `key`, and wait for its result."""
        waiting = self.calls.add(given, item["name"], Made(item, index))
        item[key] = waiting.id
        self.open.append(waiting)
        return item

    def items(self) -> list[JsonObject]:
        """Return the items; a conversation may end in calls that wait."""
        self.missing = [call for call in self.missing if not call.answered]
        if self.missing:
            first = self.missing[0].kept.index
            ids = [call.id for call in self.missing if call.kept.index == first]
            refuse(
                first,
                f"the conversation goes on without the result of {quoted_names(ids)}",
                pointer="/tool_calls",
            )
        return list(self.made)

    def _answered(self, message: JsonObject, index: int) -> Waiting[Made]:
        given = message.get("tool_call_id")
        waiting = self.calls.answer(given, message.get("name"))
        if waiting is None:
            which = f"of {quote(given)} " if given else ""
            refuse(
                index,
                f"the result {which}answers no call: none of that id is open before it",
                pointer="/tool_call_id",
            )
        return waiting


def said_parts(message: JsonObject, index: int) -> list[JsonObject]:
    """Return what the model said as parts; a refusal that stands beside no content is one."""
    parts = [part for part in readable_parts(message, index) if not is_empty(part)]
    refusal = message.get("refusal")
    if not parts and isinstance(refusal, str) and refusal:
        parts = [{"type": "refusal", "refusal": refusal}]
    return parts


def entries_of(message: JsonObject, key: str) -> Iterator[JsonObject]:
    """Yield what is kept beside a message of the items that it came as."""
    order: JsonValue = message.get(key)
    yield from (
        entry for entry in (order if isinstance(order, list) else ()) if isinstance(entry, dict)
    )


def only_entry(message: JsonObject, key: str) -> JsonObject:
    """The one entry of a message that is one item, `{}` where there is none."""
    entries = list(entries_of(message, key))
    return entries[0] if len(entries) == 1 else {}
