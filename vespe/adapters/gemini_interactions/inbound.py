"""Steps on their way in: the `input` and the `steps` of Gemini's Interactions as inner messages,
with what chat cannot say beside them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import Calls, decode_id, text_id
from vespe.adapters.gemini_interactions.contents import KINDS, to_parts
from vespe.adapters.messages import STEPS, check_messages, copied, plain_text, refuse, said
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

_CALL_WORDS: Final = ("id", "name", "arguments")
_RESULT_WORDS: Final = ("call_id", "name", "result", tool_errors.IS_ERROR)
_NOT_THE_MODELS: Final = ("user_input", "function_result")


def to_openai_messages(
    steps: Iterable[JsonObject] | str, system_instruction: str | None = None
) -> list[JsonObject]:
    """Translate a request's `input`, and its `system_instruction`, to inner messages, for
    `from_openai_messages` to give back.

    What the model said between two turns of others is one message; what chat cannot say of it
    stands in `gemini_steps` (docs/adapters.md): thoughts with their signatures, searches, steps
    that Vespe does not know. Raises InvalidDocument, naming the step's index, for what is not a
    conversation.
    """
    given = as_steps(steps)
    made: list[JsonObject] = []
    if system_instruction:
        made.append({"role": "system", "content": said(system_instruction)})
    calls: Calls[None] = Calls()
    turn: _Turn | None = None
    for index, step in enumerate(given):
        if step.get("type") == "user_input":
            spoken = _spoken(step, index)
        elif step.get("type") == "function_result":
            spoken = _result(step, calls, index)
        else:
            if turn is None:
                turn = _Turn(calls)
                calls.begin_turn()
            turn.add(step, index)
            continue
        made += [turn.message()] if turn is not None else []
        turn = None
        made.append(spoken)
    return [*made, turn.message()] if turn is not None else made


def assistant_message(steps: Iterable[JsonObject]) -> JsonObject:
    """Return the one message that an interaction's `steps` are, behind what others said last. What
    no call can be made of stays a step.
    """
    turn = _Turn(Calls())
    for index, step in enumerate(last_turn(steps)):
        try:
            turn.add(step, index)
        except InvalidDocument:
            turn.order.append(copied(step, index))
    return turn.message()


def last_turn(steps: Iterable[JsonValue]) -> list[JsonObject]:
    """Return the steps behind what others said last."""
    listed = [step for step in steps if isinstance(step, dict)]
    others = [at for at, step in enumerate(listed) if step.get("type") in _NOT_THE_MODELS]
    return listed[others[-1] + 1 :] if others else listed


@dataclass(slots=True)
class _Turn:
    """What the model says until somebody else does."""

    calls: Calls[None]
    parts: list[JsonObject] = field(default_factory=list)
    made: list[JsonObject] = field(default_factory=list)
    order: list[JsonValue] = field(default_factory=list)

    def add(self, step: JsonObject, index: int) -> None:
        """Take the next step."""
        if step.get("type") == "function_call":
            self.made.append(_call(step, self.calls, index))
            self.order.append(
                {key: copied(step[key], index) for key in step if key not in _CALL_WORDS}
            )
        elif step.get("type") == "model_output":
            parts, entries = to_parts(step.get("content"), index)
            self.parts += parts
            rest = {key: copied(step[key], index) for key in step if key != "content"}
            self.order.append(rest | {"content": entries})
        else:
            self.order.append(copied(step, index))

    def message(self) -> JsonObject:
        """Return the message; its content is a text where that is all there is."""
        text = plain_text(self.parts)
        made: JsonObject = {
            "role": "assistant",
            "content": text if text is not None else self.parts or None,
        }
        if self.made:
            made["tool_calls"] = self.made
        return made if self._is_usual() else made | {STEPS: self.order}

    def _is_usual(self) -> bool:
        """Whether the order says nothing that the message does not: one output, then calls."""
        plain = [{"type": part["type"]} for part in self.parts]
        usual: list[JsonValue] = [{"type": "model_output", "content": plain}] if plain else []
        texts = all(part["type"] == "text" for part in self.parts)
        return texts and self.order == usual + [{"type": "function_call"}] * len(self.made)


def as_steps(steps: Iterable[JsonObject] | JsonObject | str) -> list[JsonObject]:
    """Return an `input` as steps: a text, a content and a list of contents are one of the user."""
    if isinstance(steps, str):
        return [{"type": "user_input", "content": [{"type": "text", "text": steps}]}]
    if isinstance(steps, dict):
        return [{"type": "user_input", "content": [steps]}]
    listed: list[Any] = check_messages(steps)
    if listed and all(step.get("type") in KINDS for step in listed):
        return [{"type": "user_input", "content": listed}]
    return listed


def _spoken(step: JsonObject, index: int) -> JsonObject:
    entry: JsonObject = {key: copied(step[key], index) for key in step if key != "content"}
    parts, entries = to_parts(step.get("content"), index)
    if any(entry.keys() != {"type"} for entry in entries) or len(entries) != len(parts):
        entry["content"] = entries
    text = plain_text(parts)
    message: JsonObject = {"role": "user", "content": parts if text is None else text}
    return message if entry.keys() == {"type"} else message | {STEPS: [entry]}


def _call(step: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    name = step.get("name")
    if not isinstance(name, str) or not name:
        refuse(index, "a `function_call` has no name", pointer="/name")
    name = said(name)
    given = step.get("arguments")
    custom = arguments.custom_text(given)
    identifier = decode_id(calls.add(step.get("id"), name, None).id)
    if custom is not None:
        return {"id": identifier, "type": "custom", "custom": {"name": name, "input": custom}}
    try:
        text = said(given) if isinstance(given, str) else arguments.to_arguments(given)
    except InvalidDocument as error:
        refuse(index, f"a call's arguments {error.reason}", pointer="/arguments")
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": text}}


def _result(step: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    given = step.get("call_id")
    waiting = calls.answer(given)
    identifier = waiting.id if waiting is not None else text_id(given)
    if not identifier:
        refuse(
            index,
            "a `function_result` has no `call_id`, and no call before it is open",
            pointer="/call_id",
        )
    entry: JsonObject = {key: copied(step[key], index) for key in step if key not in _RESULT_WORDS}
    result = step.get("result")
    if result is None or isinstance(result, str):
        content: JsonValue = said(result or "")
    elif isinstance(result, list):
        content, entries = to_parts(result, index)
        if any(one.keys() != {"type"} for one in entries) or len(entries) != len(content):
            entry["result"] = entries
    else:
        content, entry["result"] = arguments.to_text(result), copied(result, index)
    message: JsonObject = {
        "role": "tool",
        "tool_call_id": decode_id(identifier),
        "content": content or "",
    }
    if isinstance(failed := step.get(tool_errors.IS_ERROR), bool):
        message[tool_errors.IS_ERROR] = failed
    return message if entry.keys() == {"type"} else message | {STEPS: [entry]}
