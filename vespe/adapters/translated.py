"""What was translated of a conversation so far: the next request costs what was said since the one
before it.
"""

import operator
from collections.abc import Callable, Hashable, Iterable
from typing import Protocol, TypeVar

from vespe.adapters.messages import check_messages, refuse_no_object
from vespe.models import JsonObject


class Translation(Protocol):
    """A translation that takes one message after another."""

    def add(self, message: JsonObject, index: int) -> None:
        """Translate the next message, which stands at `index`; raises InvalidDocument."""
        ...


T = TypeVar("T", bound=Translation)


class Conversation(list[JsonObject]):
    """The messages of a conversation that grows. What was translated of them is kept with them.

    A message may be replaced or taken out, but never changed in place: that would not be noticed.
    """

    def __init__(self, messages: Iterable[JsonObject] = ()) -> None:
        super().__init__(messages)
        self._kept: dict[Hashable, tuple[list[JsonObject], Translation]] = {}

    def translated(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the translation of all messages that goes by `key`, made by `make` where none is
        kept that still holds.
        """
        said, made = self._kept.pop(key, ([], None))
        if made is None or len(said) > len(self) or not all(map(operator.is_, said, self)):
            said, made = [], make()
        for index in range(len(said), len(self)):
            refuse_no_object(self[index], index)
            made.add(self[index], index)
            said.append(self[index])
        self._kept[key] = said, made
        return made  # type: ignore[return-value]  # what `make` returned when the key was new


def translated(messages: Iterable[JsonObject], key: Hashable, make: Callable[[], T]) -> T:
    """Return the translation of messages: what a Conversation keeps goes on, anything else is
    translated from its beginning.
    """
    if isinstance(messages, Conversation):
        return messages.translated(key, make)
    made = make()
    for index, message in enumerate(check_messages(messages)):
        made.add(message, index)
    return made
