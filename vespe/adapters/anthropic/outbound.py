"""A conversation on its way out: OpenAI's messages as a `system` and `messages` that keep
Anthropic's rules.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from typing import Final

from vespe.adapters.anthropic.contents import (
    assistant_blocks,
    call_block,
    is_blank,
    result_block,
    system_blocks,
    user_blocks,
)
from vespe.adapters.anthropic.speakers import literal, marked, speaker
from vespe.adapters.call_ids import Calls, Waiting, calls_of, function_of
from vespe.adapters.messages import plain_text, quote, quoted_names, refuse
from vespe.adapters.translated import translated
from vespe.models import JsonObject, JsonValue

_SYSTEM: Final = ("system", "developer")
_RESULT: Final = ("tool", "function")


@dataclass(slots=True)
class _Turn:
    """One message to be: what one side says until another does.

    `plain` while one message that is a text made it, `literal` while one whose texts are no marks
    did.
    """

    index: int
    role: str
    spoken: list[tuple[str, list[JsonObject]]] = field(default_factory=list)
    results: list[JsonObject] = field(default_factory=list)
    calls: list[Waiting["_Turn"]] = field(default_factory=list)
    plain: bool = True
    literal: bool = False

    def say(
        self, blocks: list[JsonObject], *, name: str = "", plain: bool, literal: bool = False
    ) -> None:
        self.plain, self.literal = plain and not self.spoken, literal and not self.spoken
        self.spoken.append((name, blocks))

    def join(self, other: "_Turn") -> None:
        self.plain, self.literal = (
            other.plain and not self.spoken,
            other.literal and not self.spoken,
        )
        self.spoken += other.spoken

    def blocks(self) -> list[JsonObject]:
        """What it says, with the marks of names, and without blank text beside a call, which
        Anthropic refuses.
        """
        if self.role == "user" and not self.literal:
            return marked(self.spoken)
        every = [block for _, blocks in self.spoken for block in blocks]
        return [block for block in every if not is_blank(block)] if self.calls else every

    def content(self) -> JsonValue:
        """The text where that is all there is, else the blocks."""
        blocks = self.blocks()
        text = plain_text(blocks) if self.plain else None
        return blocks if text is None else text


def from_openai_messages(
    messages: Iterable[JsonObject], *, settle_system: bool = False
) -> JsonObject:
    """Translate a conversation: `{"system": …, "messages": […]}` for a request to Anthropic's
    Messages API.

    `system` is the leading system and developer messages: a string, a list of text blocks, or `[]`
    where there are none. Later ones keep their place as `role: system`; with `settle_system` each
    moves behind the user's turn that it stands in, the only place where Anthropic takes it. The
    rules and the encodings are in docs/adapters.md.

    Raises InvalidDocument, naming the message's index, for what Anthropic's rules forbid and
    nothing can mend: a result without its call, a call without its result before the conversation
    goes on, content that Anthropic does not take.
    """
    return translated(
        messages, ("anthropic", settle_system), lambda: _Outward(settle_system)
    ).request()


class _Outward:
    """A conversation on its way out; see `from_openai_messages`.

    `_turns` are those that what follows may still change: none before the last of the assistant's,
    once the request was made.
    """

    def __init__(self, settle_system: bool) -> None:
        self._settle = settle_system
        self._calls: Calls[_Turn] = Calls()
        self._turns: list[_Turn] = []
        self._system: JsonValue = None
        self._made: list[JsonObject] = []

    def add(self, message: JsonObject, index: int) -> None:
        role = message.get("role")
        if role == "assistant":
            _assistant(self._turns, self._calls, message, index=index)
        elif role in _RESULT:
            _result(self._calls, message, index)
        elif role == "user" or role in _SYSTEM:
            own = "user" if role == "user" else "system"
            if blocks := (user_blocks if own == "user" else system_blocks)(message, index):
                name = speaker(message) if own == "user" else ""
                plain = isinstance(message.get("content"), str)
                _turn(self._turns, own, index).say(
                    blocks, name=name, plain=plain, literal=own == "user" and literal(message)
                )
        else:
            refuse(
                index,
                f"has the role {quote(role)}; there are system, developer, "
                "user, assistant and tool",
                pointer="/role",
            )

    def request(self) -> JsonObject:
        _refuse_unanswered(self._turns)
        system = self._system
        if system is None:
            leading = list(takewhile(lambda turn: turn.role == "system", self._turns))
            system = _system(leading)
            if len(leading) == len(self._turns):
                return {"system": system, "messages": []}
            self._system, self._turns = system, self._turns[len(leading) :]
        last = max(
            (place for place, turn in enumerate(self._turns) if turn.role == "assistant"), default=0
        )
        self._made += self._emitted(self._turns[:last])
        self._turns = self._turns[last:]
        return {"system": system, "messages": [*self._made, *self._emitted(self._turns)]}

    def _emitted(self, turns: list[_Turn]) -> Iterator[JsonObject]:
        return _emitted(_settled(turns) if self._settle else turns)


def _system(turns: list[_Turn]) -> JsonValue:
    for turn in turns:
        if any(block.get("type") != "text" for block in turn.blocks()):
            refuse(
                turn.index, "the system prompt at the beginning holds text only", pointer="/content"
            )
    return (
        turns[0].content()
        if len(turns) == 1
        else [block for turn in turns for block in turn.blocks()]
    )


def _turn(turns: list[_Turn], role: str, index: int) -> _Turn:
    """Return the turn that a message adds to: the last one where the same side goes on, else a new
    one.
    """
    last = turns[-1] if turns else None
    if last is None or last.role != role or last.results or role == "system":
        turns.append(last := _Turn(index, role))
    return last


def _assistant(turns: list[_Turn], calls: Calls[_Turn], message: JsonObject, *, index: int) -> None:
    count = len(turns)
    turn = _turn(turns, "assistant", index)
    given = calls_of(message, index)
    blocks = [] if given else assistant_blocks(message, [], index)
    if len(turns) > count and (given or blocks):
        calls.begin_turn()
    added = [
        (call, calls.add(call.get("id"), function_of(call, index)["name"], turn)) for call in given
    ]
    if added:
        blocks = assistant_blocks(
            message, [call_block(call, waiting.id, index) for call, waiting in added], index
        )
    if not blocks and len(turns) > count:
        turns.pop()
        return
    turn.say(blocks, plain=isinstance(message.get("content"), str) and not added)
    turn.calls += [waiting for _, waiting in added]


def _result(calls: Calls[_Turn], message: JsonObject, index: int) -> None:
    given = message.get("tool_call_id")
    waiting = calls.answer(given, message.get("name"))
    if waiting is None:
        which = f"of {quote(given)} " if given else ""
        refuse(
            index,
            f"the result {which}answers no call: none of that id is open before it",
            pointer="/tool_call_id",
        )
    waiting.kept.results.append(result_block(message, waiting.id, index))


def _refuse_unanswered(turns: list[_Turn]) -> None:
    """Let a conversation end in calls without results: that is how a saved one waits to be
    continued.
    """
    last = next((turn for turn in reversed(turns) if turn.role in ("assistant", "user")), None)
    for turn in turns:
        if turn is not last and (missing := [call.id for call in turn.calls if not call.answered]):
            refuse(
                turn.index,
                f"the conversation goes on without the result of {quoted_names(missing)}",
                pointer="/tool_calls",
            )


def _settled(turns: list[_Turn]) -> list[_Turn]:
    """Put what the system says behind what the user says, in each stretch between the assistant's
    turns.
    """
    made: list[_Turn] = []
    for assistant, stretch in groupby(turns, key=lambda turn: turn.role == "assistant"):
        if assistant:
            made += stretch
            continue
        joined: dict[str, _Turn] = {"user": _Turn(0, "user"), "system": _Turn(0, "system")}
        for turn in stretch:
            joined[turn.role].join(turn)
        made += [turn for turn in joined.values() if turn.spoken]
    return made


def _emitted(turns: list[_Turn]) -> Iterator[JsonObject]:
    """Return the messages; results open the user's turn that follows their calls, or are one."""
    results: list[JsonObject] = []
    for turn in turns:
        if results and turn.role == "user":
            yield {"role": "user", "content": [*results, *turn.blocks()]}
        else:
            if results:
                yield {"role": "user", "content": list(results)}
            yield {"role": turn.role, "content": turn.content()}
        results = turn.results
    if results:
        yield {"role": "user", "content": list(results)}
