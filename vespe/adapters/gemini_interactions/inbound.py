"""Steps on their way in: the `input` and the `steps` of Gemini's Interactions as inner messages,
with what chat cannot say beside them.
"""

from collections.abc import Iterable
from typing import Any, Final

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import Calls
from vespe.adapters.gemini_interactions.contents import CONTENTS, KINDS
from vespe.adapters.item_contents import rest_of_item
from vespe.adapters.items_in import TurnIn, answered, called, messages_of, with_entry
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

    All steps of one turn of the model become one message. Steps that the chat format cannot express
    are stored in `gemini_steps` (docs/adapters.md): thoughts with their signatures, searches,
    unknown steps. Raises InvalidDocument with the step's index for an invalid conversation.
    """
    made: list[JsonObject] = []
    if system_instruction:
        made.append({"role": "system", "content": said(system_instruction)})
    calls: Calls[None] = Calls()

    def begin() -> _Turn:
        calls.begin_turn()
        return _Turn(calls)

    def others(step: JsonObject, index: int) -> JsonObject | None:
        if step.get("type") == "user_input":
            return _spoken(step, index)
        return _result(step, calls, index) if step.get("type") == "function_result" else None

    return made + messages_of(as_steps(steps), begin, others)


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


class _Turn(TurnIn):
    def add(self, step: JsonObject, index: int) -> None:
        """Take the next step."""
        if step.get("type") == "function_call":
            self.made.append(_call(step, self.calls, index))
            self.order.append(rest_of_item(step, _CALL_WORDS, index))
        elif step.get("type") == "model_output":
            parts, entries = CONTENTS.to_parts(step.get("content"), index)
            self.parts += parts
            self.order.append(rest_of_item(step, ("content",), index) | {"content": entries})
        else:
            self.order.append(copied(step, index))

    def message(self) -> JsonObject:
        """Return the message; one output of texts, then calls are its usual steps."""
        plain = [{"type": "text"} for _ in self.parts]
        usual: list[JsonValue] = [{"type": "model_output", "content": plain}] if plain else []
        return self.with_order(STEPS, usual=usual + [{"type": "function_call"}] * len(self.made))


def as_steps(steps: Iterable[JsonObject] | JsonObject | str) -> list[JsonObject]:
    """Return an `input` as steps. A text, a content and a list of contents become one step of the
    user.
    """
    if isinstance(steps, str):
        return [{"type": "user_input", "content": [{"type": "text", "text": steps}]}]
    if isinstance(steps, dict):
        return [{"type": "user_input", "content": [steps]}]
    listed: list[Any] = check_messages(steps)
    if listed and all(step.get("type") in KINDS for step in listed):
        return [{"type": "user_input", "content": listed}]
    return listed


def _spoken(step: JsonObject, index: int) -> JsonObject:
    entry = rest_of_item(step, ("content",), index)
    parts, entries = CONTENTS.to_parts(step.get("content"), index)
    if any(entry.keys() != {"type"} for entry in entries) or len(entries) != len(parts):
        entry["content"] = entries
    text = plain_text(parts)
    return with_entry({"role": "user", "content": parts if text is None else text}, STEPS, entry)


def _call(step: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    identifier, name = called(step, "id", calls, index)
    given = step.get("arguments")
    custom = arguments.custom_text(given)
    if custom is not None:
        return {"id": identifier, "type": "custom", "custom": {"name": name, "input": custom}}
    try:
        text = said(given) if isinstance(given, str) else arguments.to_arguments(given)
    except InvalidDocument as error:
        refuse(index, f"a call's arguments {error.reason}", pointer="/arguments")
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": text}}


def _result(step: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    identifier = answered(step, calls, index)
    entry = rest_of_item(step, _RESULT_WORDS, index)
    result = step.get("result")
    if result is None or isinstance(result, str):
        content: JsonValue = said(result or "")
    elif isinstance(result, list):
        content, entries = CONTENTS.to_parts(result, index)
        if any(one.keys() != {"type"} for one in entries) or len(entries) != len(content):
            entry["result"] = entries
    else:
        content, entry["result"] = arguments.to_text(result), copied(result, index)
    message = {"role": "tool", "tool_call_id": identifier, "content": content or ""}
    if isinstance(failed := step.get(tool_errors.IS_ERROR), bool):
        message[tool_errors.IS_ERROR] = failed
    return with_entry(message, STEPS, entry)
