"""A conversation on its way in from an API whose turns are lists of items: what the model says
between two turns of others is one message, and results answer calls.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from vespe.adapters.call_ids import Calls, decode_id, text_id
from vespe.adapters.messages import plain_text, refuse, said
from vespe.models import JsonObject, JsonValue


@dataclass(slots=True)
class TurnIn:
    """What the model says until somebody else does; a subclass says what an item adds to it.

    `order` are the items without the words that the message says.
    """

    calls: Calls[None]
    parts: list[JsonObject] = field(default_factory=list)
    made: list[JsonObject] = field(default_factory=list)
    order: list[JsonValue] = field(default_factory=list)

    def add(self, item: JsonObject, index: int) -> None:
        """Take the next item."""
        raise NotImplementedError

    def message(self) -> JsonObject:
        """Return the message."""
        raise NotImplementedError

    def with_order(self, key: str, *, usual: list[JsonValue]) -> JsonObject:
        """Return the message, with the order under `key` where it is not what is `usual`; its
        content is a text where that is all there is.
        """
        text = plain_text(self.parts)
        content = text if text is not None else self.parts or None
        made: JsonObject = {"role": "assistant", "content": content}
        if self.made:
            made["tool_calls"] = self.made
        return made if self.order == usual else made | {key: self.order}


def messages_of(
    items: Iterable[JsonObject],
    begin: Callable[[], TurnIn],
    others: Callable[[JsonObject, int], JsonObject | None],
) -> list[JsonObject]:
    """Return the messages of a conversation: of what `others` say, where it gives one, and of the
    turns of the model between, which `begin` makes.
    """
    made: list[JsonObject] = []
    turn: TurnIn | None = None
    for index, item in enumerate(items):
        if (spoken := others(item, index)) is None:
            turn = begin() if turn is None else turn
            turn.add(item, index)
            continue
        made += [turn.message()] if turn is not None else []
        turn = None
        made.append(spoken)
    return [*made, turn.message()] if turn is not None else made


def called(item: JsonObject, key: str, calls: Calls[None], index: int) -> tuple[str, str]:
    """Return the id, which stands under `key`, and the name of a call, which waits for its result
    from then on.
    """
    name = item.get("name")
    if not isinstance(name, str) or not name:
        refuse(index, f"a `{item.get('type')}` has no name", pointer="/name")
    name = said(name)
    return decode_id(calls.add(item.get(key), name, None).id), name


def answered(item: JsonObject, calls: Calls[None], index: int) -> str:
    """Return the id of the call that a result answers."""
    given = item.get("call_id")
    waiting = calls.answer(given)
    identifier = waiting.id if waiting is not None else text_id(given)
    if not identifier:
        reason = f"a `{item['type']}` has no `call_id`, and no call before it is open"
        refuse(index, reason, pointer="/call_id")
    return decode_id(identifier)


def with_entry(message: JsonObject, key: str, entry: JsonObject) -> JsonObject:
    """Return a message that is one item, with what is left of that under `key`, if anything is."""
    return message if entry.keys() == {"type"} else message | {key: [entry]}
