"""Ids of calls in Anthropic's alphabet, unique in a conversation, and results paired with calls;
one pass, linear.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from vespe.adapters.messages import generated_id, kind, refuse, said
from vespe.documents import strict_json
from vespe.lazy import pattern
from vespe.models import JsonObject

T = TypeVar("T")

_ALPHABET: Final = pattern(r"[A-Za-z0-9_-]+")
_PREFIX: Final = "vespe_id_"
_ENCODED: Final = pattern(r"vespe_id_((?:[0-9a-f]{2})+)")


def encode_id(given: str) -> str:
    """Return an id in Anthropic's alphabet (letters, digits, `_`, `-`): itself, or `vespe_id_` and
    its UTF-8 bytes in hex.
    """
    if _ALPHABET.fullmatch(given) and decode_id(given) == given:
        return given
    return _PREFIX + given.encode("utf-8", "surrogatepass").hex()


def utf8_id(given: str) -> str:
    """Return an id as UTF-8 can say it: one with lone surrogates goes by its bytes in hex, so that
    two stay two; others as they are.
    """
    return (
        given
        if given.isascii() or strict_json.repair_surrogates(given) == given
        else encode_id(given)
    )


def text_id(given: object) -> str:
    """Return an id as a text, "" where it is none: a number's is its digits, which is what servers
    mean that send one.
    """
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return utf8_id(given) if isinstance(given, str) else ""


def decode_id(given: str) -> str:
    """Return the id that `encode_id` was given; every other id is itself, one that only looks
    encoded too.
    """
    found = _ENCODED.fullmatch(given) if given.startswith(_PREFIX) else None
    if found is None:
        return given
    try:
        read = bytes.fromhex(found[1]).decode("utf-8")
    except UnicodeDecodeError:
        return given
    return read if encode_id(read) == given else given


@dataclass(slots=True)
class Waiting(Generic[T]):
    """A call that has no result yet: the id that it goes by, its function's name, and whatever its
    reader keeps with it.
    """

    id: str
    name: str
    kept: T
    turn: int = 0
    answered: bool = False


@dataclass(slots=True)
class Calls(Generic[T]):
    """The calls of a conversation in order. Ids are given where there are none, and made unique
    where they repeat.
    """

    _used: dict[str, int] = field(default_factory=dict)
    _open: dict[str, deque[Waiting[T]]] = field(default_factory=dict)
    _latest: deque[Waiting[T]] = field(default_factory=deque)
    _named: dict[str, deque[Waiting[T]]] = field(default_factory=dict)
    _count: int = 0
    _turn: int = 0
    _open_now: int = 0

    def add(self, given: object, name: str, kept: T) -> Waiting[T]:
        """Take the next call; one without an id goes by its place in the conversation, a repeated
        id by `_2`, `_3`, ….
        """
        self._count += 1
        own = text_id(given)
        call = Waiting(self._unique(own or generated_id(self._count)), name, kept, self._turn)
        for calls, key in ((self._open, own or call.id), (self._named, name)):
            if key in calls:
                calls[key].append(call)
            else:
                calls[key] = deque((call,))
        self._latest.append(call)
        self._open_now += 1
        return call

    def begin_turn(self) -> None:
        """Say that a new assistant turn begins: results without an id answer its calls only."""
        self._turn += 1
        self._latest, self._named, self._open_now = deque(), {}, 0

    def settle(self, call: Waiting[T]) -> None:
        """Take note that a call has a result."""
        self._open_now -= not call.answered and call.turn == self._turn
        call.answered = True

    def answer(self, given: object, name: object = None) -> Waiting[T] | None:
        """Return the call that a result answers, or None where there is none left.

        With an id it is the first call of that id without a result; without one, the first of the
        latest turn without a result, of that name where one has it. An id that no call bears means
        the one call that the latest turn has open.
        """
        if own := text_id(given):
            if own not in self._open and self._open_now == 1:
                return self._first(self._latest)
            return self._first(self._open.get(own))
        named = self._first(self._named.get(name)) if isinstance(name, str) else None
        return named or self._first(self._latest)

    def _first(self, calls: deque[Waiting[T]] | None) -> Waiting[T] | None:
        while calls:
            if not (call := calls.popleft()).answered:
                self.settle(call)
                return call
        return None

    def _unique(self, wanted: str) -> str:
        while seen := self._used.get(wanted, 0):
            self._used[wanted] = seen + 1
            wanted = f"{wanted}_{seen + 1}"
        self._used[wanted] = 1
        return wanted


def unique_id(given: str, calls: Calls[None]) -> str:
    """Return an id that no other of these calls has: itself, or with `_2`, `_3`, … behind it."""
    return decode_id(calls.add(given, "", None).id)


def calls_of(message: JsonObject, index: int) -> list[JsonObject]:
    """Return an assistant message's `tool_calls`, a deprecated `function_call` as one; raises
    InvalidDocument where one is none.
    """
    given = message.get("tool_calls") or []
    if not isinstance(given, (list, tuple)):
        refuse(index, f"`tool_calls` must be a list, not {kind(given)}", pointer="/tool_calls")
    old = message.get("function_call")
    if old and not isinstance(old, dict):
        refuse(
            index, f"`function_call` must be an object, not {kind(old)}", pointer="/function_call"
        )
    if old and old.get("name") and not given:
        return [{"type": "function", "function": old}]
    for place, call in enumerate(given):
        if not isinstance(call, dict):
            refuse(
                index, f"a call must be an object, not {kind(call)}", pointer=f"/tool_calls/{place}"
            )
    return list(given)


def is_custom(call: JsonObject) -> bool:
    """Say whether a call is of a custom tool, whose input is a string."""
    return call.get("type") == "custom" or (
        not call.get("type") and "function" not in call and "custom" in call
    )


def function_of(call: JsonObject, index: int) -> JsonObject:
    """Return the function, or custom tool, that a call is of; raises InvalidDocument where that is
    no object, or has no name.
    """
    key = "custom" if is_custom(call) else "function"
    held = call.get(key)
    if held is not None and not isinstance(held, dict):
        refuse(
            index, f"a call's `{key}` must be an object, not {kind(held)}", pointer="/tool_calls"
        )
    name = held.get("name") if held else None
    if held is None or not isinstance(name, str) or not name:
        refuse(index, "a call has no function's name", pointer="/tool_calls")
    return held


def custom_text_of(custom: JsonObject, index: int) -> str:
    """Return the text that a custom call's input is; raises InvalidDocument, with the message's
    index, for any other input.
    """
    text = custom.get("input", "")
    if not isinstance(text, str):
        refuse(
            index,
            f"a custom call's `input` must be a string, not {kind(text)}",
            pointer="/tool_calls",
        )
    return said(text)
