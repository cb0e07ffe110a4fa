"""Which calls of a conversation have no result yet, and which ids are used; results pair with calls as the adapters pair them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vespe.adapters import messages as adapter_messages
from vespe.adapters.calls import Calls, Waiting
from vespe.models import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call as the model made it: `arguments` are JSON text, or whatever stands in their place; `place` counts from 0 in its turn.

    `repeated` is true where the conversation has had a call of this id already.
    """

    call_id: str
    name: str
    arguments: JsonValue = ""
    place: int = 0
    repeated: bool = False


@dataclass(slots=True)
class Turns:
    """What a conversation's calls are: `last` is the index of the last message with calls, -1 where there is none.

    `open` are the calls of that message without a result, in order. `stray` is the index of a message whose calls were
    never answered although the conversation went on, or None; `lost` that of a result that answers no call, or None. `results`
    are the indices of the last turn's results by the places of their calls.
    """

    open: list[ModelCall]
    last: int = -1
    stray: int | None = None
    lost: int | None = None
    results: dict[int, int] = field(default_factory=dict)


def read_turns(messages: Sequence[JsonObject]) -> Turns:
    """Read a conversation's calls; linear in its messages. Raises InvalidDocument for what are no messages."""
    calls: Calls[tuple[int, ModelCall]] = Calls()
    waiting: list[Waiting[tuple[int, ModelCall]]] = []
    used: set[str] = set()
    found = Turns(open=[])
    for index, message in enumerate(adapter_messages.checked(messages)):
        role = message.get("role")
        if role == "tool":
            answered = calls.answer(message.get("tool_call_id"), message.get("name"))
            if answered is None:
                found.lost = index if found.lost is None else found.lost
            elif answered.kept[0] == found.last:
                found.results[answered.kept[1].place] = index
            continue
        found.stray = found.stray if found.stray is not None or not _open(waiting) else found.last
        if role == "assistant":
            calls.begin_turn()
            given = [_call(call, place, used) for place, call in enumerate(calls_of(message))]
            waiting = [calls.add(call.call_id, call.name, (index, call)) for call in given]
            if given:
                found.last, found.results = index, {}
    found.open = _open(waiting)
    return found


def calls_of(message: JsonObject) -> list[JsonObject]:
    """Return the calls of a message, or nothing; what is no object among them is a call that names no tool."""
    calls = message.get("tool_calls")
    return [call if isinstance(call, dict) else {} for call in calls] if isinstance(calls, list) else []


def with_ids(message: JsonObject, *, before: int) -> JsonObject:
    """Return a model's message whose calls all have ids: where one has none, or Vespe gave it, its place in the conversation counts.

    `before` is the number of calls so far. Ids that a server gave stay as they came, repeated ones too.
    """
    if not (calls := calls_of(message)):
        return message
    named = []
    for number, call in enumerate(calls, start=before + 1):
        given = call.get("id")
        own = isinstance(given, str) and given and not adapter_messages.GENERATED.fullmatch(given)
        named.append(call if own else call | {"id": adapter_messages.generated_id(number)})
    return message | {"tool_calls": named}


def _call(call: JsonObject, place: int, used: set[str]) -> ModelCall:
    function = call.get("custom") if call.get("type") == "custom" else call.get("function")
    held = function if isinstance(function, dict) else {}
    given, name = call.get("id"), held.get("name")
    call_id = given if isinstance(given, str) else ""
    repeated = bool(call_id) and call_id in used
    used.add(call_id)
    arguments = held.get("arguments", held.get("input"))
    return ModelCall(call_id=call_id, name=name if isinstance(name, str) else "", arguments=arguments, place=place, repeated=repeated)


def _open(waiting: list[Waiting[tuple[int, ModelCall]]]) -> list[ModelCall]:
    return [one.kept[1] for one in waiting if not one.answered]
