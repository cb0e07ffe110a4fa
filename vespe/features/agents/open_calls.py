"""Which calls of a conversation have no result yet, and which ids are used; results pair with calls
as the adapters pair them.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias

from vespe.adapters import callers
from vespe.adapters import messages as adapter_messages
from vespe.adapters.call_ids import Calls, Waiting
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

Caller: TypeAlias = Literal["", "program", "stranger"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call as the model made it: `arguments` are JSON text, or whatever stands in their place;
    `place` counts from 0 in its turn.

    `repeated` is true where the conversation has had a call of this id already. `caller` is
    `program` where a program of this conversation makes it, which the vendor runs, and `stranger`
    where it names a caller that is none. `parent` is the id of the call of `run_code` whose program
    makes it.
    """

    call_id: str
    name: str
    arguments: JsonValue = ""
    place: int = 0
    repeated: bool = False
    caller: Caller = ""
    parent: str = ""


def caller_of(program: str | None, programs: Collection[str]) -> Caller:
    """Return the `caller` of a call that names a program, None for none, where the conversation
    holds these.
    """
    if program is None:
        return ""
    return "program" if program in programs else "stranger"


class Turns:
    """A conversation's calls and results, read message after message.

    `last` is the index of the last message with calls, -1 where there is none; `results` are the
    indices of that turn's results by the places of their calls. `stray` is the index of a message
    whose calls were never answered although the conversation went on, or None; `lost` that of a
    result that answers no call, or None. `length` counts the messages and `count` the calls so far.
    """

    def __init__(self) -> None:
        self.last, self.length, self.count = -1, 0, 0
        self.stray: int | None = None
        self.lost: int | None = None
        self.results: dict[int, int] = {}
        self._calls: Calls[tuple[int, ModelCall]] = Calls()
        self._waiting: list[Waiting[tuple[int, ModelCall]]] = []
        self._used: set[str] = set()
        self._programs: set[str] = set()

    @property
    def open(self) -> list[ModelCall]:
        """The last turn's calls without a result, in order."""
        return [one.kept[1] for one in self._waiting if not one.answered]

    def add(self, message: JsonObject) -> None:
        """Read the next message."""
        index, role = self.length, message.get("role")
        self.length += 1
        if role == "tool":
            self._add_result(message, index)
            return
        self.stray = self.stray if self.stray is not None or not self.open else self.last
        if role == "assistant":
            self._calls.begin_turn()
            self._programs |= callers.programs_in(message)
            calls = calls_of(message)
            made_by = callers.callers_in(message, calls)
            given = [
                _call(call, place, self._used, caller=caller_of(by, self._programs))
                for place, (call, by) in enumerate(zip(calls, made_by, strict=True))
            ]
            self._waiting = [
                self._calls.add(call.call_id, call.name, (index, call)) for call in given
            ]
            self.count += len(given)
            if given:
                self.last, self.results = index, {}

    def settle(self, places: Iterable[int], *, length: int) -> None:
        """Take note that the last turn's calls at these places have results now, in order directly
        behind it; of `length` messages.
        """
        self.results = {
            place: self.last + 1 + number for number, place in enumerate(sorted(places))
        }
        for one in self._waiting:
            if one.kept[0] == self.last and one.kept[1].place in self.results:
                self._calls.settle(one)
        self.length = length

    def _add_result(self, message: JsonObject, index: int) -> None:
        answered = self._calls.answer(message.get("tool_call_id"), message.get("name"))
        if answered is None:
            self.lost = index if self.lost is None else self.lost
        elif answered.kept[0] == self.last:
            self.results[answered.kept[1].place] = index


def read_turns(messages: Sequence[JsonObject]) -> Turns:
    """Read a conversation's calls; linear in its messages. Raises InvalidDocument for what are no
    messages.
    """
    found = Turns()
    for message in adapter_messages.check_messages(messages):
        found.add(message)
    return found


def calls_of(message: JsonObject) -> list[JsonObject]:
    """Return the calls of a message, or nothing; what is no object among them is a call that names
    no tool.
    """
    calls = message.get("tool_calls")
    return (
        [call if isinstance(call, dict) else {} for call in calls]
        if isinstance(calls, list)
        else []
    )


def with_ids(message: JsonObject, *, before: int) -> JsonObject:
    """Return a model's message whose calls all have ids: where one has none, or Vespe gave it, its
    place in the conversation counts.

    `before` is the number of calls so far. Ids that a server gave stay as they came, repeated ones
    too.
    """
    if not (calls := calls_of(message)):
        return message
    named = []
    for number, call in enumerate(calls, start=before + 1):
        given = call.get("id")
        own = isinstance(given, str) and given and not adapter_messages.GENERATED.fullmatch(given)
        named.append(call if own else call | {"id": adapter_messages.generated_id(number)})
    return message | {"tool_calls": named}


def _call(
    call: JsonObject,
    place: int,
    used: set[str],
    *,
    caller: Caller,
) -> ModelCall:
    function = call.get("custom") if call.get("type") == "custom" else call.get("function")
    held = function if isinstance(function, dict) else {}
    given, name = call.get("id"), held.get("name")
    call_id = given if isinstance(given, str) else ""
    repeated = bool(call_id) and call_id in used
    used.add(call_id)
    arguments = held.get("arguments", held.get("input"))
    return ModelCall(
        call_id=call_id,
        name=name if isinstance(name, str) else "",
        arguments=arguments,
        place=place,
        repeated=repeated,
        caller=caller,
    )
